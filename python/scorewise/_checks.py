"""What a caller of an estimator may give, checked once: labels, weights, settings."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from . import _arrays
from ._arrays import Array


def labels(y: Any, n_rows: int | None) -> Array:
    """Labels as a checked array."""
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    if type(y).__module__.startswith(("pyarrow", "polars")):
        y = _arrays.array(y, "y")
    if np.ma.is_masked(y):
        raise ValueError("y has masked values: leave out their rows")
    known: Array = _arrays.truth(column_or_1d(y, warn=True))
    if n_rows is not None and len(known) != n_rows:
        check_consistent_length(range(n_rows), known)
    assert_all_finite(known, input_name="y")
    if known.dtype.kind == "O" and any(value is None for value in known):
        raise ValueError("Input y contains None: leave out rows without a class")
    try:
        check_classification_targets(known)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in known}))
        raise ValueError(f"y mixes kinds of labels ({kinds}) that have no order: make them all of one kind") from None
    return known


def check_classes(classes: Array, is_weighed: bool) -> None:
    if len(classes) < 2:
        those = " of a weight above 0" if is_weighed else ""
        raise ValueError(f"y holds one class only in the rows{those}: a classifier needs two classes or more to tell apart")


def weights(sample_weight: Any, n_rows: int) -> Array | None:
    if sample_weight is None:
        return None
    found = np.array(_arrays.numbers(sample_weight, "sample_weight"), dtype=np.float64)
    if len(found) != n_rows:
        raise ValueError(f"sample_weight has {len(found)} rows, expected {n_rows}")
    if not np.isfinite(found).all() or (found < 0).any():
        odd = found[~(np.isfinite(found) & (found >= 0))][0]
        raise ValueError(f"sample_weight must be numbers of 0 or above, not {odd}")
    if not found.any():
        raise ValueError("sample_weight is zero in every row: at least one weight must be above 0")
    return found


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, not {value!r}")
    return str(value)


def whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name}: must be a whole number of {least} or more, not {value!r}")
    return int(value)


def number(name: str, value: Any, low: float, high: float) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not (low <= float(value) <= high) or math.isinf(value):
        bounds = f"of {low} or above" if math.isinf(high) else f"from {low} to {high}"
        raise ValueError(f"{name}: must be a number {bounds}, not {value!r}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def seed(random_state: Any) -> int:
    """A number as it is; from anything else of scikit-learn one is drawn."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state: must be a number from 0 to 2**64 - 1, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
