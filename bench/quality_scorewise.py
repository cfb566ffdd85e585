"""Runs the command scorewise for bench/quality.py, and reads the out-of-fold predictions that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from quality_scores import confusion
from quality_tables import ROOT, Problem

COMMAND = os.environ.get("SCOREWISE", str(ROOT / "target/release/scorewise"))
# The options of `scorewise train` for each variant of scorewise that is compared.
VARIANTS: dict[str, list[str]] = {
    "scorewise": [],
    "scorewise-trees": ["--learners", "trees"],
    "scorewise-networks": ["--learners", "networks"],
}


def run_command(*arguments: object) -> str:
    """Run the command `scorewise` and return its standard output; raise an error if it fails."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def train_model(options: list[str], problem: Problem, classes: np.ndarray, seed: int, folder: Path) -> dict[str, Any]:
    """Run `scorewise train` on the file train.parquet of the folder, with test.parquet as the test rows, and return the JSON output of the command.

    The command writes model.scorewise and out-of-fold.parquet into the folder.
    """
    arguments = ["--target", "target", "--score", problem.score, "--test", folder / "test.parquet", "--seed", seed]
    if len(classes) == 2:
        arguments += ["--positive", classes[1]]
    by_time = ["--split", "time:date"] if problem.time else []
    output = ["--json", "--report", "none", "-o", folder / "model.scorewise", "--out-of-fold", folder / "out-of-fold.parquet"]
    return json.loads(run_command("train", folder / "train.parquet", *arguments, *by_time, *output, *options))


def predict(model: Path, table: Path, classes: np.ndarray, column: str = "raw") -> tuple[np.ndarray, np.ndarray]:
    """Predict the rows of a table with `scorewise predict`; return the probabilities of all classes, and the index of the predicted class of each row."""
    output = model.with_suffix(".predictions.parquet")
    run_command("predict", model, table, "-o", output, "--overwrite")
    return read_predictions(output, classes, column)


def read_predictions(path: Path, classes: np.ndarray, column: str = "raw") -> tuple[np.ndarray, np.ndarray]:
    """Read a table of predictions; return the probabilities of all classes, and the index of the predicted class of each row.

    With two classes, the probabilities of the positive class are in the column `column`: `raw` or, after calibration, `probability`. Thresholds are chosen
    before calibration, which does not change the order of the rows. A model without calibration writes no column `raw`.
    """
    found = pd.read_parquet(path)
    names = [str(value) for value in classes]
    if len(classes) == 2:
        probability = (found[column] if column in found else found.probability).to_numpy(float)
        return np.stack([1 - probability, probability], 1), found.decision.astype(int).to_numpy()
    probabilities = np.stack([found[f"probability of {name}"].to_numpy(float) for name in names], 1)
    return probabilities, found.decision.astype(str).map({name: at for at, name in enumerate(names)}).to_numpy()


def run_scorewise(
    options: list[str], problem: Problem, train: pd.DataFrame, test: pd.DataFrame, classes: np.ndarray, seed: int, with_held_out: bool
) -> dict[str, Any]:
    """Train a model, predict the test rows, and measure the total time. With `with_held_out`, also return the out-of-fold predictions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_parquet(folder / "train.parquet")
        test.to_parquet(folder / "test.parquet")
        wall, before = time.perf_counter(), os.times()
        summary = train_model(options, problem, classes, seed, folder)
        probabilities, predicted = predict(folder / "model.scorewise", folder / "test.parquet", classes)
        seconds, after = time.perf_counter() - wall, os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        held_out: dict[str, Any] = {}
        if with_held_out:
            labels = np.searchsorted(classes, train.target.to_numpy())
            # With cross-fitting, out-of-fold.parquet contains a prediction for every training row, in the order of the table.
            held_out_probabilities, _ = read_predictions(folder / "out-of-fold.parquet", classes)
            compare_with_report(summary, labels, held_out_probabilities)
            held_out = {"held_out_truth": labels, "held_out": held_out_probabilities}
    weights: dict[str, float] = {}
    for member in summary["members"]:
        weights[member["learner"]] = weights.get(member["learner"], 0.0) + member["weight"]
    decisions = {one["words"]: one["test"] for one in summary.get("decisions", [])}
    return {
        "predicted": predicted,
        "probabilities": probabilities,
        "decisions": decisions,
        "weights": weights,
        "seconds": seconds,
        "processor": processor,
        **held_out,
    }


def compare_with_report(summary: dict[str, Any], labels: np.ndarray, held_out: np.ndarray) -> None:
    """Raise an error unless the out-of-fold predictions `held_out` give the confusion matrix that `scorewise train` reports."""
    reported, classes, decision = summary["validation"]["confusion"], held_out.shape[1], summary["decision"]
    if classes == 2:
        predicted = (held_out[:, 1] > decision["threshold"]).astype(int)
        expected = np.array([reported[cell] for cell in ("tn", "fp", "fn", "tp")]).reshape(2, 2)
    else:
        # With more than two classes, the command lists the classes in the order of their names, like the columns of `held_out`.
        predicted, expected = (held_out * decision.get("factors", np.ones(classes))).argmax(1), np.array(reported)
    matrix = confusion(labels, predicted, classes)
    if (matrix != expected).any():
        raise RuntimeError(f"out-of-fold predictions give {matrix.tolist()}, but the command reports {expected.tolist()}")
