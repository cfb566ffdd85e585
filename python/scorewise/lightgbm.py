"""Scores as objectives and metrics of LightGBM.

With its own interface::

    import lightgbm as lgb
    from scorewise.lightgbm import metric, objective, probabilities

    booster = lgb.train({"objective": objective("csi")}, train, 500, valid_sets=[validation], feval=metric("csi"),
                        callbacks=[lgb.early_stopping(50)])
    probabilities(booster.predict(X)) > 0.5

With scikit-learn's::

    model = lgb.LGBMClassifier(objective=objective("csi")).fit(X, y)
    probabilities(model.predict(X, raw_score=True)) > 0.5

LightGBM predicts margins where the objective is not its own; ``probabilities`` makes probabilities of them. It begins at a margin of 0.
A prior that is not centred at 0.5 needs a first prediction inside its support: ``init_score=np.full(n_rows, start(prior))`` in every
Dataset, or ``fit(…, init_score=…, eval_init_score=[…])``. LightGBM does not keep it in the model, so it is added to what it predicts:
``probabilities(booster.predict(X), start(prior))``.
"""

from __future__ import annotations

from typing import Any

from . import _boosting
from ._boosting import FLOOR, PRIOR, probabilities, start
from ._needs import need

need("lightgbm", "lightgbm")

__all__ = ["metric", "objective", "probabilities", "start"]


class Objective(_boosting.Objective):
    cure = (
        "give each Dataset, or fit, init_score=np.full(n_rows, {start:.6g}), "
        "and predict with probabilities(booster.predict(X), {start:.6g})"
    )


class Metric(_boosting.Metric):
    # LightGBM wants the same of both interfaces: name, value, and whether higher is better.
    def __call__(self, labels: Any, predictions: Any, sample_weight: Any = None) -> tuple[str, float, bool]:
        return self.__name__, self.value(labels, predictions, sample_weight), self.higher_is_better


def objective(score: str, prior: str = PRIOR, *, floor: float = FLOOR) -> Objective:
    """1 − score as an objective, for ``lgb.train({"objective": …})`` and ``LGBMClassifier(objective=…)``; weights of rows count.

    ``prior`` is that of the threshold; where events are very rare, a wider one, ``cosine:0.5,0.5``, overfits later. ``floor`` is how much
    rows beyond its support still hold their leaf back, as a share of a row at its centre: more is slower and steadier.
    """
    return Objective(score, prior, floor)


def metric(score: str, threshold: float = 0.5, *, margins: bool = True, undefined: float = 0.0) -> Metric:
    """The score at a threshold, for ``lgb.train(…, feval=…)`` and ``LGBMClassifier().fit(…, eval_metric=…)``.

    ``margins=False`` beside an objective of LightGBM's own, which hands over probabilities. ``undefined`` is the value of a score that has
    none, 0 as in the losses: NaN at the first round would never be beaten.
    """
    return Metric(score, threshold, margins, undefined)
