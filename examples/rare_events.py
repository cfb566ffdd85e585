"""What the two examples of boosted trees share: three ways to forecast smog, chosen on one year and judged on the next.

Will Beijing's PM2.5 be above 400 µg/m³ in an hour? About one hour in a hundred says yes. 2010 to 2012 train; 2013 chooses depth, rounds,
threshold and prior, each way by its own score in that year; no choice uses 2014. The intervals come from weeks of 2014 drawn anew.

Where to look for a gain: the best threshold of calibrated probabilities is the share of events for TSS, here 0.01, so that 0.5 costs much;
for F1 and CSI it is half the best F1, here 0.4, so that 0.5 costs next to nothing and there is little for anyone to gain.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np
from pollution import Part, read

import scorewise as sw

SCORES = ("csi", "tss", "f1")
DEPTHS = (2, 3, 4)
PRIORS = ("cosine:0.5,0.1", "cosine:0.5,0.5")
ROUNDS = 200
PATIENCE = 50
WEEK = 24 * 7  # hours follow each other, so the bootstrap draws whole weeks
DRAWS = 400


class Trees(Protocol):
    """Trained trees."""

    def forecast(self, x: np.ndarray, rounds: int) -> np.ndarray:
        """Probabilities after so many rounds."""


class Host(Protocol):
    """A machine that boosts trees."""

    def train(self, depth: int, train: Part) -> Trees:
        """With log-loss, all rounds."""

    def train_and_stop(self, depth: int, train: Part, tune: Part, score: str, prior: str | None) -> tuple[Trees, int, float]:
        """With log-loss, or for the score where a prior is given; stopped at the best score at 0.5 in the year that chooses. Trees, rounds,
        and that score."""


class Choice(NamedTuple):
    """What 2013 chose: the score it had there, and what is needed to forecast 2014."""

    tuned: float
    trees: Trees
    rounds: int
    threshold: float
    words: str


class Tested(NamedTuple):
    """A score of 2014, and of 2014 with its weeks drawn anew, the same draws for every way."""

    value: float
    drawn: np.ndarray


def at_a_half(host: Host, score: str, train: Part, tune: Part, depth: int, prior: str | None) -> Choice:
    trees, rounds, tuned = host.train_and_stop(depth, train, tune, score, prior)
    return Choice(tuned, trees, rounds, 0.5, f"depth {depth}, rounds {rounds}" + (f", {prior}" if prior else ""))


def at_the_best(score: str, tune: Part, depth: int, trees: Trees) -> Choice:
    """Trained for log-loss; rounds and threshold are the best of all in 2013."""
    choices = []
    for rounds in range(5, ROUNDS + 1, 5):
        found = sw.sweep(tune.y, trees.forecast(tune.x, rounds)).best(score)
        words = f"depth {depth}, rounds {rounds}, threshold {found.threshold:.3f}"
        choices.append(Choice(found.value, trees, rounds, found.threshold, words))
    return max(choices, key=lambda choice: choice.tuned)


def tested(score: str, test: Part, choice: Choice) -> Tested:
    p = choice.trees.forecast(test.x, choice.rounds)

    def value(times: np.ndarray | None = None) -> float:
        found = sw.score(test.y, p, choice.threshold, scores=score, weights=times, replicates=1).scores[score]["value"]
        return 0.0 if found is None else found

    weeks = np.arange(len(test.y)) // WEEK
    random = np.random.default_rng(0)
    draw = [np.bincount(random.integers(weeks[-1] + 1, size=weeks[-1] + 1), minlength=weeks[-1] + 1)[weeks] for _ in range(DRAWS)]
    return Tested(value(), np.array([value(times) for times in draw]))


def interval(values: np.ndarray, form: str) -> str:
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:{form}} to {high:{form}}"


def compare(host: Host) -> None:
    """Prints the three ways side by side, and what the score as the objective gains."""
    began = time.perf_counter()
    train, tune, test = read()
    for name, part in (("2010-2012", train), ("2013", tune), ("2014", test)):
        print(f"{name:9}  {len(part.y):5} hours, {int(part.y.sum()):3} before smog")
    likely = {depth: host.train(depth, train) for depth in DEPTHS}
    print(f"\n{'score':5}  {'way':24}  {'2013':>5}  {'2014':>5}  {'95 % of 2014':14}  chosen in 2013")
    verdicts = []
    for score in SCORES:
        ways = {
            "log-loss, 0.5": [at_a_half(host, score, train, tune, depth, None) for depth in DEPTHS],
            "log-loss, best threshold": [at_the_best(score, tune, depth, likely[depth]) for depth in DEPTHS],
            "the score, 0.5": [at_a_half(host, score, train, tune, depth, prior) for prior in PRIORS for depth in DEPTHS],
        }
        found = {}
        for way, choices in ways.items():
            choice = max(choices, key=lambda choice: choice.tuned)  # the first of equals, which is the shallowest
            found[way] = tested(score, test, choice)
            value, drawn = found[way]
            print(f"{score:5}  {way:24}  {choice.tuned:5.3f}  {value:5.3f}  {interval(drawn, '.3f')}  {choice.words}")
        *others, ours = found.items()
        for way, other in others:
            gain, sure = ours[1].value - other.value, interval(ours[1].drawn - other.drawn, "+.3f")
            verdicts.append(f"{score:5}  {gain:+.3f}  ({sure})  against {way}")
    print("\nWhat the score as the objective gains in 2014, with 95 % intervals; one that holds 0 decides nothing")
    print("\n".join(verdicts))
    print(f"\n{time.perf_counter() - began:.0f} s")
