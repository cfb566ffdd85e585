"""Base class of the scikit-learn estimators: evaluation by the chosen score, and reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from . import _checks, _measures, _scorewise
from ._arrays import Array
from ._report import Report, make_report


class _CallableName(str):
    """A string that holds the name of a score and can be called like a method: ``model.score == "f1"`` and ``model.score(X, y)``."""

    _estimator: Any

    def __call__(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the estimator's predictions for X, so that ``model.score(X, y)`` works."""
        return _evaluate(self._estimator, X, y, sample_weight)


def _evaluate(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the chosen score of the predictions for X, transformed so that greater is better; NaN when the score is undefined."""
    predicted = self.predict(X)
    labels = _checks.labels(y, len(predicted))
    weights = _checks.weights(sample_weight, len(predicted))
    if len(self.classes_) > 2:
        return _multiclass_score(self._score(), self.classes_, labels, predicted, weights)
    positive = self.classes_[1]
    value = _binary_score(self._score(), labels == positive, predicted == positive, weights)
    target: float = _scorewise.score_facts(self._score())[2]
    if math.isfinite(target):
        return -abs(value - target)
    return value if target > 0 else -value


class _ScoreNameAndMethod:
    """Descriptor for ``score``, which is both the parameter that names the score and the method that every scikit-learn classifier has.

    The parameter is stored in the instance under its own name, where scikit-learn looks for it.
    """

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        """Return the parameter ``score`` of an estimator as a string that can also be called."""
        if estimator is None:
            return _evaluate  # a plain function, whose signature scikit-learn inspects for metadata routing
        name = _CallableName(estimator.__dict__.get("score"))
        name._estimator = estimator
        return name

    def __set__(self, estimator: Any, value: Any) -> None:
        """Store the parameter ``score`` of an estimator."""
        estimator.__dict__["score"] = value


class ScoreEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Base class of classifiers that are evaluated by the score in their parameter ``score``."""

    score: Any = _ScoreNameAndMethod()
    classes_: Array

    def _report(self, y: Any, probabilities: Array, sample_weight: Any, **facts: Any) -> Report:
        """Return a report on predicted probabilities of the positive class; every label must be one of ``classes_``."""
        labels = self._known_labels(y, len(probabilities))
        return make_report(
            labels == self.classes_[1],
            probabilities,
            self._score(),
            weights=_checks.weights(sample_weight, len(labels)),
            positive=None,
            classes=[str(name) for name in self.classes_.tolist()],
            seed=0,
            **facts,
        )

    def _known_labels(self, y: Any, n_rows: int) -> Array:
        """Check class labels and return them as an array; every label must be one of ``classes_``."""
        labels = _checks.labels(y, n_rows)
        unknown = np.unique(labels[~np.isin(labels, self.classes_)])
        if unknown.size:
            known = ", ".join(map(repr, self.classes_.tolist()))
            raise ValueError(f"y holds {unknown.tolist()[0]!r}, which is not a class of the model; its classes are {known}")
        return labels

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator; ``score`` is an ordinary string."""
        params: dict[str, Any] = super().get_params(deep=deep)
        params["score"] = self.__dict__["score"]
        return params

    def _score(self) -> str:
        """Return the parameter ``score``, or raise an error if it is not a string."""
        name = self.__dict__["score"]
        if not isinstance(name, str):
            raise ValueError(f"score must be a name or a formula such as 'f1', not {name!r}")
        return str(name)


def _binary_score(score: str, labels: Array, predicted: Array, weights: Any) -> float:
    """Return a score of two classes, computed by :func:`scorewise.score`; NaN when it is undefined."""
    document = _measures.score(labels, predicted.astype(np.float64), 0.5, scores=score, weights=weights, replicates=1)
    [result] = document["scores"].values()
    return math.nan if result["value"] is None else float(result["value"])


def _multiclass_score(score: str, classes: Array, labels: Array, predicted: Array, weights: Array | None) -> float:
    """Return a score of more than two classes; NaN when it is undefined."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(f"y holds {labels[unknown][0]!r}, which is not a class of the model")
    label_codes, predicted_codes = (np.searchsorted(classes, each).astype(np.uint32) for each in (labels, predicted))
    value = _scorewise.class_score(len(classes), label_codes, predicted_codes, weights, score)
    return math.nan if value is None else float(value)
