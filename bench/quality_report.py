"""Writes docs/quality.md from the results of bench/quality.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

import quality_thresholds
from quality import FOLDER, predictions_file, results
from quality_intervals import interval, interval_over_tables, paired_differences
from quality_methods import PEERS
from quality_page import ABLATION, DECISIONS, DIFFERENCES, FURTHER, INTRODUCTION, LEARNER_TYPES, NOT_RUN, ONNX, SECONDS, TIMES
from quality_scorewise import VARIANTS
from quality_tables import PROBLEMS

CLASSIC = ["lightgbm", "xgboost", "catboost", "random_forest", "logistic"]
SIXTEEN = [name for name in PROBLEMS if name != "adult"]
POOL, TREES, NETWORKS = VARIANTS


class Results:
    """The results of all runs, with the paired differences between methods."""

    def __init__(self) -> None:
        """Read the results of all runs; exit if there are none."""
        self.runs = pd.DataFrame(results())
        if self.runs.empty:
            sys.exit(f"{FOLDER / 'results.jsonl'} has no results: run `python bench/quality.py run` first")
        self.runs = self.runs.drop_duplicates(["table", "seed", "method"], keep="last")
        seeds = self.runs.groupby(["table", "method"]).seed.nunique()
        self.done = {pair for pair, count in seeds.items() if count == len(PROBLEMS[pair[0]].seeds)}
        keys = ["score", "auc", "ap", "seconds", "processor"]
        self.means = self.runs.groupby(["table", "method"])[keys].mean()
        self.found: dict[tuple[str, str, str, bool], np.ndarray] = {}

    def mean(self, name: str, method: str, key: str) -> float:
        """Return the mean of a result, such as `score` or `seconds`, over the splits of a table."""
        return float(self.means.loc[(name, method), key])

    def tables(self, *methods: str, among: list[str] | None = None) -> list[str]:
        """Return the tables on which each of the methods was run on all splits."""
        return [name for name in among or list(PROBLEMS) if all((name, one) in self.done for one in methods)]

    def differences(self, name: str, method: str, other: str, common_seeds: bool = False) -> np.ndarray:
        """Return the result of `paired_differences` for two methods on one table.

        With `common_seeds`, only the splits on which both methods were run are used.
        """
        key = (name, method, other, common_seeds)
        if key not in self.found:
            of_table = self.runs[self.runs.table == name]
            both = set(of_table[of_table["method"] == method].seed) & set(of_table[of_table["method"] == other].seed)
            runs, classes = [], 2
            for seed in sorted(both) if common_seeds else PROBLEMS[name].seeds:
                pair = [np.load(predictions_file(name, seed, one)) for one in (method, other)]
                runs.append((pair[0]["truth"], pair[0]["predicted"], pair[1]["predicted"]))
                classes = max(classes, pair[0]["probabilities"].shape[1])
            self.found[key] = paired_differences(PROBLEMS[name].score, PROBLEMS[name].time is not None, runs, classes)
        return self.found[key]

    def over_tables(self, method: str, other: str, names: list[str]) -> str:
        """Return, as text, the mean over tables of the score of `method` minus that of `other`, and on how many tables it is not negative."""
        values = [self.differences(name, method, other) for name in names]
        not_negative = sum(int(one[0] >= 0) for one in values)
        return f"{interval_over_tables(values).text(4)}; at least 0 on {not_negative} of {len(names)} tables"


def row(*cells: object) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*names: str) -> list[str]:
    """Return the first two lines of a Markdown table: the column names, and the line below them."""
    return [row(*names), "|" + "---|" * len(names)]


def scores(found: Results, methods: list[str]) -> list[str]:
    """Return the table with the test scores of all methods."""
    lines = head("table", "score", *methods)
    for name in PROBLEMS:
        shown = {one: found.mean(name, one, "score") for one in methods if (name, one) in found.done}
        if shown:
            best = max(shown.values())
            cells = [("**{:.3f}**" if shown[one] == best else "{:.3f}").format(shown[one]) if one in shown else "" for one in methods]
            lines.append(row(name, PROBLEMS[name].score, *cells))
    complete = [one for one in methods if len(found.tables(one, among=SIXTEEN)) >= 12]
    ranked = found.tables(*complete, among=SIXTEEN)
    if complete and ranked:
        values = pd.DataFrame({one: [found.mean(name, one, "score") for name in ranked] for one in complete})
        ranks, means = values.rank(axis=1, ascending=False).mean(), values.mean()
        lines.append(row(f"**mean rank** on {len(ranked)} tables without Adult", "", *[f"{ranks[one]:.2f}" if one in ranks else "" for one in methods]))
        lines.append(row("**mean score** on these tables", "", *[f"{means[one]:.4f}" if one in means else "" for one in methods]))
    return lines


def paired(found: Results, methods: list[str]) -> list[str]:
    """Return the section with the score of the pool (scorewise with all its learners) minus the score of each other method."""
    others = [one for one in methods if one != POOL]
    lines = [DIFFERENCES, *head("table", *[f"minus {one}" for one in others])]
    for name in found.tables(POOL):
        cells = [interval(found.differences(name, POOL, one)).text() if (name, one) in found.done else "" for one in others]
        lines.append(row(name, *cells))
    over = [found.tables(POOL, one, among=SIXTEEN) for one in others]
    lines.append(row("**mean over tables without Adult**", *[found.over_tables(POOL, one, names) if names else "" for one, names in zip(others, over, strict=True)]))
    return lines


def learner_types(found: Results) -> list[str]:
    """Return the section on trees alone and networks alone, each compared with other libraries and with the pool of all learners."""
    lines = [LEARNER_TYPES, *head("difference", "tables", "mean over tables without Adult (95 % interval)")]
    pairs = [(TREES, "lightgbm"), (TREES, "catboost"), (NETWORKS, "lightgbm"), (NETWORKS, "catboost"), (TREES, NETWORKS)]
    for method, other in pairs:
        if names := found.tables(method, other, among=SIXTEEN):
            lines.append(row(f"{method} − {other}", len(names), found.over_tables(method, other, names)))
    peers = [one for one in CLASSIC if len(found.tables(POOL, one, among=SIXTEEN)) >= 12]
    if common := found.tables(POOL, *peers, among=SIXTEEN) if peers else []:
        best = max(peers, key=lambda one: np.mean([found.mean(name, one, "score") for name in common]))
        names = found.tables(POOL, best, among=SIXTEEN)
        lines.append(row(f"{POOL} − {best}, the other library with the best mean score", len(names), found.over_tables(POOL, best, names)))
    if both := found.tables(POOL, TREES, NETWORKS):
        lines.append("\nThe pool against the better of trees and networks on each table. The better one is chosen by the test score, which favours it by chance.\n")
        lines += head("table", "better family", "scorewise minus it")
        values = []
        for name in both:
            better = max((TREES, NETWORKS), key=lambda one: found.mean(name, one, "score"))
            difference = found.differences(name, POOL, better)
            mark = " (below, beyond chance)" if interval(difference).high < 0 else ""
            lines.append(row(name, better, interval(difference).text() + mark))
            values += [difference] if name in SIXTEEN else []
        lines.append(row("**mean over tables without Adult**", "", interval_over_tables(values).text(4)))
    return lines


def further(found: Results) -> list[str]:
    """Return the section on methods that were run on only some of the tables and splits."""
    ran = set(found.runs["method"])
    others = [one for one in (*PEERS, "autogluon") if one in ran and one not in CLASSIC]
    lines = [FURTHER, *head("method", "table", "splits", "its test score", "scorewise", "scorewise minus it", "its processor seconds", "those of scorewise")]
    for other in others:
        values = []
        for name in PROBLEMS:
            of_table = found.runs[found.runs.table == name]
            own, pool = (of_table[of_table["method"] == one].set_index("seed") for one in (other, POOL))
            seeds = sorted(set(own.index) & set(pool.index))
            if not seeds:
                continue
            difference = found.differences(name, POOL, other, common_seeds=True)
            values.append(difference)
            numbers = [f"{one.loc[seeds, key].mean():.{digits}f}" for key, digits in (("score", 3), ("processor", 1)) for one in (own, pool)]
            lines.append(row(other, name, len(seeds), numbers[0], numbers[1], interval(difference).text(), numbers[2], numbers[3]))
        if len(values) > 1:
            lines.append(row(other, f"**mean over {len(values)} tables**", "", "", "", interval_over_tables(values).text(4), "", ""))
    return lines if others else []


def not_run(found: Results) -> list[str]:
    """Return the section that lists, for each method, the tables on which it was not run on all splits."""
    lines = []
    for method in (*VARIANTS, *CLASSIC):
        if missing := [name for name in PROBLEMS if (name, method) not in found.done]:
            lines.append(f"- {method}: {', '.join(missing)}")
    return [NOT_RUN, *lines] if lines else []


def decision_name(words: str) -> str:
    """Return the short name of a decision rule, from its description in the output of `scorewise train`."""
    if "centre" in words or "greatest" in words:
        return "untuned"
    return "exact" if words.endswith("on the validation rows") else "smooth or factors"


def decisions(found: Results) -> list[str]:
    """Return the section that compares the test scores of the decision rules (such as thresholds) for the pool of all learners."""
    lines = [DECISIONS, *head("table", "used", "untuned", "smooth or factors", "exact")]
    for name in found.tables(POOL):
        runs = found.runs[(found.runs.table == name) & (found.runs["method"] == POOL)]
        by_rule: dict[str, list[float]] = {"untuned": [], "smooth or factors": [], "exact": []}
        for of_run in runs.decisions:
            for words, value in of_run.items():
                by_rule[decision_name(words)].append(value)
        lines.append(row(name, f"{runs.score.mean():.3f}", *[f"{np.mean(values):.3f}" if values else "" for values in by_rule.values()]))
    return lines


def weights(found: Results) -> list[str]:
    """Return the section with the mean weights that networks, trees and linear models have in the pool of all learners."""
    learners = ["network", "trees", "linear"]
    lines = ["\n## Weights in the pool\n\nMean over the splits, in per cent.\n", *head("table", "networks", "trees", "linear models")]
    for name in found.tables(POOL):
        runs = found.runs[(found.runs.table == name) & (found.runs["method"] == POOL)]
        lines.append(row(name, *[f"{100 * np.mean([one.get(learner, 0.0) for one in runs.weights]):.0f}" for learner in learners]))
    return lines


def onnx() -> list[str]:
    """Return the section on exported models, from the results of bench/quality_onnx.py; empty if there are none."""
    path = FOLDER / "onnx.json"
    if not path.exists():
        return []
    compared = json.loads(path.read_text())
    kinds = ["networks", "trees", "networks,trees,linear"]
    lines = [ONNX, *head("table", "test rows", "networks", "trees", "pool", "labels that differ")]
    for name in PROBLEMS:
        of_table = {one["learners"]: one for one in compared if one["table"] == name}
        if of_table:
            cells = [f"{of_table[kind]['difference']:.1e}" if kind in of_table else "" for kind in kinds]
            lines.append(row(name, max(one["rows"] for one in of_table.values()), *cells, sum(one["labels"] for one in of_table.values())))
    return lines


def table_of(found: Results, methods: list[str], cell: Callable[[str, str], str]) -> list[str]:
    """Return a Markdown table with a row for each data set and a column for each method. `cell` returns the text for a data set and a method."""
    lines = head("table", *methods)
    for name in PROBLEMS:
        if any((name, one) in found.done for one in methods):
            lines.append(row(name, *[cell(name, one) if (name, one) in found.done else "" for one in methods]))
    return lines


def times() -> list[str]:
    """Return the section on the training times on Adult, from the results of `bench/quality.py time`; empty if there are none."""
    path = FOLDER / "time.json"
    if not path.exists():
        return []
    measured = json.loads(path.read_text())
    rows = [row(method, f"{one['seconds']:.1f}", f"{one['processor']:.1f}", f"{one['score']:.3f}") for method, one in measured.items()]
    return [TIMES, *head("method", "wall seconds", "processor seconds", "test F1"), *rows]


def report() -> str:
    """Return the page of all results as Markdown."""
    found = Results()
    methods = [one for one in (*VARIANTS, *CLASSIC) if any((name, one) in found.done for name in PROBLEMS)]
    lines = [INTRODUCTION, *scores(found, methods), *paired(found, methods), *learner_types(found), *further(found), *not_run(found), *decisions(found), *weights(found)]
    lines += [quality_thresholds.section(), ABLATION, *onnx()]
    for heading, key in (("ROC area", "auc"), ("Average precision", "ap")):
        lines += [f"\n## {heading}\n", *table_of(found, methods, lambda name, one, key=key: f"{found.mean(name, one, key):.3f}")]
    lines += [SECONDS, *table_of(found, methods, lambda name, one: f"{found.mean(name, one, 'processor'):.1f} / {found.mean(name, one, 'seconds'):.1f}")]
    return "\n".join([*lines, *times()]) + "\n"
