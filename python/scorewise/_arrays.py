"""Conversion of array-likes and tables to NumPy arrays that the native module can borrow, copying only where necessary."""

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
# The arrays that the native functions take: labels, predictions, and weights or None.
Rows: TypeAlias = "tuple[Array, Array, Array | None]"
# A column of a table: its name and its values. The values of a column of categories are the category code of each row and the list of categories.
Column: TypeAlias = "tuple[str, Array | tuple[Array, list[str]]]"

_MISSING_CODE = 2**32 - 1
_MISSING_TIME = np.iinfo(np.int64).min


def one_dimensional_array(values: Any, name: str) -> Array:
    """Convert a NumPy array, pandas, polars or pyarrow column, tensor or list to a one-dimensional array."""
    if hasattr(values, "detach"):  # a torch tensor, which may require gradients
        values = values.detach().cpu()
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "to_numpy"):
        chunked = hasattr(values, "chunks")
        values = values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: remove the rows with masked values")
    result = canonical_booleans(np.asarray(values))
    if result.ndim == 2 and result.shape[1] == 1:
        result = result[:, 0]
    if result.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {result.shape}")
    return result


def canonical_booleans(values: Array) -> Array:
    """Return the same booleans in an array whose bytes are all 0 or 1; arrays of any other type are returned unchanged.

    A NumPy boolean can hold any byte (``numbers.view(bool)``), and NumPy does not treat all bytes other than 0 alike: two true values may
    compare as unequal.
    """
    if values.dtype != np.bool_:
        return values
    bytes_ = values.view(np.uint8)
    return values if not bytes_.size or bytes_.max() <= 1 else bytes_ != 0


def unmasked(table: Any) -> Any:
    """Replace the masked values of a masked array by NaN, since ``numpy.asarray`` would ignore the mask; return other tables unchanged."""
    if not np.ma.is_masked(table):
        return table
    if table.dtype.kind not in "biuf":
        raise ValueError("X has masked values in a column that is not numeric: use None for missing values")
    return np.ma.filled(table.astype(np.float64), np.nan)


def float_array(values: Any, name: str) -> Array:
    """Convert to a contiguous array of float32 or float64; values that are already in this form are not copied."""
    result = one_dimensional_array(values, name)
    if result.dtype not in (np.float32, np.float64):
        if result.dtype.kind not in "biuf":
            try:
                if result.dtype.kind not in "OSU":  # NumPy would drop the imaginary parts of complex numbers and the units of times
                    raise TypeError
                result = result.astype(np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"{name} must be numbers, not {result.dtype}") from error
        result = result.astype(np.float32 if result.dtype == np.float16 else np.float64)
    return np.ascontiguousarray(result)


def weight_array(values: Any, predictions: Array) -> Array | None:
    """Convert weights to the dtype of the predictions; return None if there are none."""
    return None if values is None else np.ascontiguousarray(float_array(values, "weights"), dtype=predictions.dtype)


def boolean_labels(values: Any, positive: Any = None) -> Array:
    """Convert labels to booleans.

    Parameters
    ----------
    values : array-like
        Labels 0 and 1, False and True, or −1 and 1; any other labels if ``positive`` is given.
    positive : object, optional
        The label of the positive class.
    """
    result = one_dimensional_array(values, "labels")
    if positive is not None:
        flags = np.asarray(result == positive)
        if not flags.any():
            raise ValueError(f"no label is equal to the positive label {positive!r}")
        return np.ascontiguousarray(flags, dtype=np.bool_)
    if result.dtype == np.bool_:
        return np.ascontiguousarray(result)
    if result.dtype.kind not in "iuf":
        examples = ", ".join(repr(str(label)) for label in np.unique(result.astype(str))[:3])
        raise ValueError(f"labels are not 0 and 1, but {examples} …: choose the positive label with `positive=`")
    if result.dtype.kind in "iu" and result.size and 0 <= result.min() and result.max() <= 1:
        # Bytes 0 and 1 are valid booleans, so one-byte integers need no copy.
        return np.ascontiguousarray(result).view(np.bool_) if result.dtype.itemsize == 1 else result.astype(np.bool_)
    flags = np.asarray(result == 1)
    others = result[~flags & (result != 0)]
    if others.size and not ((others == -1).all() and not (result == 0).any()):
        wrong = others[others != -1] if (others != -1).any() else others  # -1 is wrong only when there are zeros too
        raise ValueError(f"labels must be 0 and 1 (or -1 and 1), not {wrong[0]}: choose the positive label with `positive=`")
    return np.ascontiguousarray(flags)


def row_arrays(labels: Any, predictions: Any, weights: Any, positive: Any = None, *, name: str = "predictions") -> Rows:
    """Convert labels, predictions and optional weights for the native functions; ``name`` is what error messages call the predictions."""
    values = float_array(predictions, name)
    return boolean_labels(labels, positive), values, weight_array(weights, values)


def dependence(block: int | str | None, groups: Any) -> int | str | Array | None:
    """Convert the parameters ``block`` and ``groups``, which say how rows depend on each other, to one argument for the native functions.

    The argument is the length of the blocks, the string ``auto``, the group number of each row, or None for independent rows.
    """
    if groups is None:
        return block
    if block is not None:
        raise ValueError("give either block or groups, not both")
    return codes(groups, "groups")


def codes(groups: Any, name: str) -> Array:
    """Return the group number of each row; rows with equal values in ``groups`` have the same number."""
    values = np.asarray(unmasked(groups))
    if values.ndim != 1:
        raise ValueError(f"{name} must have one value for each row, but has {values.ndim} dimensions")
    _, numbers = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
    return np.ascontiguousarray(numbers.reshape(-1), dtype=np.uint32)


def string_list(values: str | Sequence[str] | None) -> list[str]:
    """Convert one string, a sequence of strings, or None to a list of strings."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(values)


def columns(table: Any) -> list[Column]:
    """Return the name and the values of each column of a table; values are numbers, times, booleans or categories."""
    if type(table).__module__.startswith("pyarrow"):
        named = [(str(name), _convert_arrow_column(table.column(at))) for at, name in enumerate(table.column_names)]
    elif hasattr(table, "columns") and hasattr(table, "__getitem__") and not isinstance(table, np.ndarray):
        names = [str(name) for name in table.columns]
        by_position = table.iloc if hasattr(table, "iloc") else table
        named = [(name, _convert_column(by_position[:, at])) for at, name in enumerate(names)]
    else:
        matrix = np.asarray(unmasked(table))
        if matrix.ndim != 2:
            raise ValueError(f"X must have two dimensions, not {matrix.ndim}")
        if matrix.dtype.kind in "iuf":
            # Transposing once is faster than reading each column of a row-major matrix on its own.
            transposed = np.ascontiguousarray(matrix.T, dtype=np.float64)
            return [(str(at), column) for at, column in enumerate(transposed)]
        named = [(str(at), _convert_column(matrix[:, at])) for at in range(matrix.shape[1])]
    seen: set[str] = set()
    for name, _ in named:
        if name in seen:
            raise ValueError(f"X has two columns named {name!r}: rename one of them")
        seen.add(name)
    return named


def column(values: Array) -> Array | tuple[Array, list[str]]:
    """Convert an array with one entry for each row to the values of a column: numbers, times, booleans or categories."""
    return _convert_column(values)


def is_missing(values: Array | tuple[Array, list[str]]) -> Array:
    """Return an array that is True where a value of the column is missing."""
    if isinstance(values, tuple):
        return np.asarray(values[0] == _MISSING_CODE)
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.asarray(values < 0 if values.dtype == np.int8 else values == _MISSING_TIME)


def _convert_arrow_column(values: Any) -> Array | tuple[Array, list[str]]:
    """Convert a column of a pyarrow table to numbers, times, booleans or categories."""
    if str(values.type).startswith("dictionary"):
        plain = values.cast(values.type.value_type)  # the conversion of a dictionary array to NumPy loses missing values
        return _sorted_categories(*_factorize(_object_array(plain.to_pylist())))
    return _convert_column(values.to_numpy() if hasattr(values, "chunks") else values.to_numpy(zero_copy_only=False))


def _convert_column(values: Any) -> Array | tuple[Array, list[str]]:
    """Convert a column of a table to numbers, times, booleans or categories."""
    if hasattr(values, "cat") and hasattr(values.cat, "codes"):  # a pandas categorical, whose categories may be numbers
        return _sorted_categories(np.asarray(values.cat.codes), list(values.cat.categories))
    array_ = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array_.dtype.kind == "b":
        return np.ascontiguousarray(canonical_booleans(array_), dtype=np.int8)
    if array_.dtype.kind in "iuf":
        return np.ascontiguousarray(array_, dtype=np.float64)
    if array_.dtype.kind == "M":
        seconds = array_.astype("datetime64[s]").astype(np.int64)
        return np.where(np.isnat(array_), _MISSING_TIME, seconds)
    if array_.dtype.kind == "m":
        return np.where(np.isnat(array_), np.nan, array_ / np.timedelta64(1, "s"))
    if array_.dtype.kind == "c":
        raise ValueError("Complex data not supported: give the real and the imaginary part as two columns")
    # Types are checked once per distinct value, since there are usually far fewer distinct values than rows.
    codes, levels = _factorize(array_)
    missing = np.array([_is_missing(level) for level in levels], dtype=bool)
    present = [level for level, is_missing in zip(levels, missing, strict=True) if not is_missing]
    if present and all(isinstance(level, (bool, np.bool_)) for level in present):
        return np.array([-1 if is_missing else int(level) for level, is_missing in zip(levels, missing, strict=True)], dtype=np.int8)[codes]
    if present and all(isinstance(level, (numbers_abc.Real, np.bool_, Decimal)) for level in present):
        # A column of objects that are numbers or missing values, such as integers and None, is numeric.
        return np.array([np.nan if is_missing else _to_float(level) for level, is_missing in zip(levels, missing, strict=True)])[codes]
    if present and all(isinstance(level, date) for level in present):
        return np.array([_MISSING_TIME if is_missing else _unix_seconds(level) for level, is_missing in zip(levels, missing, strict=True)])[codes]
    return _sorted_categories(codes, levels)


def _to_float(value: Any) -> float:
    """Convert a number of any type to float; raise an error if it is too large."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"X holds {str(value)[:12]}…, which is too large for a float64: make it a missing value, or remove its row") from None


def _object_array(values: list[Any]) -> Array:
    """Return the values as a one-dimensional array of objects."""
    result = np.empty(len(values), dtype=object)  # numpy.array would turn a list of equally long lists into a matrix
    result[:] = values
    return result


def _factorize(values: Array) -> tuple[Array, list[Any]]:
    """Return, for each row, the index of its value in the list of distinct values, and that list."""
    index_of: dict[Any, int] = {}
    try:
        codes = [index_of.setdefault(value, len(index_of)) for value in values.tolist()]
    except TypeError:  # unhashable values are compared as strings
        index_of.clear()
        codes = [index_of.setdefault(str(value), len(index_of)) for value in values.tolist()]
    return np.array(codes, dtype=np.int64), list(index_of)


def _sorted_categories(codes: Array, levels: list[Any]) -> tuple[Array, list[str]]:
    """Convert the categories to strings and sort them; return the index of each row's category in the sorted list, and the list.

    ``codes`` holds the index of each row's category in ``levels``; −1 means that the category is missing.
    """
    names = [None if _is_missing(level) else str(level) for level in levels]
    categories = sorted({name for name in names if name is not None})
    index_of = {name: at for at, name in enumerate(categories)}
    new_codes = [_MISSING_CODE if name is None else index_of[name] for name in names]
    return np.array([*new_codes, _MISSING_CODE], dtype=np.uint32)[codes], categories


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
    except ValueError:  # comparing an array gives no single truth value
        return False


def _unix_seconds(value: date) -> int:
    """Convert a date or a time to whole seconds since 1970, rounded down; a time without a time zone is taken as UTC."""
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return math.floor((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp())
