"""The study of smoothed thresholds for bench/quality.py: is the threshold that is best on average over nearby thresholds better on new rows than the
threshold with the best score? Uses `scorewise tune --smooth` on the stored out-of-fold predictions, and needs no training."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from quality import FOLDER, predictions_file
from quality_intervals import interval_over_tables, paired_differences
from quality_scorewise import run_command
from quality_tables import PROBLEMS

METHODS = ["lightgbm", "catboost", "scorewise-networks", "scorewise"]
WIDTHS = [0.05, 0.1, 0.2, 0.3]

TEXT = """
## Exact and smoothed thresholds

The exactly best threshold of the out-of-fold predictions depends by chance on few rows. A smoothed threshold is the one with the best score on average
over nearby thresholds: from ½ − h to ½ + h if it is ½, and over as much on the scale of log-odds elsewhere (`scorewise tune --smooth h`). Both are chosen on
the out-of-fold predictions of the same models; the tables below show the test score at the smoothed threshold minus that at the exact one: the mean over
tables of the means over splits. The 95 % intervals are from a bootstrap of the tables and of their test rows (in tables in time: of 20 blocks of rows). Only
tables with two classes, Adult included; rows and events are those of the training rows.
"""

GROUPS: list[tuple[str, list[tuple[str, str, float, float]]]] = [
    ("all", [("all tables", "rows", 0, np.inf)]),
    ("events", [("fewer than 100 events", "events", 0, 100), ("100 to 1000 events", "events", 100, 1000), ("more than 1000 events", "events", 1000, np.inf)]),
    ("rows", [("fewer than 4000 rows", "rows", 0, 4000), ("4000 to 20,000 rows", "rows", 4000, 20000), ("more than 20,000 rows", "rows", 20000, np.inf)]),
    ("rate", [("events in less than 5 % of the rows", "rate", 0, 0.05), ("in 5 to 15 %", "rate", 0.05, 0.15), ("in more than 15 %", "rate", 0.15, 1.0)]),
]


def thresholds(name: str, seed: int, method: str) -> dict[str, Any]:
    """Return the threshold with the best score on the out-of-fold predictions, and a smoothed threshold for each width in `WIDTHS`.

    The thresholds are stored in a file, and computed again only if the predictions have changed.
    """
    file = predictions_file(name, seed, method)
    stored = FOLDER / "thresholds" / f"{name}.{seed}.{method}.json"
    stamp = file.stat().st_mtime
    if stored.exists():
        found = json.loads(stored.read_text())
        if found["stamp"] == stamp:
            return found
    stored.parent.mkdir(exist_ok=True)
    arrays = np.load(file)
    found = {"stamp": stamp, "rows": len(arrays["held_out_truth"]), "events": int(arrays["held_out_truth"].sum())}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        pd.DataFrame({"truth": arrays["held_out_truth"], "probability": arrays["held_out"][:, 1]}).to_parquet(path)
        for width in WIDTHS:
            arguments = ["tune", path, "--score", PROBLEMS[name].score, "--smooth", width, "--replicates", 1, "--report", "none", "--json"]
            answer = json.loads(run_command(*arguments))
            found["exact"], found[str(width)] = answer["threshold"], answer["smooth"]["threshold"]
    stored.write_text(json.dumps(found))
    return found


def differences(name: str, method: str, width: float) -> np.ndarray:
    """Return the test score at the smoothed threshold minus that at the exact threshold, which has the best out-of-fold score.

    Element 0 of the array is the difference on the test rows; each other element is the difference on a bootstrap replicate of these rows.
    """
    runs = []
    for seed in PROBLEMS[name].seeds:
        arrays, found = np.load(predictions_file(name, seed, method)), thresholds(name, seed, method)
        probability = arrays["probabilities"][:, 1]
        runs.append((arrays["truth"], (probability > found[str(width)]).astype(int), (probability > found["exact"]).astype(int)))
    return paired_differences(PROBLEMS[name].score, PROBLEMS[name].time is not None, runs, 2)


def is_complete(name: str, method: str) -> bool:
    """Return whether predictions of the method are stored for all splits of the table."""
    return all(predictions_file(name, seed, method).exists() for seed in PROBLEMS[name].seeds)


def section() -> str:
    """Return the section of docs/quality.md on exact and smoothed thresholds."""
    binary = [name for name, problem in PROBLEMS.items() if problem.score != "macro(f1)"]
    found: dict[tuple[str, float], dict[str, np.ndarray]] = {}
    sizes: dict[str, dict[str, float]] = {}
    for method in METHODS:
        for name in binary:
            if not is_complete(name, method):
                continue
            one = thresholds(name, 0, method)
            sizes[name] = {"rows": one["rows"], "events": one["events"], "rate": one["events"] / one["rows"]}
            for width in WIDTHS:
                found.setdefault((method, width), {})[name] = differences(name, method, width)
    lines = [TEXT]
    heads = [f"h = {width:g}" for width in WIDTHS]
    for title, groups in GROUPS:
        lines += [f"| {'' if title == 'all' else 'tables by ' + title} | method | tables | " + " | ".join(heads) + " |", "|---|---|---|" + "---|" * len(heads)]
        for label, key, low, high in groups:
            for method in METHODS:
                names = [name for name in found.get((method, WIDTHS[0]), {}) if low <= sizes[name][key] < high]
                if not names:
                    continue
                cells = [interval_over_tables([found[method, width][name] for name in names]).text(4) for width in WIDTHS]
                lines.append(f"| {label} | {method} | {len(names)} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)
