"""Validation of the labels, weights and parameters that are passed to an estimator."""

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
    """Check class labels and return them as an array; there must be ``n_rows`` labels unless ``n_rows`` is None."""
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    if type(y).__module__.startswith(("pyarrow", "polars")):
        y = _arrays.one_dimensional_array(y, "y")
    if np.ma.is_masked(y):
        raise ValueError("y has masked values: remove the rows with masked values")
    checked: Array = _arrays.canonical_booleans(column_or_1d(y, warn=True))
    if n_rows is not None and len(checked) != n_rows:
        check_consistent_length(range(n_rows), checked)
    assert_all_finite(checked, input_name="y")
    if checked.dtype.kind == "O" and any(value is None for value in checked):
        raise ValueError("Input y contains None: remove rows without a class")
    try:
        check_classification_targets(checked)
    except TypeError:
        types = ", ".join(sorted({type(value).__name__ for value in checked}))
        raise ValueError(f"y mixes labels of different types ({types}) that cannot be sorted: convert them to one type") from None
    return checked


def check_classes(classes: Array, is_weighted: bool) -> None:
    """Raise an error unless there are at least two classes; ``is_weighted`` says whether rows of weight 0 were left out."""
    if len(classes) < 2:
        condition = " in the rows with a weight above 0" if is_weighted else ""
        raise ValueError(f"y holds only one class{condition}: a classifier needs at least two classes")


def weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Check sample weights and return them as float64; return None if there are none."""
    if sample_weight is None:
        return None
    checked = np.array(_arrays.float_array(sample_weight, "sample_weight"), dtype=np.float64)
    if len(checked) != n_rows:
        raise ValueError(f"sample_weight has {len(checked)} rows, expected {n_rows}")
    if not np.isfinite(checked).all() or (checked < 0).any():
        wrong = checked[~(np.isfinite(checked) & (checked >= 0))][0]
        raise ValueError(f"sample_weight must be finite and 0 or above, not {wrong}")
    if not checked.any():
        raise ValueError("sample_weight is zero in every row: at least one weight must be above 0")
    return checked


def text(name: str, value: Any) -> str:
    """Return the value of a parameter, or raise an error if it is not a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {value!r}")
    return str(value)


def whole(name: str, value: Any, least: int) -> int:
    """Return the value of a parameter, or raise an error if it is not an integer that is at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name}: must be a whole number of {least} or more, not {value!r}")
    return int(value)


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return the value of a parameter as a float, or raise an error if it is not a finite number from ``low`` to ``high``."""
    if not isinstance(value, Real) or isinstance(value, bool) or not (low <= float(value) <= high) or math.isinf(value):
        bounds = f"of {low} or above" if math.isinf(high) else f"from {low} to {high}"
        raise ValueError(f"{name}: must be a number {bounds}, not {value!r}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """Return the value of a parameter, or raise an error if it is not True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def seed(random_state: Any) -> int:
    """Return a seed: ``random_state`` if it is an integer, otherwise a number drawn from it, or from NumPy's global RandomState if it is None."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state: must be a number from 0 to 2**64 - 1, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
