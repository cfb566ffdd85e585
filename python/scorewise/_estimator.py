"""What both estimators share: they are judged by their score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from . import _checks, _measures, _scorewise
from ._arrays import Array
from ._report import Report, report_of


class _Name(str):
    """The name of a score that can be called: ``model.score == "f1"`` and ``model.score(X, y)``."""

    _estimator: Any

    def __call__(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return _judge(self._estimator, X, y, sample_weight)


def _judge(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The chosen score of the predictions for X, turned where needed so that greater is better; NaN where it is undefined."""
    predicted = self.predict(X)
    known = _checks.labels(y, len(predicted))
    weights = _checks.weights(sample_weight, len(predicted))
    if len(self.classes_) > 2:
        return _value_of_classes(self._score(), self.classes_, known, predicted, weights)
    positive = self.classes_[1]
    value = _value(self._score(), known == positive, predicted == positive, weights)
    aim: float = _scorewise.score_facts(self._score())[2]
    if math.isfinite(aim):
        return -abs(value - aim)
    return value if aim > 0 else -value


class _ScoreNameAndMethod:
    """One attribute for two habits: a parameter ``score`` that says what to train for, and the method ``score`` that every classifier of
    scikit-learn has. The parameter lies in the instance under its own name, where scikit-learn looks for it."""

    def __get__(self, estimator: Any, kind: Any = None) -> Any:
        if estimator is None:
            return _judge  # a plain function, whose arguments scikit-learn reads to route metadata
        name = _Name(estimator.__dict__.get("score"))
        name._estimator = estimator
        return name

    def __set__(self, estimator: Any, value: Any) -> None:
        estimator.__dict__["score"] = value


class Judged(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """What both estimators share: they are judged by their score."""

    score: Any = _ScoreNameAndMethod()
    classes_: Array

    def _reported(self, y: Any, answers: Array, sample_weight: Any, **facts: Any) -> Report:
        """The report of the positive class's probabilities, for labels as the estimator knows them."""
        known = _checks.labels(y, len(answers))
        unknown = np.unique(known[~np.isin(known, self.classes_)])
        if unknown.size:
            there = ", ".join(map(repr, self.classes_.tolist()))
            raise ValueError(f"y holds {unknown.tolist()[0]!r}, which is no class of the model; its classes are {there}")
        return report_of(
            known == self.classes_[1],
            answers,
            self._score(),
            weights=_checks.weights(sample_weight, len(known)),
            positive=None,
            classes=[str(name) for name in self.classes_.tolist()],
            seed=0,
            **facts,
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, the score by its name."""
        found: dict[str, Any] = super().get_params(deep=deep)
        found["score"] = self.__dict__["score"]
        return found

    def _score(self) -> str:
        name = self.__dict__["score"]
        if not isinstance(name, str):
            raise ValueError(f"score must be a name or a formula such as 'f1', not {name!r}")
        return str(name)


def _value(score: str, labels: Array, predicted: Array, weights: Any) -> float:
    """A score of labels and predictions, by the function that every other number here comes from."""
    found = _measures.score(labels, predicted.astype(np.float64), 0.5, scores=score, weights=weights, replicates=1)
    [only] = found["scores"].values()
    return math.nan if only["value"] is None else float(only["value"])


def _value_of_classes(score: str, classes: Array, labels: Array, predicted: Array, weights: Array | None) -> float:
    """A score of more than two classes; NaN where it is undefined."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(f"y holds {labels[unknown][0]!r}, a class that the model does not know")
    truth, said = (np.searchsorted(classes, each).astype(np.uint32) for each in (labels, predicted))
    found = _scorewise.class_score(len(classes), truth, said, weights, score)
    return math.nan if found is None else float(found)
