"""Scores as objectives and metrics of XGBoost.

With its own interface::

    import xgboost as xgb
    from scorewise.xgboost import metric, objective

    csi = metric("csi")
    parameters = {"objective": "binary:logistic", "disable_default_eval_metric": True, "max_depth": 3}
    booster = xgb.train(parameters, train, 500, obj=objective("csi"), custom_metric=csi,
                        evals=[(validation, "validation")], callbacks=[csi.early_stopping(50)])
    booster.predict(test) > 0.5

With scikit-learn's::

    xgb.XGBClassifier(objective=objective("csi")).fit(X, y).predict(X)

``"objective": "binary:logistic"`` beside ``obj`` keeps the link with the model, so that ``predict`` gives probabilities; without it XGBoost
begins at a margin of 0.5 and predicts margins. A prior that is not centred at 0.5 needs a first prediction inside its support:
``"base_score": float(probabilities(start(prior)))`` beside ``binary:logistic``, the same ``base_score`` for ``XGBClassifier``, or a
``base_margin`` in each DMatrix: ``start(prior)``, or the margins of another model.
"""

from __future__ import annotations

from typing import Any

from . import _boosting
from ._boosting import FLOOR, PRIOR, probabilities, start
from ._needs import need

_xgboost = need("xgboost", "xgboost")

__all__ = ["metric", "objective", "probabilities", "start"]


class Objective(_boosting.Objective):
    cure = 'give XGBoost "objective": "binary:logistic" and "base_score": {probability:.6g}, or a base_margin of {start:.6g}'


class Metric(_boosting.Metric):
    # (labels, predictions) of scikit-learn wants a number, (predictions, DMatrix) a name with it.
    def __call__(self, labels: Any, predictions: Any, sample_weight: Any = None) -> float | tuple[str, float]:
        value = self.value(labels, predictions, sample_weight)
        return (self.__name__, value) if _boosting.is_data(predictions) else value

    def early_stopping(self, rounds: int, *, save_best: bool = True, **options: Any) -> Any:
        """XGBoost's callback that stops after so many rounds without a better score. ``early_stopping_rounds`` would take the lowest score
        for the best, for XGBoost cannot know which way a metric of ours points."""
        return _xgboost.callback.EarlyStopping(
            rounds=rounds, metric_name=self.__name__, maximize=self.higher_is_better, save_best=save_best, **options
        )


def objective(score: str, prior: str = PRIOR, *, floor: float = FLOOR) -> Objective:
    """1 − score as an objective, for ``xgb.train(…, obj=…)`` and ``XGBClassifier(objective=…)``; weights of rows count.

    ``prior`` is that of the threshold; where events are very rare, a wider one, ``cosine:0.5,0.5``, overfits later. ``floor`` is how much
    rows beyond its support still hold their leaf back, as a share of a row at its centre: more is slower and steadier.
    """
    return Objective(score, prior, floor)


def metric(score: str, threshold: float = 0.5, *, margins: bool = True, undefined: float = 0.0) -> Metric:
    """The score at a threshold, for ``xgb.train(…, custom_metric=…)`` and ``XGBClassifier(eval_metric=…)``.

    ``margins=False`` beside an objective of XGBoost's own, which hands over probabilities. ``undefined`` is the value of a score that has
    none, 0 as in the losses: NaN at the first round would never be beaten.
    """
    return Metric(score, threshold, margins, undefined)
