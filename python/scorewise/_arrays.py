"""Shapes only: whatever a caller has becomes arrays that Rust can borrow. Nothing is copied that need not be."""

from __future__ import annotations

import math
import numbers as numbers_abc
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Column: TypeAlias = "tuple[str, Array | tuple[Array, list[str]]]"

_MISSING_CODE = 2**32 - 1
_NO_TIME = np.iinfo(np.int64).min


def array(values: Any, name: str) -> Array:
    """An array of whatever it is: NumPy, pandas, polars, pyarrow, a tensor on the host, a list."""
    if hasattr(values, "detach"):  # a torch tensor that may want gradients
        values = values.detach().cpu()
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "to_numpy"):
        chunked = hasattr(values, "chunks")
        values = values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: leave out their rows")
    found = truth(np.asarray(values))
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {found.shape}")
    return found


def truth(values: Array) -> Array:
    """Booleans whose bytes are 0 and 1; anything else as it is. A boolean of NumPy can hold any byte (``numbers.view(bool)``), and NumPy itself does
    not treat all of them alike: two that are true may be unequal."""
    if values.dtype != np.bool_:
        return values
    held = values.view(np.uint8)
    return values if not held.size or held.max() <= 1 else held != 0


def unmasked(table: Any) -> Any:
    """A masked array with NaN where a value is masked, which would else come back; anything else as it is."""
    if not np.ma.is_masked(table):
        return table
    if table.dtype.kind not in "biuf":
        raise ValueError("X has masked values that are no numbers: give None in their place")
    return np.ma.filled(table.astype(np.float64), np.nan)


def numbers(values: Any, name: str) -> Array:
    """Numbers as float32 or float64, borrowed where they are of that kind and in one piece."""
    found = array(values, name)
    if found.dtype not in (np.float32, np.float64):
        if found.dtype.kind not in "biuf":
            try:
                if found.dtype.kind not in "OSU":  # complex numbers and times would lose what they are
                    raise TypeError
                found = found.astype(np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"{name} must be numbers, not {found.dtype}") from error
        found = found.astype(np.float32 if found.dtype == np.float16 else np.float64)
    return np.ascontiguousarray(found)


def weights(values: Any, like: Array) -> Array | None:
    """Weights of the same kind as the numbers that they belong to."""
    return None if values is None else np.ascontiguousarray(numbers(values, "weights"), dtype=like.dtype)


def labels(values: Any, positive: Any = None) -> Array:
    """Labels as booleans: 0 and 1, false and true, −1 and 1; or any others, with the one that counts as positive."""
    found = array(values, "labels")
    if positive is not None:
        flags = np.asarray(found == positive)
        if not flags.any():
            raise ValueError(f"labels: none is {positive!r}, the label that counts as positive")
        return np.ascontiguousarray(flags, dtype=np.bool_)
    if found.dtype == np.bool_:
        return np.ascontiguousarray(found)
    if found.dtype.kind not in "iuf":
        kinds = ", ".join(repr(str(label)) for label in np.unique(found.astype(str))[:3])
        raise ValueError(f"labels are {kinds} …: say which one counts as positive with `positive=`")
    if found.dtype.kind in "iu" and found.size and 0 <= found.min() and found.max() <= 1:
        # A byte that is 0 or 1 is a truth value already; Rust reads it as a byte.
        return np.ascontiguousarray(found).view(np.bool_) if found.dtype.itemsize == 1 else found.astype(np.bool_)
    flags = np.asarray(found == 1)
    odd = found[~flags & (found != 0)]
    if odd.size and not ((odd == -1).all() and not (found == 0).any()):
        wrong = odd[odd != -1] if (odd != -1).any() else odd  # -1 is wrong beside 0 alone
        raise ValueError(f"labels must be 0 and 1 (or -1 and 1), not {wrong[0]}: say which one counts as positive with `positive=`")
    return np.ascontiguousarray(flags)


def texts(values: str | Sequence[str] | None) -> list[str]:
    """One text, several, or none, as a list."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(values)


def columns(table: Any) -> list[Column]:
    """The columns of a table, each with its name: numbers, categories or times, as they are."""
    if type(table).__module__.startswith("pyarrow"):
        named = [(str(name), _arrow_column(table.column(at))) for at, name in enumerate(table.column_names)]
    elif hasattr(table, "columns") and hasattr(table, "__getitem__") and not isinstance(table, np.ndarray):
        names = [str(name) for name in table.columns]
        place = table.iloc if hasattr(table, "iloc") else table
        named = [(name, _column(place[:, at])) for at, name in enumerate(names)]
    else:
        matrix = np.asarray(unmasked(table))
        if matrix.ndim != 2:
            raise ValueError(f"X must have two dimensions, not {matrix.ndim}")
        if matrix.dtype.kind in "iuf":
            # All columns in one go: each alone would walk through the whole matrix.
            turned = np.ascontiguousarray(matrix.T, dtype=np.float64)
            return [(str(at), column) for at, column in enumerate(turned)]
        named = [(str(at), _column(matrix[:, at])) for at in range(matrix.shape[1])]
    seen: set[str] = set()
    for name, _ in named:
        if name in seen:
            raise ValueError(f"X has two columns of the name {name!r}: rename one of them")
        seen.add(name)
    return named


def _arrow_column(values: Any) -> Array | tuple[Array, list[str]]:
    if str(values.type).startswith("dictionary"):
        plain = values.cast(values.type.value_type)  # its own conversion to NumPy loses what is missing
        return _category(*_coded(_objects(plain.to_pylist())))
    return _column(values.to_numpy() if hasattr(values, "chunks") else values.to_numpy(zero_copy_only=False))


def _column(values: Any) -> Array | tuple[Array, list[str]]:
    if hasattr(values, "cat") and hasattr(values.cat, "codes"):  # categories of pandas, which may be numbers
        return _category(np.asarray(values.cat.codes), list(values.cat.categories))
    found = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if found.dtype.kind == "b":
        return np.ascontiguousarray(truth(found), dtype=np.int8)
    if found.dtype.kind in "iuf":
        return np.ascontiguousarray(found, dtype=np.float64)
    if found.dtype.kind == "M":
        seconds = found.astype("datetime64[s]").astype(np.int64)
        return np.where(np.isnat(found), _NO_TIME, seconds)
    if found.dtype.kind == "m":
        return np.where(np.isnat(found), np.nan, found / np.timedelta64(1, "s"))
    if found.dtype.kind == "c":
        raise ValueError("Complex data not supported: give the real and the imaginary part as two columns")
    # What the values are is asked of each level once: there are far fewer of them than rows.
    codes, levels = _coded(found)
    missing = np.array([_is_missing(level) for level in levels], dtype=bool)
    kept = [level for level, gone in zip(levels, missing, strict=True) if not gone]
    if kept and all(isinstance(level, (bool, np.bool_)) for level in kept):
        return np.array([-1 if gone else int(level) for level, gone in zip(levels, missing, strict=True)], dtype=np.int8)[codes]
    if kept and all(isinstance(level, (numbers_abc.Real, np.bool_, Decimal)) for level in kept):
        # Objects that are numbers with holes (None among integers) are numbers.
        return np.array([np.nan if gone else _number(level) for level, gone in zip(levels, missing, strict=True)])[codes]
    if kept and all(isinstance(level, date) for level in kept):
        return np.array([_NO_TIME if gone else _seconds(level) for level, gone in zip(levels, missing, strict=True)])[codes]
    return _category(codes, levels)


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"X holds {str(value)[:12]}…, which is too large for a number: make it a missing value, or leave out its row") from None


def _objects(values: list[Any]) -> Array:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _coded(values: Array) -> tuple[Array, list[Any]]:
    """The place of each value in the list of those that differ, and that list."""
    places: dict[Any, int] = {}
    try:
        codes = [places.setdefault(value, len(places)) for value in values.tolist()]
    except TypeError:  # what has no hash is known by its text
        places.clear()
        codes = [places.setdefault(str(value), len(places)) for value in values.tolist()]
    return np.array(codes, dtype=np.int64), list(places)


def _category(codes: Array, levels: list[Any]) -> tuple[Array, list[str]]:
    """Texts in order and the place of each row's among them; a code below 0 is missing."""
    words = [None if _is_missing(level) else str(level) for level in levels]
    texts = sorted({word for word in words if word is not None})
    place = {word: at for at, word in enumerate(texts)}
    places = [_MISSING_CODE if word is None else place[word] for word in words]
    return np.array([*places, _MISSING_CODE], dtype=np.uint32)[codes], texts


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True
    except ValueError:  # an array
        return False


def _seconds(value: date) -> int:
    whole = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return math.floor((whole if whole.tzinfo else whole.replace(tzinfo=timezone.utc)).timestamp())
