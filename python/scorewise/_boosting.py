"""What XGBoost and LightGBM share: the objective, the metric, and the margin to begin with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from . import _arrays, _scorewise
from ._arrays import Array

# The default of all losses here. Trees learn faster with it where events are common; where they are very rare, a wider one overfits later.
PRIOR = "cosine:0.5,0.1"

# Rows beyond the support hold their leaf back by this share of what a row at the centre would. With less, leaves of decided rows follow
# the few that are not, and the training rows are learnt by heart sooner; with 1 a wide prior takes several times the rounds.
FLOOR = 0.1


def start(prior: str = PRIOR) -> float:
    """The margin to begin with, logit(E τ): it lies inside the prior's support, beyond which there is no gradient."""
    _, mean, *_ = _scorewise.prior_facts(prior)
    return float(np.log(mean) - np.log1p(-mean))


def probabilities(margins: Any, start: float = 0.0) -> Array:
    """1/(1 + exp(−margin)) of margins to which ``start`` is added, for hosts that do not keep it in the model."""
    z = np.asarray(margins, dtype=np.float64) + start
    # The exponent is never positive, so it cannot overflow, and small probabilities keep all their digits.
    small = np.exp(-np.abs(z))
    found: Array = np.where(z >= 0, 1.0, small) / (1.0 + small)
    return found


class Objective:
    """Gradient and curvature of 1 − score, as the host asks for them. Made by ``objective``."""

    # How to begin inside the prior's support, in the host's words.
    cure: ClassVar[str]

    def __init__(self, score: str, prior: str, floor: float) -> None:
        self.score, *_ = _scorewise.score_facts(score)
        self.prior, _, self._support, *_ = _scorewise.prior_facts(prior)
        if not 0 < floor <= 1:
            raise ValueError(f"floor must lie above 0 and be at most 1, not {floor}")
        self.floor = float(floor)
        # The hosts' tables and logs ask for it.
        self.__name__ = f"scorewise {self.score}"

    # The hosts look at this signature: LightGBM gives the weights to a function of three arguments, XGBoost to one that names them.
    def __call__(self, labels: Any, margins: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        flags, z, weights = _rows(labels, margins, sample_weight)
        self._begins_inside(z)
        gradient, curvature = _scorewise.boosting(flags, z, weights, self.score, self.prior, self.floor)
        return gradient, curvature

    def __repr__(self) -> str:
        return f"{type(self).__module__}.objective({self.score!r}, {self.prior!r}, floor={self.floor:g})"

    def _begins_inside(self, margins: Array) -> None:
        """Only the first call sees margins that are all the same; later, to be outside is to be decided."""
        # NaN is equal to nothing, and Rust has a better sentence for it.
        if margins.size == 0 or margins.min() != margins.max():
            return
        low, high = self._support
        first = float(probabilities(margins[0]))
        if low < first < high:
            return
        begin = start(self.prior)
        raise ValueError(
            f"the first prediction, {first:.4g}, lies outside the support [{low:.4g}, {high:.4g}] of {self.prior}, where nothing can be "
            "learnt; " + self.cure.format(start=begin, probability=float(probabilities(begin)))
        )


class Metric:
    """A score at a threshold, as the host asks for it. Made by ``metric``."""

    def __init__(self, score: str, threshold: float, margins: bool, undefined: float) -> None:
        self.score, _, aim, *_ = _scorewise.score_facts(score)
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must lie in [0, 1], not {threshold}")
        self.threshold = float(threshold)
        self.margins = bool(margins)
        self.undefined = float(undefined)
        # Hosts know "higher" and "lower" only: of a score that aims at a value, they get the distance from it.
        self._ideal = aim if np.isfinite(aim) else None
        self.higher_is_better = bool(aim == np.inf)
        name = self.score if self._ideal is None else f"|{self.score}-{self._ideal:g}|"
        # XGBoost writes its log as words between blanks and reads it back.
        self.__name__ = "".join(name.split())

    def value(self, labels: Any, predictions: Any, sample_weight: Any = None) -> float:
        """The score, ``undefined`` where it is so."""
        flags, p, weights = _rows(labels, predictions, sample_weight)
        if self.margins:
            p = probabilities(p)
        # The intervals are not wanted; one replicate is the least that can be asked for.
        document = json.loads(_scorewise.score(flags, p, weights, self.threshold, [self.score], 1, 0, None))
        (found,) = document["scores"].values()
        value = found["value"]
        if value is None:
            return self.undefined
        return float(value) if self._ideal is None else abs(float(value) - self._ideal)

    def __repr__(self) -> str:
        options = "" if self.margins else ", margins=False"
        options += f", undefined={self.undefined:g}" if self.undefined != 0 else ""
        return f"{type(self).__module__}.metric({self.score!r}, threshold={self.threshold:g}{options})"


def is_data(thing: Any) -> bool:
    """Whether it is a host's data set, XGBoost's DMatrix or LightGBM's Dataset, and not an array."""
    return callable(getattr(thing, "get_label", None))


def _rows(labels: Any, predictions: Any, weights: Any) -> tuple[Array, Array, Array | None]:
    """Labels, predictions and weights, from (labels, predictions, weights) or from (predictions, data)."""
    if is_data(predictions):
        data, predictions = predictions, labels
        labels, weights = _field(data.get_label), _field(data.get_weight)
    z = np.asarray(predictions)
    y = np.asarray(labels)
    if z.ndim > 1 and z.shape[1] > 1 or y.ndim > 1 and y.shape[1] > 1:
        classes = z.shape[1] if z.ndim > 1 else y.shape[1]
        raise ValueError(
            f"the objective and the metric know two classes, 0 and 1, not {classes}: train one model for each class against the rest"
        )
    if weights is not None and np.size(weights) == 0:
        weights = None
    margins = np.ascontiguousarray(_arrays.array(z, "margins"), dtype=np.float64)
    return _arrays.labels(y), margins, _arrays.weights(weights, margins)


def _field(get: Callable[[], Any]) -> Any:
    found = get()
    return None if found is None else np.asarray(found)
