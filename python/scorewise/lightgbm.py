"""Scores as objectives and metrics for LightGBM.

With the training interface::

    import lightgbm as lgb
    from scorewise.lightgbm import metric, objective, probabilities

    booster = lgb.train({"objective": objective("csi")}, train, 500, valid_sets=[validation], feval=metric("csi"),
                        callbacks=[lgb.early_stopping(50)])
    probabilities(booster.predict(X)) > 0.5

With the scikit-learn interface, which takes ``eval_metric=metric("csi")`` in ``fit``::

    model = lgb.LGBMClassifier(objective=objective("csi")).fit(X, y)
    probabilities(model.predict(X, raw_score=True)) > 0.5

With a custom objective LightGBM predicts margins, which ``probabilities`` converts, and it starts from a margin of 0. A prior whose support
does not contain 0.5 needs another start: pass ``init_score=np.full(n_rows, start(prior))`` to every Dataset, or
``fit(…, init_score=…, eval_init_score=[…])``. LightGBM does not store this value in the model, so it has to be added to the predictions:
``probabilities(booster.predict(X), start(prior))``.
"""

from __future__ import annotations

from typing import Any

from . import _boosting
from ._boosting import probabilities, start
from ._optional import import_optional

import_optional("lightgbm", "lightgbm")

__all__ = ["metric", "objective", "probabilities", "start"]


class Objective(_boosting.Objective):
    start_hint = (
        "pass init_score=np.full(n_rows, {start:.6g}) to each Dataset, or to fit, "
        "and predict with probabilities(booster.predict(X), {start:.6g})"
    )


class Metric(_boosting.Metric):
    def __call__(self, labels: Any, predictions: Any, sample_weight: Any = None) -> tuple[str, float, bool]:
        """Return the name and the value of the metric, and whether higher values are better, as both interfaces of LightGBM expect."""
        return self.__name__, self.value(labels, predictions, sample_weight), self.higher_is_better


objective = Objective
metric = Metric
