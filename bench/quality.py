"""Compare the scores of scorewise on new rows with those of other libraries, on 16 tables and Adult.

    pip install -r bench/quality-requirements.txt
    cargo build --release
    python bench/quality.py run [--tables NAME ...] [--methods NAME ...] [--seeds N ...] [--options OPTION ...]
    python bench/quality.py time [--methods NAME ...]     wall seconds on Adult, on a machine that does nothing else
    python bench/quality.py report                        writes docs/quality.md from the results

Every method has five cross-fitted models: each is trained without one fold of the training rows and, except for random forest and logistic
regression, stopped early on that fold; the forecast is the mean of the five. scorewise runs as a user would run it, from a Parquet file on the command
line: `scorewise` with its default pool, `scorewise-trees` and `scorewise-networks` with `--learners`. For the other libraries, the decision threshold
is the one with the best score on all out-of-fold predictions. (With more than two classes, the probability of each class is multiplied by a
factor that is found by coordinate ascent.) AutoGluon divides the rows and chooses the threshold itself. Test rows are used for the test only.

Results are appended to target/quality/results.jsonl, and the predictions of every run are kept beside it, so that thresholds can be studied without
training; a run that is interrupted continues where it stopped. `--again` first deletes the stored results of the chosen tables, methods and seeds.
RealMLP, TabM and AutoGluon need other versions of some packages: install them into environments of their own (bench/quality-requirements.txt) and run
this file there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from quality_methods import PEERS, run_autogluon, run_peer
from quality_scores import confusion, score_of
from quality_scorewise import VARIANTS, run_scorewise
from quality_tables import PROBLEMS, ROOT, load, split

warnings.filterwarnings("ignore")
FOLDER = Path(os.environ.get("SCOREWISE_QUALITY", str(ROOT / "target/quality")))
# The names of the tables in the order in which methods are run on them: small tables first, so that an interrupted run still gives useful results.
ORDER = "yeast_4 abalone19 cells email hpc_data stackoverflow credit_data page_blocks caravan flchain nassCDS movies insteval adult nycweather storms flights"


def results() -> list[dict[str, Any]]:
    """Return the stored results of all runs; an empty list if there are none."""
    path = FOLDER / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def processor_seconds() -> float:
    """Return the seconds of processor time of this process and of the child processes that it has waited for."""
    return sum(os.times()[:4])


def one_run(name: str, seed: int, method: str, options: list[str], table: pd.DataFrame, keep: bool = True) -> dict[str, Any]:
    """Train a method on the split of a table that belongs to `seed`. Return its scores and, with `keep`, store its predictions in a file."""
    problem = PROBLEMS[name]
    train_rows, test_rows = split(name, table, seed)
    train, test = table.iloc[train_rows].reset_index(drop=True), table.iloc[test_rows].reset_index(drop=True)
    classes, truth = np.unique(table.target, return_inverse=True)
    truth = truth[test_rows]
    if method in VARIANTS:
        found = run_scorewise([*VARIANTS[method], *options], problem, train, test, classes, seed, keep)
    else:
        wall, processor = time.perf_counter(), processor_seconds()
        if method == "autogluon":
            found = run_autogluon(problem, train, test, classes, seed)
        else:
            found = run_peer(method, problem, train, test, seed)
        found |= {"seconds": time.perf_counter() - wall, "processor": processor_seconds() - processor}
    matrix = confusion(truth, found["predicted"], len(classes))
    one_hot = np.eye(len(classes), dtype=int)[truth]
    present = one_hot.any(0)
    ranked = found["probabilities"][:, 1:] if len(classes) == 2 else found["probabilities"][:, present]
    truths = one_hot[:, 1:] if len(classes) == 2 else one_hot[:, present]
    arrays = {key: found[key] for key in ("predicted", "probabilities", "held_out_truth", "held_out") if key in found}
    if keep:
        np.savez_compressed(predictions_file(name, seed, method), truth=truth, **arrays)
    return {
        "table": name,
        "seed": seed,
        "method": method,
        "score": float(score_of(problem.score, matrix)),
        "auc": float(roc_auc_score(truths, ranked, average="macro")),
        "ap": float(average_precision_score(truths, ranked, average="macro")),
        "seconds": found["seconds"],
        "processor": found["processor"],
        "decisions": found.get("decisions", {}),
        "weights": found.get("weights", {}),
        "note": found.get("note", ""),
    }


def predictions_file(name: str, seed: int, method: str) -> Path:
    """Return the path of the file with the predictions of a method on the split of a table that belongs to `seed`."""
    return FOLDER / f"{name}.{seed}.{method}.npz"


def run(tables: list[str], methods: list[str], seeds: list[int], options: list[str], again: bool) -> None:
    """Run the methods on the splits of the tables that belong to `seeds`, and append the results to results.jsonl.

    Runs with a stored result are skipped, unless `again` is set; `options` are additional options for `scorewise train`.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    if again:
        kept = [one for one in results() if not (one["table"] in tables and one["method"] in methods and one["seed"] in seeds)]
        (FOLDER / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in kept))
    done = {(one["table"], one["seed"], one["method"]) for one in results()}
    todo = [
        (name, seed, method)
        for name in sorted(tables, key=ORDER.split().index)
        for seed in PROBLEMS[name].seeds
        for method in methods
        if (name, seed, method) not in done and seed in seeds
    ]
    start, table, loaded = time.perf_counter(), None, ""
    for number, (name, seed, method) in enumerate(todo):
        if loaded != name:
            table, loaded = load(name), name
        result = one_run(name, seed, method, options, table)
        with (FOLDER / "results.jsonl").open("a") as file:
            file.write(json.dumps(result) + "\n")
        left = (time.perf_counter() - start) / (number + 1) * (len(todo) - number - 1)
        text = f"{result['score']:.4f}  AUC {result['auc']:.4f}  {result['seconds']:6.1f} s  {result['processor']:6.1f} s of processor time"
        print(f"{number + 1:4} of {len(todo)}  {name:14} {seed}  {method:18} {text}  about {left / 60:.0f} min left", file=sys.stderr, flush=True)


def measure_time(methods: list[str], repeats: int) -> None:
    """Run each method `repeats` times on Adult, and store the time of its fastest run. No other program should run at the same time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = load("adult")
    path = FOLDER / "time.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for method in methods:
        runs = [one_run("adult", 0, method, [], table, keep=False) for _ in range(repeats)]
        best = min(runs, key=lambda one: one["seconds"])
        found[method] = {"seconds": best["seconds"], "processor": best["processor"], "score": best["score"], "repeats": repeats}
        path.write_text(json.dumps(found, indent=1))
        print(f"{method:18} {best['seconds']:6.1f} s  {best['processor']:6.1f} s of processor time", file=sys.stderr, flush=True)


def main() -> None:
    """Run the methods, measure their times, or write the page of results, as the command line asks."""
    methods = [*VARIANTS, *PEERS, "autogluon"]
    default = [*VARIANTS, "lightgbm", "xgboost", "catboost", "random_forest", "logistic"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "time", "report"])
    parser.add_argument("--tables", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--methods", nargs="*", default=default, choices=methods)
    parser.add_argument("--seeds", nargs="*", type=int, default=list(range(5)))
    parser.add_argument("--again", action="store_true", help="delete stored results of the chosen tables, methods and seeds first")
    parser.add_argument("--repeats", type=int, default=1, help="number of runs of each method with the action `time`")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="additional options for `scorewise train`")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments.tables, arguments.methods, arguments.seeds, arguments.options, arguments.again)
    elif arguments.action == "time":
        measure_time(arguments.methods, arguments.repeats)
    else:
        from quality_report import report

        (ROOT / "docs/quality.md").write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main()
