"""``ScoreClassifier.monitor``: whether a model is still good on new rows."""

import numpy as np
import pytest

from scorewise import ScoreClassifier


def rows(count: int, seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows of two columns, and labels: whether the first column plus noise is above 0.8 + shift. The first column is shifted, too."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 2))
    X[:, 0] += shift
    return X, X[:, 0] + 0.3 * random.normal(size=count) > 0.8 + shift


@pytest.fixture(scope="module")
def model() -> ScoreClassifier:
    """Return a classifier that was trained on rows without a shift."""
    return ScoreClassifier("tss", learners=["linear"], random_state=0).fit(*rows(600, 1))


def test_new_rows_of_the_same_distribution_do_not_change_the_score(model: ScoreClassifier) -> None:
    result = model.monitor(*rows(400, 2)).document["result"]
    assert result["change"] == "none"
    assert result["held_out"] == {"part": "out-of-fold", "rows": 600, "corrected": result["held_out"]["corrected"]}
    assert all(column["shift"] == "none" for column in result["columns"])
    assert result["value"]["difference"]["low"] < 0 < result["value"]["difference"]["high"]


def test_a_shifted_column_is_named_and_the_score_is_worse(model: ScoreClassifier, tmp_path: object) -> None:
    X, y = rows(400, 3, shift=1.0)
    days = np.arange("2024-01-01", "2025-02-04", dtype="datetime64[D]")[:400]
    report = model.monitor(X, y, time=days, every="month", block="auto")
    result = report.document["result"]
    assert result["change"] == "worse"
    assert result["columns"][0]["column"] == "0" and result["columns"][0]["shift"] == "large"
    assert (result["periods"]["column"], result["periods"]["each"][0]["name"]) == ("time", "2024-01")
    assert "periods" in report.figures and "Are the rows still like the training rows?" in report.page()


def test_without_true_classes_the_change_of_the_score_is_unknown(model: ScoreClassifier) -> None:
    X, _ = rows(400, 4)
    result = model.monitor(X, groups=np.arange(400) // 4).document["result"]
    assert result["change"] == "unknown" and result["labelled"] is None and result["resampled"].startswith("groups")
    with pytest.raises(ValueError, match="at_least: the score needs the true class"):
        model.monitor(X, at_least=0.5)
    with pytest.raises(ValueError, match="sample_weight needs y"):
        model.monitor(X, sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="same number of rows"):
        model.monitor(X, time=np.arange(3))
