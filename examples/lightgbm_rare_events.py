"""Forecast smog with LightGBM: log-loss with threshold 0.5, log-loss with the best threshold, and the score as the objective.

    python examples/lightgbm_rare_events.py

The data and the comparison are in `pollution.py` and `rare_events.py`; this file contains what is specific to LightGBM.
"""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import rare_events
from pollution import Split

from scorewise.lightgbm import metric, objective, probabilities


class Trees:
    """A trained booster. With a custom objective it predicts margins, which are converted to probabilities."""

    def __init__(self, booster: lgb.Booster, margins: bool) -> None:
        """Store the booster; `margins` says whether it predicts margins instead of probabilities."""
        self.booster, self.margins = booster, margins

    def forecast(self, x: np.ndarray, rounds: int) -> np.ndarray:
        """Return the probabilities that the first `rounds` trees predict."""
        predictions = np.asarray(self.booster.predict(x, num_iteration=rounds))
        return probabilities(predictions) if self.margins else predictions


class LightGBM:
    """Trains boosted trees with LightGBM."""

    @staticmethod
    def parameters(depth: int, loss: object) -> dict[str, object]:
        """Return the parameters of a training run with trees of this depth and with ``loss`` as the objective."""
        return {
            "objective": loss, "metric": "None", "max_depth": depth, "num_leaves": 2**depth, "learning_rate": 0.1, "verbose": -1,
            # Training uses one thread and no sampling, so that its results are reproducible.
            "num_threads": 1, "deterministic": True, "force_row_wise": True, "seed": 0,
        }  # fmt: skip

    def train(self, depth: int, train: Split) -> Trees:
        """Train with log-loss for all rounds."""
        return Trees(lgb.train(self.parameters(depth, "binary"), lgb.Dataset(*train), rare_events.ROUNDS), margins=False)

    def train_with_early_stopping(self, depth: int, train: Split, tune: Split, score: str, prior: str | None) -> tuple[Trees, int, float]:
        """Train with log-loss, or with the score as the objective if a prior is given, until the score on ``tune`` stops improving."""
        loss = objective(score, prior) if prior else "binary"
        data = lgb.Dataset(*train)
        booster = lgb.train(
            self.parameters(depth, loss), data, rare_events.ROUNDS, valid_sets=[lgb.Dataset(*tune, reference=data)],
            valid_names=["2013"], feval=metric(score, margins=prior is not None),
            callbacks=[lgb.early_stopping(rare_events.PATIENCE, verbose=False)],
        )  # fmt: skip
        return Trees(booster, prior is not None), booster.best_iteration, booster.best_score["2013"][score]


if __name__ == "__main__":
    rare_events.compare(LightGBM())
