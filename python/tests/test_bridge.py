"""Tests of the conversion of arguments from NumPy to Rust: booleans with unusual bytes, arrays of every layout, and error messages."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import scorewise as sw
from scorewise import _scorewise

RANDOM = np.random.default_rng(5)
ROWS = 400
Y = RANDOM.random(ROWS) < 0.3
P = np.clip(0.3 + 0.3 * Y + 0.2 * RANDOM.normal(size=ROWS), 0.01, 0.99)
Z = np.log(P / (1 - P))
W = RANDOM.random(ROWS) + 0.5
X = np.column_stack([Z, RANDOM.normal(size=ROWS)])
SEQUENCES = np.repeat(np.arange(4, dtype=np.uint32), ROWS // 4)


def with_unusual_bytes(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the same booleans, with bytes such as 2, 128 or 255 for true; C code and `view` can produce such arrays."""
    return (flags * np.resize(np.array([2, 128, 255, 1], dtype=np.uint8), len(flags))).astype(np.uint8).view(np.bool_)


FUNCTIONS = {
    "score": lambda y: sw.score(y, P, 0.4, weights=W, replicates=20),
    "score with the argument positive": lambda y: sw.score(y, P, 0.4, positive=True, replicates=20),
    "sweep": lambda y: sw.sweep(y, P).best("f1"),
    "bootstrap": lambda y: sw.sweep(y, P, W).bootstrap("tss", replicates=20),
    "report of a sweep": lambda y: sw.sweep(y, P).report("f1", replicates=5)._document.split('"provenance"')[0],
    "report": lambda y: sw.report(y, P, "f1", replicates=5)._document.split('"provenance"')[0],
    "expected confusion": lambda y: sw.expected_confusion(y, P, weights=W),
    "loss": lambda y: sw.loss(y, P, "tss"),
    "exact loss": lambda y: sw.loss(y, Z, "csi", from_logits=True, exact=True),
    "gradient": lambda y: [sw.loss_and_gradient(y, Z, "f1")[0], *sw.loss_and_gradient(y, Z, "f1")[1].tolist()],
    "theory": lambda y: sw.theory(y, P),
    "boosting": lambda y: [part.tolist() for part in _scorewise.boosting((y, Z, W), "f1", "uniform", 0.1)],
    "temporal loss": lambda y: _scorewise.temporal_loss(
        (y, Z, None), SEQUENCES, "tss", "uniform", ("value", [0.5, 0.25]), False
    ),
    "native confusion": lambda y: _scorewise.confusion((y, P, None), 0.4),
    "native score": lambda y: _scorewise.score((y, P, W), 0.4, ["f1"], (5, 0, None)),
    "native sweep": lambda y: _scorewise.Sweep((y, P, None)).at(0.4),
    "native loss": lambda y: _scorewise.loss((y, P, None), "f1", "uniform", False, False, False),
    "native expected confusion": lambda y: _scorewise.expected_confusion((y, P, None), "uniform", False),
    "native theory": lambda y: _scorewise.theory((y, P, None), "f1", "uniform", False),
    "labels passed to ScoreClassifier.fit": lambda y: sw.ScoreClassifier(epochs=5, random_state=1).fit(X, y).predict_proba(X).tolist(),
    "labels passed to ScoreClassifier.score": lambda y: sw.ScoreClassifier(epochs=5, random_state=1).fit(X, Y).score(X, y),
    "column passed to ScoreClassifier": lambda y: sw.ScoreClassifier(epochs=5, random_state=1)
    .fit(pd.DataFrame({"z": Z, "flag": y}), Y)
    .predict_proba(pd.DataFrame({"z": Z, "flag": y}))
    .tolist(),
    "matrix of booleans": lambda y: sw.ScoreClassifier(epochs=5, random_state=1)
    .fit(np.column_stack([y.view(np.uint8), y.view(np.uint8)]).view(np.bool_), Y)
    .predict_proba(np.column_stack([y.view(np.uint8), y.view(np.uint8)]).view(np.bool_))
    .tolist(),
    "predictions that are booleans": lambda y: sw.score(Y, y, 0.5, replicates=5),
    "weights that are booleans": lambda y: sw.score(Y, P, 0.5, weights=y, replicates=5),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_booleans_with_bytes_other_than_0_and_1_are_true_as_in_numpy(function: Any) -> None:
    unusual = with_unusual_bytes(Y)
    assert unusual.view(np.uint8).max() == 255 and (unusual.view(np.uint8) != 0).tolist() == Y.tolist()
    assert function(unusual) == function(Y)


def test_native_module_accepts_bytes_as_booleans() -> None:
    expected = _scorewise.confusion((Y, P, None), 0.4)
    assert _scorewise.confusion((Y.view(np.uint8), P, None), 0.4) == expected
    assert _scorewise.confusion((with_unusual_bytes(Y).view(np.uint8), P, None), 0.4) == expected
    with pytest.raises(TypeError):
        _scorewise.confusion((Y.astype(np.int64), P, None), 0.4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="contiguous"):
        _scorewise.confusion((np.repeat(Y, 2)[::2], P, None), 0.4)


def read_only_copy(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of the array that must not be written to."""
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    "labels",
    [
        read_only_copy(Y),
        np.repeat(Y, 3)[::3],
        Y[::-1][::-1],
        Y.astype(">i4"),
        Y.astype(">f8"),
        Y.astype(np.float16),
        Y.astype(np.longdouble),
        Y.astype(np.uint64),
        Y.astype(np.int8),
        np.where(Y, 1, -1),
        Y[:, None],
        Y.tolist(),
        pd.Series(Y),
        pd.Series(Y).astype("boolean").to_numpy(dtype=bool),
        np.ma.array(Y, mask=False),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')} {getattr(labels, 'strides', '')}",
)
def test_labels_of_every_type_and_layout_give_the_same_result(labels: Any) -> None:
    assert sw.score(labels, P, 0.4, replicates=5) == sw.score(Y, P, 0.4, replicates=5)


@pytest.mark.parametrize(
    "values",
    [read_only_copy(P), np.repeat(P, 2)[::2], P.astype(">f8"), P.astype(object), P.astype(np.longdouble), P[:, None], P.tolist(), P.astype(str)],
    ids=lambda values: f"{type(values).__name__} {getattr(values, 'dtype', '')} {getattr(values, 'strides', '')}",
)
def test_arrays_of_numbers_of_every_type_and_layout_give_the_same_result(values: Any) -> None:
    assert sw.score(Y, values, 0.4, weights=values, replicates=5) == sw.score(Y, P, 0.4, weights=P, replicates=5)


def test_half_precision_gives_the_result_of_single_precision() -> None:
    half = P.astype(np.float16)
    assert sw.score(Y, half, 0.4, replicates=5) == sw.score(Y, half.astype(np.float32), 0.4, replicates=5)


@pytest.mark.parametrize(
    "labels, message",
    [
        ([0.0, 1.0, np.nan], "labels must be 0 and 1 .*, not nan"),
        ([-1.0, 1.0, np.nan], "labels must be 0 and 1 .*, not nan"),
        (np.array([0, 1, 2**63], dtype=np.uint64), "labels must be 0 and 1 .*, not 9223372036854775808"),
        ([0, 1, 2**70], "choose the positive label"),
        ([0, 1, None], "choose the positive label"),
        (np.array([0, 1, 1j]), "choose the positive label"),
        (np.ma.array([0, 1, 1], mask=[False, False, True]), "labels has masked values: remove the rows with masked values"),
        (np.zeros((3, 2)), "labels must be one-dimensional"),
        ([], "wrong number of rows in labels: 0, expected 3|there are no rows"),
    ],
)
def test_invalid_labels_raise_a_clear_error(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sw.score(labels, [0.1, 0.5, 0.9], 0.5)


@pytest.mark.parametrize(
    "values, message",
    [
        ([0.1, 0.5, np.nan], "row 2: not a number"),
        ([0.1, 0.5, 1j], "probabilities must be numbers, not complex128"),
        (np.array([1, 2, 3], dtype="datetime64[s]"), "probabilities must be numbers, not datetime64"),
        ([0.1, 0.5, 10**400], "probabilities must be numbers, not object"),
        ([0.1, 0.5, None], "not a number|probabilities must be numbers"),
        (["a", "b", "c"], "probabilities must be numbers"),
        (np.ma.array([0.1, 0.5, 0.9], mask=[False, False, True]), "probabilities has masked values"),
    ],
)
def test_invalid_predictions_and_weights_raise_a_clear_error(values: Any, message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            sw.score([0, 1, 1], values, 0.5)
        with pytest.raises(ValueError, match=message.replace("probabilities", "weights").replace("not a number", "not a number|is not a finite number")):
            sw.score([0, 1, 1], [0.1, 0.5, 0.9], 0.5, weights=values)


def test_masked_value_in_a_table_is_read_as_missing_but_a_masked_label_is_refused() -> None:
    masked = np.ma.array(X, mask=np.zeros(X.shape, dtype=bool))
    masked[::7, 1] = np.ma.masked
    with_nan = X.copy()
    with_nan[::7, 1] = np.nan
    fit = lambda table: sw.ScoreClassifier(epochs=5, random_state=1).fit(table, Y).predict_proba(table)  # noqa: E731
    assert fit(masked).tolist() == fit(with_nan).tolist()
    with pytest.raises(ValueError, match="y has masked values"):
        sw.ScoreClassifier(epochs=5).fit(X, np.ma.array(Y, mask=Y))


def test_tables_of_every_type_and_layout_give_the_same_model() -> None:
    fit = lambda table: sw.ScoreClassifier(epochs=5, random_state=1).fit(table, Y).predict_proba(table).tolist()  # noqa: E731
    expected = fit(X)
    for table in (read_only_copy(X), np.asfortranarray(X), X.astype(">f8"), X.astype(object), np.repeat(X, 2, axis=0)[::2]):
        assert fit(table) == expected
    with pytest.raises(ValueError, match="too large for a float64|infinity|inf"):
        fit(np.array([[10**400, 1], [1, 2]] * (ROWS // 2), dtype=object))


def test_error_messages_use_python_parameter_names_and_keep_column_names() -> None:
    table = pd.DataFrame({"a--weight-decay": [np.inf, *Z[1:]], "b": Z})
    with pytest.raises(ValueError, match="column `a--weight-decay`"):
        sw.ScoreClassifier(epochs=2).fit(table, Y)
    with pytest.raises(ValueError, match=r"^weight_decay: must be 0 or above"):
        sw.ScoreClassifier(epochs=2, weight_decay=1e9).fit(X, Y)
    with pytest.raises(ValueError, match=r"^validation: ") as refused:
        sw.ScoreClassifier(epochs=2, validation=0.0).fit(X, Y)
    assert "--" not in str(refused.value)
    with pytest.raises(ValueError, match=r"choose `loss=\"sol\"` or `loss=\"exact\"`"):
        sw.ScoreClassifier(epochs=2, loss="ce", cross_entropy_first=True).fit(X, Y)


def test_notes_keep_column_names_and_call_the_target_y() -> None:
    table = pd.DataFrame({"x--split": [*["a", "b"] * (ROWS // 2 - 1), "a", "c"], "z": Z})
    model = sw.ScoreClassifier(epochs=2).fit(table, np.where(Y, "yes", "no"))
    other = table.assign(**{"x--split": "--keep"})
    model.predict(other)
    assert not any("\\u{" in note or "\ue000" in note or "\ue0f0" in note for note in model.notes_), model.notes_
    with pytest.raises(ValueError, match="X lacks the column `x--split`|x--split"):
        model.predict(table[["z"]])
