"""Objective and metric for gradient-boosted trees, shared by the modules for XGBoost and LightGBM."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np

from . import _arrays, _scorewise
from ._arrays import Array, Rows

# The default prior of all losses in this package. If events are common, trees learn faster with this prior than with a wider one; if events are
# very rare, trees overfit sooner with this prior than with a wider one.
PRIOR = "cosine:0.5,0.1"

# The curvature of rows outside the support of the prior, as a fraction of the curvature at the prior's mean. With a smaller fraction, the
# value of a leaf that holds mostly rows outside the support is determined by its few rows inside the support, and the model overfits sooner; with
# a fraction of 1, training with a wide prior needs several times as many rounds.
FLOOR = 0.1


def start(prior: str = PRIOR) -> float:
    """Return the margin from which boosting should start: the logit of the prior's mean.

    The first prediction then lies inside the support of the prior; outside the support, the gradient is 0.
    """
    _, mean, *_ = _scorewise.prior_facts(prior)
    return float(np.log(mean) - np.log1p(-mean))


def probabilities(margins: Any, start: float = 0.0) -> Array:
    """Return the probabilities 1/(1 + exp(−(margins + start))).

    Parameters
    ----------
    margins : array-like
        The raw predictions of a booster.
    start : float, default=0.0
        The margin that boosting started from, for libraries that do not store it in the model.
    """
    z = np.asarray(margins, dtype=np.float64) + start
    # exp(−|z|) cannot overflow, and small probabilities keep their full precision.
    small = np.exp(-np.abs(z))
    result: Array = np.where(z >= 0, 1.0, small) / (1.0 + small)
    return result


class Objective:
    """Objective that minimises 1 − a score: returns the gradient and the curvature with respect to the margins. Row weights are respected.

    Parameters
    ----------
    score : str
        The name of a registered score, or a formula.
    prior : str, default="cosine:0.5,0.1"
        The distribution of the threshold. If events are very rare, trees overfit later with a wider prior, such as
        ``"cosine:0.5,0.5"``.
    floor : float, default=0.1
        The curvature of rows outside the support of the prior, as a fraction of the curvature at the prior's mean. A greater value makes
        training slower and steadier.
    """

    # The end of the error message of `_check_start`. It names the parameters of XGBoost or LightGBM that move the first prediction into the support
    # of the prior.
    start_hint: ClassVar[str]

    def __init__(self, score: str, prior: str = PRIOR, *, floor: float = FLOOR) -> None:
        self.score, *_ = _scorewise.score_facts(score)
        self.prior, _, self._support, *_ = _scorewise.prior_facts(prior)
        if not 0 < floor <= 1:
            raise ValueError(f"floor must be above 0 and at most 1, not {floor}")
        self.floor = float(floor)
        # The name that XGBoost and LightGBM show for the objective in tables and logs.
        self.__name__ = f"scorewise {self.score}"

    # XGBoost and LightGBM inspect the signature of an objective: LightGBM passes weights to functions with three parameters, XGBoost to functions
    # with a parameter `sample_weight`.
    def __call__(self, labels: Any, margins: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        """Return the gradient and the curvature of the loss with respect to the margin of each row."""
        rows = _rows(labels, margins, sample_weight)
        self._check_start(rows[1])
        gradient, curvature = _scorewise.boosting(rows, self.score, self.prior, self.floor)
        return gradient, curvature

    def __repr__(self) -> str:
        return f"{type(self).__module__}.objective({self.score!r}, {self.prior!r}, floor={self.floor:g})"

    def _check_start(self, margins: Array) -> None:
        """Raise an error if all margins are equal, as before the first boosting round, and lie outside the support of the prior."""
        # NaN is not equal to itself, so NaN margins pass this check; the native module raises an error for them.
        if margins.size == 0 or margins.min() != margins.max():
            return
        low, high = self._support
        first = float(probabilities(margins[0]))
        if low < first < high:
            return
        margin = start(self.prior)
        raise ValueError(
            f"the first prediction, {first:.4g}, lies outside the support [{low:.4g}, {high:.4g}] of the prior {self.prior}, "
            "where the gradient is 0; " + self.start_hint.format(start=margin, probability=float(probabilities(margin)))
        )


class Metric:
    """Metric that evaluates a score at a threshold.

    Parameters
    ----------
    score : str
        The name of a registered score, or a formula.
    threshold : float, default=0.5
        Rows with a probability above the threshold are predicted positive.
    margins : bool, default=True
        Whether XGBoost or LightGBM passes margins to the metric, as both do with an objective of this package. Use False with one of their
        built-in objectives, for which they pass probabilities.
    undefined : float, default=0.0
        The value to return when the score is undefined: 0 by default, as in the losses. It should not be NaN, because no later round would
        compare as better than NaN.
    """

    def __init__(self, score: str, threshold: float = 0.5, *, margins: bool = True, undefined: float = 0.0) -> None:
        self.score, _, target, *_ = _scorewise.score_facts(score)
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be between 0 and 1, not {threshold}")
        self.threshold = float(threshold)
        self.margins = bool(margins)
        self.undefined = float(undefined)
        # XGBoost and LightGBM can only maximise or minimise, so a score with a finite ideal value is replaced by its distance from that value.
        self._ideal = target if np.isfinite(target) else None
        self.higher_is_better = bool(target == np.inf)
        name = self.score if self._ideal is None else f"|{self.score}-{self._ideal:g}|"
        # The name must not contain white space, because XGBoost splits its log at white space to read the metrics.
        self.__name__ = "".join(name.split())

    def value(self, labels: Any, predictions: Any, sample_weight: Any = None) -> float:
        """Return the score, or its distance from its ideal value if that is finite. If the score is undefined, return the parameter ``undefined``."""
        flags, p, weights = _rows(labels, predictions, sample_weight)
        if self.margins:
            p = probabilities(p)
        # The native function also computes a bootstrap interval, which is not needed here, so only one replicate is drawn.
        document = json.loads(_scorewise.score((flags, p, weights), self.threshold, [self.score], (1, 0, None)))
        (result,) = document["scores"].values()
        value = result["value"]
        if value is None:
            return self.undefined
        return float(value) if self._ideal is None else abs(float(value) - self._ideal)

    def __repr__(self) -> str:
        options = "" if self.margins else ", margins=False"
        options += f", undefined={self.undefined:g}" if self.undefined != 0 else ""
        return f"{type(self).__module__}.metric({self.score!r}, threshold={self.threshold:g}{options})"


def is_dataset(value: Any) -> bool:
    """Whether a value is an XGBoost DMatrix or a LightGBM Dataset."""
    return callable(getattr(value, "get_label", None))


def _rows(labels: Any, predictions: Any, weights: Any) -> Rows:
    """Return labels, margins and weights. XGBoost and LightGBM pass either these three arrays, or the margins and a dataset with the labels."""
    if is_dataset(predictions):
        dataset, predictions = predictions, labels
        labels, weights = _array_or_none(dataset.get_label()), _array_or_none(dataset.get_weight())
    z = np.asarray(predictions)
    y = np.asarray(labels)
    if z.ndim > 1 and z.shape[1] > 1 or y.ndim > 1 and y.shape[1] > 1:
        classes = z.shape[1] if z.ndim > 1 else y.shape[1]
        raise ValueError(
            f"the objective and the metric support two classes, 0 and 1, not {classes}: train one model for each class against the rest"
        )
    if weights is not None and np.size(weights) == 0:
        weights = None
    margins = np.ascontiguousarray(_arrays.one_dimensional_array(z, "margins"), dtype=np.float64)
    return _arrays.boolean_labels(y), margins, _arrays.weight_array(weights, margins)


def _array_or_none(values: Any) -> Any:
    """Convert the argument to an array, or return None if it is None."""
    return None if values is None else np.asarray(values)
