"""Comparison for the two examples of boosted trees: three ways to forecast smog, with settings chosen on one year and tested on the next.

The event is that PM2.5 in Beijing exceeds 400 µg/m³ in the next hour, which happens in about one hour in a hundred. The years 2010 to 2012 are
for training; depth, number of rounds, threshold and prior are chosen by the score on 2013; 2014 is used for testing only. The intervals come from
a bootstrap of the weeks of 2014.

What to expect: with calibrated probabilities, the best threshold for TSS is the event rate, here 0.01, so a threshold of 0.5 is much worse. For
F1 and CSI, the best threshold is half the best F1, here 0.4, so a threshold of 0.5 is nearly the best and there is little to gain.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np
from pollution import Split, read_splits

import scorewise as sw

SCORES = ("csi", "tss", "f1")
DEPTHS = (2, 3, 4)
PRIORS = ("cosine:0.5,0.1", "cosine:0.5,0.5")
ROUNDS = 200
PATIENCE = 50
WEEK = 24 * 7  # hours; consecutive hours are not independent, so the bootstrap draws whole weeks
REPLICATES = 400


class Trees(Protocol):
    """A trained model of gradient-boosted trees."""

    def forecast(self, x: np.ndarray, rounds: int) -> np.ndarray:
        """Return the probabilities that the trees of the first ``rounds`` boosting rounds predict."""


class Library(Protocol):
    """A library of gradient-boosted trees."""

    def train(self, depth: int, train: Split) -> Trees:
        """Train with log-loss on ``train`` for all boosting rounds, with trees of this depth."""

    def train_with_early_stopping(self, depth: int, train: Split, tune: Split, score: str, prior: str | None) -> tuple[Trees, int, float]:
        """Train with log-loss, or with the score as the objective if a prior is given, until the score on ``tune`` stops improving.

        The score is computed at threshold 0.5. Returns the trees, the number of rounds with the best score on ``tune``, and that score.
        """


class Choice(NamedTuple):
    """A model and a threshold, with their score on the year 2013 (``tuned``) and a description of the settings."""

    tuned: float
    trees: Trees
    rounds: int
    threshold: float
    settings: str


class ScoreOnTestYear(NamedTuple):
    """The score of a method on the year 2014 and on bootstrap replicates of the weeks of that year; all methods use the same replicates."""

    value: float
    replicates: np.ndarray


def choice_with_threshold_one_half(library: Library, score: str, train: Split, tune: Split, depth: int, prior: str | None) -> Choice:
    """Train with early stopping on the score at threshold 0.5."""
    trees, rounds, tuned = library.train_with_early_stopping(depth, train, tune, score, prior)
    return Choice(tuned, trees, rounds, 0.5, f"depth {depth}, rounds {rounds}" + (f", {prior}" if prior else ""))


def choice_with_best_threshold(score: str, tune: Split, depth: int, trees: Trees) -> Choice:
    """For a model trained with log-loss, choose the number of rounds and the threshold with the best score on the year 2013."""
    choices = []
    for rounds in range(5, ROUNDS + 1, 5):
        best = sw.sweep(tune.y, trees.forecast(tune.x, rounds)).best(score)
        settings = f"depth {depth}, rounds {rounds}, threshold {best.threshold:.3f}"
        choices.append(Choice(best.value, trees, rounds, best.threshold, settings))
    return max(choices, key=lambda choice: choice.tuned)


def score_on_test_year(score: str, test: Split, choice: Choice) -> ScoreOnTestYear:
    """Return the score of the chosen model and threshold on the year 2014, and on bootstrap replicates of the weeks of that year."""
    p = choice.trees.forecast(test.x, choice.rounds)

    def score_with_weights(weights: np.ndarray | None = None) -> float:
        """Return the score of the test year with these weights of the hours; 0 if it is undefined."""
        result = sw.score(test.y, p, choice.threshold, scores=score, weights=weights, replicates=1).scores[score]["value"]
        return 0.0 if result is None else result

    weeks = np.arange(len(test.y)) // WEEK
    random = np.random.default_rng(0)
    # The weight of an hour in a replicate is the number of times that its week was drawn.
    samples = (random.integers(weeks[-1] + 1, size=weeks[-1] + 1) for _ in range(REPLICATES))
    weights = [np.bincount(sample, minlength=weeks[-1] + 1)[weeks] for sample in samples]
    return ScoreOnTestYear(score_with_weights(), np.array([score_with_weights(each) for each in weights]))


def format_interval(values: np.ndarray, form: str) -> str:
    """Return the 95 % interval of bootstrap values as text; ``form`` is the format of the two numbers, such as ``.3f``."""
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:{form}} to {high:{form}}"


def compare(library: Library) -> None:
    """Print the scores of three ways to train with this library, and the gain from using the score as the objective."""
    start = time.perf_counter()
    train, tune, test = read_splits()
    for name, split in (("2010-2012", train), ("2013", tune), ("2014", test)):
        print(f"{name:9}  {len(split.y):5} hours, {int(split.y.sum()):3} followed by smog")
    log_loss = {depth: library.train(depth, train) for depth in DEPTHS}
    print(f"\n{'score':5}  {'method':24}  {'2013':>5}  {'2014':>5}  {'95 % of 2014':14}  settings chosen on 2013")
    gains = []
    for score in SCORES:
        methods = {
            "log-loss, 0.5": [choice_with_threshold_one_half(library, score, train, tune, depth, None) for depth in DEPTHS],
            "log-loss, best threshold": [choice_with_best_threshold(score, tune, depth, log_loss[depth]) for depth in DEPTHS],
            "the score, 0.5": [choice_with_threshold_one_half(library, score, train, tune, depth, prior) for prior in PRIORS for depth in DEPTHS],
        }
        results = {}
        for method, choices in methods.items():
            choice = max(choices, key=lambda choice: choice.tuned)  # if several choices have the same score, the first of them
            results[method] = score_on_test_year(score, test, choice)
            value, replicates = results[method]
            print(f"{score:5}  {method:24}  {choice.tuned:5.3f}  {value:5.3f}  {format_interval(replicates, '.3f')}  {choice.settings}")
        *others, (_, ours) = results.items()
        for method, other in others:
            gain, gain_interval = ours.value - other.value, format_interval(ours.replicates - other.replicates, "+.3f")
            gains.append(f"{score:5}  {gain:+.3f}  ({gain_interval})  over {method}")
    print("\nGain on 2014 from the score as the objective, with 95 % intervals; an interval that contains 0 shows no difference")
    print("\n".join(gains))
    print(f"\n{time.perf_counter() - start:.0f} s")
