"""Scores as objectives and metrics for XGBoost.

With the training interface::

    import xgboost as xgb
    from scorewise.xgboost import metric, objective

    csi = metric("csi")
    parameters = {"objective": "binary:logistic", "disable_default_eval_metric": True, "max_depth": 3}
    booster = xgb.train(parameters, train, 500, obj=objective("csi"), custom_metric=csi,
                        evals=[(validation, "validation")], callbacks=[csi.early_stopping(50)])
    booster.predict(test) > 0.5

With the scikit-learn interface, which also takes ``eval_metric=metric("csi")``::

    xgb.XGBClassifier(objective=objective("csi")).fit(X, y).predict(X)

``"objective": "binary:logistic"`` next to ``obj`` stores the link function in the model, so that ``predict`` returns probabilities; without
it XGBoost starts from a margin of 0.5 and predicts margins. A prior whose support does not contain 0.5 needs another start: pass
``"base_score": float(probabilities(start(prior)))`` next to ``binary:logistic``, the same ``base_score`` to ``XGBClassifier``, or a
``base_margin`` to each DMatrix, either ``start(prior)`` or the margins of another model.
"""

from __future__ import annotations

from typing import Any

from . import _boosting
from ._boosting import probabilities, start
from ._optional import import_optional

_xgboost = import_optional("xgboost", "xgboost")

__all__ = ["metric", "objective", "probabilities", "start"]


class Objective(_boosting.Objective):
    start_hint = 'pass "objective": "binary:logistic" and "base_score": {probability:.6g} to XGBoost, or a base_margin of {start:.6g}'


class Metric(_boosting.Metric):
    # XGBoost's scikit-learn interface calls the metric with (labels, predictions) and expects a number; its training interface calls the metric
    # with (predictions, DMatrix) and expects a name and a number.
    def __call__(self, labels: Any, predictions: Any, sample_weight: Any = None) -> float | tuple[str, float]:
        """Return the value of the metric, preceded by its name if ``predictions`` is a DMatrix."""
        value = self.value(labels, predictions, sample_weight)
        return (self.__name__, value) if _boosting.is_dataset(predictions) else value

    def early_stopping(self, rounds: int, *, save_best: bool = True, **options: Any) -> Any:
        """Return a callback that stops training after ``rounds`` rounds without a better score.

        Use it instead of XGBoost's parameter ``early_stopping_rounds``, which would minimise the score, since XGBoost assumes that a lower value
        of a custom metric is better.
        """
        return _xgboost.callback.EarlyStopping(
            rounds=rounds, metric_name=self.__name__, maximize=self.higher_is_better, save_best=save_best, **options
        )


objective = Objective
metric = Metric
