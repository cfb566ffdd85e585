"""Smog alarms with XGBoost: log-loss at 0.5, log-loss with the best threshold, and the score itself as the objective.

    python examples/xgboost_rare_events.py

Will Beijing's PM2.5 be above 400 µg/m³ in an hour? About one hour in a hundred says yes. 2010 to 2012 train; 2013 chooses depth, rounds,
threshold and prior, each way by its own score in that year; no choice uses 2014. The intervals come from weeks of 2014 drawn anew.

Where to look for a gain: the best threshold of calibrated probabilities is the share of events for TSS, here 0.01, so that 0.5 costs much;
for F1 and CSI it is half the best F1, here 0.4, so that 0.5 costs next to nothing and there is little for anyone to gain.
"""

from __future__ import annotations

import csv
import gzip
import pathlib
import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xgboost as xgb

import scorewise as sw
from scorewise.xgboost import metric, objective

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "PRSA_data_2010.1.1-2014.12.31.csv.gz"
WIND = {"NE": 0, "NW": 1, "SE": 2, "cv": 3}
SCORES = ("csi", "tss", "f1")
DEPTHS = (2, 3, 4)
PRIORS = ("cosine:0.5,0.1", "cosine:0.5,0.5")
ROUNDS = 200
PATIENCE = 50
WEEK = 24 * 7  # hours follow each other, so the bootstrap draws whole weeks
DRAWS = 400

Floats = npt.NDArray[np.float64]


class Year(NamedTuple):
    """Some years of hours, and whether smog followed."""

    data: xgb.DMatrix
    labels: npt.NDArray[np.bool_]


class Choice(NamedTuple):
    """What 2013 chose: the score it had there, and what is needed to forecast 2014."""

    tuned: float
    booster: xgb.Booster
    rounds: int
    threshold: float
    words: str


class Tested(NamedTuple):
    """A score of 2014, and of 2014 with its weeks drawn anew, the same draws for every way."""

    value: float
    drawn: Floats


def read() -> tuple[Year, Year, Year]:
    """Eight measurements of each hour, and whether PM2.5 was above 400 in the next: 2010 to 2012, 2013, 2014."""
    with gzip.open(DATA, "rt") as lines:
        # The first day has no PM2.5; elsewhere what is missing counts as 0.
        rows = list(csv.DictReader(lines))[24:]
    smog = np.array([0.0 if row["pm2.5"] == "NA" else float(row["pm2.5"]) for row in rows])
    others = np.array([[float(row[name]) for name in ("DEWP", "TEMP", "PRES", "Iws", "Is", "Ir")] for row in rows])
    wind = np.array([WIND[row["cbwd"]] for row in rows], dtype=float)
    features = np.column_stack([smog, others, wind])[:-1]
    labels = smog[1:] > 400
    year = np.array([int(row["year"]) for row in rows])[:-1]
    parts = [(year <= 2012), (year == 2013), (year == 2014)]
    train, tune, test = (Year(xgb.DMatrix(features[part], labels[part]), labels[part]) for part in parts)
    return train, tune, test


def parameters(depth: int) -> dict[str, Any]:
    # One thread and no sampling: the same numbers on every machine. binary:logistic is the link, whatever the objective.
    return {
        "objective": "binary:logistic", "disable_default_eval_metric": True, "max_depth": depth, "learning_rate": 0.1,
        "nthread": 1, "seed": 0,
    }  # fmt: skip


def at_a_half(score: str, train: Year, tune: Year, depth: int, prior: str | None) -> Choice:
    """Trained for log-loss, or for the score where a prior is given; stopped at the best score at 0.5 in 2013."""
    judge = metric(score, margins=prior is not None)
    booster = xgb.train(
        parameters(depth), train.data, ROUNDS, obj=objective(score, prior) if prior else None, custom_metric=judge,
        evals=[(tune.data, "2013")], verbose_eval=False, callbacks=[judge.early_stopping(PATIENCE)],
    )  # fmt: skip
    rounds = booster.num_boosted_rounds()
    return Choice(booster.best_score, booster, rounds, 0.5, f"depth {depth}, rounds {rounds}" + (f", {prior}" if prior else ""))


def at_the_best(score: str, tune: Year, depth: int, booster: xgb.Booster) -> Choice:
    """Trained for log-loss; rounds and threshold are the best of all in 2013."""
    best: Choice | None = None
    for rounds in range(5, ROUNDS + 1, 5):
        found = sw.sweep(tune.labels, booster.predict(tune.data, iteration_range=(0, rounds))).best(score)
        if best is None or found.value > best.tuned:
            words = f"depth {depth}, rounds {rounds}, threshold {found.threshold:.3f}"
            best = Choice(found.value, booster, rounds, found.threshold, words)
    assert best is not None, "there are rounds"
    return best


def tested(score: str, test: Year, choice: Choice) -> Tested:
    forecast = choice.booster.predict(test.data, iteration_range=(0, choice.rounds))
    judge = metric(score, choice.threshold, margins=False)
    weeks = np.arange(len(test.labels)) // WEEK
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(DRAWS):
        times = np.bincount(random.integers(weeks[-1] + 1, size=weeks[-1] + 1), minlength=weeks[-1] + 1)
        drawn.append(judge.value(test.labels, forecast, times[weeks]))
    return Tested(judge.value(test.labels, forecast), np.array(drawn))


def interval(values: Floats, form: str) -> str:
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:{form}} to {high:{form}}"


def main() -> None:
    began = time.perf_counter()
    train, tune, test = read()
    for name, part in (("2010-2012", train), ("2013", tune), ("2014", test)):
        print(f"{name:9}  {len(part.labels):5} hours, {int(part.labels.sum()):3} before smog")
    likely = {depth: xgb.train(parameters(depth), train.data, ROUNDS) for depth in DEPTHS}
    print(f"\n{'score':5}  {'way':24}  {'2013':>5}  {'2014':>5}  {'95 % of 2014':14}  chosen in 2013")
    verdicts = []
    for score in SCORES:
        ways = {
            "log-loss, 0.5": [at_a_half(score, train, tune, depth, None) for depth in DEPTHS],
            "log-loss, best threshold": [at_the_best(score, tune, depth, likely[depth]) for depth in DEPTHS],
            "the score, 0.5": [at_a_half(score, train, tune, depth, prior) for prior in PRIORS for depth in DEPTHS],
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


if __name__ == "__main__":
    main()
