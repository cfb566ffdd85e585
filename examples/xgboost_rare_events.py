"""Forecast smog with XGBoost: log-loss with threshold 0.5, log-loss with the best threshold, and the score as the objective.

    python examples/xgboost_rare_events.py

The data and the comparison are in `pollution.py` and `rare_events.py`; this file contains what is specific to XGBoost.
"""

from __future__ import annotations

import numpy as np
import rare_events
import xgboost as xgb
from pollution import Split

from scorewise.xgboost import metric, objective


class Trees:
    """A trained XGBoost model."""

    def __init__(self, booster: xgb.Booster) -> None:
        """Store the booster."""
        self.booster = booster

    def forecast(self, x: np.ndarray, rounds: int) -> np.ndarray:
        """Return the probabilities that the trees of the first ``rounds`` rounds predict."""
        return self.booster.predict(xgb.DMatrix(x), iteration_range=(0, rounds))


class XGBoost:
    """Trains boosted trees with XGBoost."""

    @staticmethod
    def parameters(depth: int) -> dict[str, object]:
        """Return the parameters of a training run with trees of this depth."""
        # Training uses one thread and no sampling, so that its results are reproducible.
        # In a training run with a custom objective, the parameter `binary:logistic` sets only the link function.
        return {
            "objective": "binary:logistic", "disable_default_eval_metric": True, "max_depth": depth, "learning_rate": 0.1,
            "nthread": 1, "seed": 0,
        }  # fmt: skip

    def train(self, depth: int, train: Split) -> Trees:
        """Train with log-loss for all rounds."""
        return Trees(xgb.train(self.parameters(depth), xgb.DMatrix(*train), rare_events.ROUNDS))

    def train_with_early_stopping(self, depth: int, train: Split, tune: Split, score: str, prior: str | None) -> tuple[Trees, int, float]:
        """Train with log-loss, or with the score as the objective if a prior is given, until the score on ``tune`` stops improving."""
        score_metric = metric(score, margins=prior is not None)
        booster = xgb.train(
            self.parameters(depth), xgb.DMatrix(*train), rare_events.ROUNDS, obj=objective(score, prior) if prior else None,
            custom_metric=score_metric, evals=[(xgb.DMatrix(*tune), "2013")], verbose_eval=False,
            callbacks=[score_metric.early_stopping(rare_events.PATIENCE)],
        )  # fmt: skip
        return Trees(booster), booster.num_boosted_rounds(), booster.best_score


if __name__ == "__main__":
    rare_events.compare(XGBoost())
