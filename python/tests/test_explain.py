"""Tests of `ScoreClassifier.explain`: it gives the numbers of the command, works with many classes, and reports bad input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import scorewise as sw

COMMAND = os.environ.get("SCOREWISE", str(Path(__file__).resolve().parents[2] / "target" / "debug" / "scorewise"))


def table_of(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Return a table with the class of each row. The class depends only on the column `cause`."""
    random = np.random.default_rng(seed)
    X = pandas.DataFrame(
        {
            "cause": random.normal(size=n_rows),
            "noise": random.normal(size=n_rows),
            "colour": pandas.Categorical(random.choice(["red", "green", "blue"], n_rows)),
        }
    )
    return X, np.where(X["cause"] + 0.1 * random.normal(size=n_rows) > 0.3, "storm", "calm")


@pytest.fixture(scope="module")
def model() -> Any:
    """Return a classifier that was trained on a table that `table_of` returned."""
    return sw.ScoreClassifier("f1", recipe="quick", epochs=40).fit(*table_of(800, 0))


def test_the_column_that_decides_the_class_matters_most(model: Any) -> None:
    X, y = table_of(600, 1)
    found = model.explain(X, y)
    assert list(found)[:7] == ["score", "threshold", "rows", "value", "permutations", "importance", "partial_dependence"]
    assert (found["score"], found["threshold"], found["rows"], found["permutations"]) == ("f1", model.threshold_, 600, 10)
    assert found["value"] == pytest.approx(model.score(X, y))
    first, *others = found["importance"]
    assert first["column"] == "cause" and first["low"] > 0.2 and first["low"] < first["value"] < first["high"]
    assert {each["column"] for each in others} == {"noise", "colour"} and all(each["low"] <= 0 <= each["high"] for each in others)
    assert pandas.DataFrame(found["importance"]).shape == (3, 4)
    assert "importance of cause" in found._repr_html_()


def test_partial_dependence_is_the_mean_prediction_with_the_column_set_to_each_value(model: Any) -> None:
    X, y = table_of(600, 1)
    for dependence in model.explain(X, y)["partial_dependence"]:
        column = dependence["column"]
        assert 2 <= len(dependence["values"]) <= 20
        for value, probability, share in zip(dependence["values"], dependence["probability"], dependence["positive_share"], strict=True):
            changed = X.copy()
            changed[column] = pandas.Categorical([value] * len(X)) if column == "colour" else value
            assert model.predict_proba(changed)[:, 1].mean() == pytest.approx(probability, abs=1e-9)
            assert (model.predict(changed) == "storm").mean() == pytest.approx(share, abs=1e-9)


def test_the_command_and_the_method_explain_give_the_same_numbers(model: Any, tmp_path: Path) -> None:
    X, y = table_of(600, 1)
    X.assign(y=y).to_csv(tmp_path / "new.csv", index=False)
    X_train, y_train = table_of(800, 0)
    X_train.assign(y=y_train).to_csv(tmp_path / "train.csv", index=False)

    def run(*words: str) -> str:
        """Run the command and return its standard output."""
        return subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    run("train", "train.csv", "--target", "y", "--positive", "storm", "--recipe", "quick", "--epochs", "20", "--test", "0", "--report", "none")
    printed = json.loads(run("explain", "model.scorewise", "new.csv", "--permutations", "3", "--rows", "500", "--seed", "9", "--json"))
    loaded = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    assert loaded.explain(X, y, permutations=3, rows=500, random_state=9) == printed


def test_explanation_depends_on_the_weights_and_on_the_seed_and_is_repeatable(model: Any) -> None:
    X, y = table_of(300, 2)
    first = model.explain(X, y, permutations=2)
    assert first == model.explain(X, y, permutations=2)
    assert first["importance"] != model.explain(X, y, permutations=2, random_state=1)["importance"]
    weights = np.where(np.arange(300) < 150, 1.0, 0.0)
    assert model.explain(X, y, weights, permutations=2)["value"] == pytest.approx(model.score(X[:150], y[:150]))
    assert model.explain(X, y, permutations=2, rows=100)["rows"] == 100


def test_partial_dependence_of_many_classes_has_one_number_for_each_value_and_class() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = sw.ScoreClassifier("macro(f1)", recipe="quick", epochs=30).fit(X, y)
    found = model.explain(X, y, permutations=2)
    assert found["threshold"] is None and found["classes"] == ["0", "1", "2"] and found["importance"][0]["column"] == "0"
    dependence = found["partial_dependence"][0]
    assert np.shape(dependence["probability"]) == np.shape(dependence["positive_share"]) == (20, 3)
    changed = np.column_stack([np.full(500, dependence["values"][0]), X[:, 1]])
    assert model.predict_proba(changed).mean(axis=0) == pytest.approx(dependence["probability"][0], abs=1e-9)


def test_bad_input_raises_an_error_that_names_the_argument(model: Any) -> None:
    X, y = table_of(50, 3)
    with pytest.raises(ValueError, match="y holds 'flood', which is not a class of the model"):
        model.explain(X, np.where(y == "calm", "calm", "flood"))
    with pytest.raises(ValueError, match="permutations: must be a whole number of 1 or more"):
        model.explain(X, y, permutations=0)
    with pytest.raises(ValueError, match="permutations.*must be from 1 to 1000, not 5000"):
        model.explain(X, y, permutations=5000)
    with pytest.raises(ValueError, match="rows: must be a whole number of 1 or more"):
        model.explain(X, y, rows=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.explain(X, y[:-1])
    with pytest.raises(ValueError, match="sample_weight has 3 rows, expected 50"):
        model.explain(X, y, [1, 2, 3])
    with pytest.raises(ValueError, match="feature names"):
        model.explain(X.drop(columns="noise"), y)
