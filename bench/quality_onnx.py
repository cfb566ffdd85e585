"""Compare exported models in onnxruntime with `scorewise predict` on the tables of bench/quality.py.

    pip install -r bench/quality-requirements.txt
    cargo build --release
    python bench/quality_onnx.py [--tables NAME ...]

For every table and each of `--learners networks`, `trees` and `networks,trees,linear`, a model is trained and exported. The test rows are encoded as
docs/model-file.md says, without scorewise, and onnxruntime predicts them. The greatest difference of a probability must be below 1e-5, and all labels
must be equal. To save time, models are trained on at most about 4000 rows with two folds; the members are of the same kinds as with the default
settings.
The differences are written to target/quality/onnx.json, for the page docs/quality.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd

from quality import FOLDER, ORDER
from quality_scorewise import predict, run_command, train_model
from quality_tables import PROBLEMS, load, split

TRAINING_ROWS = 4000
LIMIT = 1e-5
LEARNERS = ["networks", "trees", "networks,trees,linear"]


def encode(encoder: dict[str, Any], table: pd.DataFrame) -> np.ndarray:
    """Encode a table as the input matrix of the ONNX model; raise an error for inputs with lags, which are not implemented.

    The matrix has one column for each input, which holds the position of each value in the list of knots or categories of that input.
    """
    columns = []
    for column in encoder["inputs"]:
        if column["lag"] != 0:
            raise ValueError("inputs with lags are not implemented in this script")
        coding = {"knots": knot_positions, "levels": level_positions}[column["coding"]]
        columns.append(coding(column, table[column["column"]]))
    return np.stack(columns, 1).astype(np.float32)


def seconds_since_1970(values: pd.Series) -> np.ndarray:
    """Convert times to whole seconds since 1970, rounded down; NaN for missing times."""
    since = (values - pd.Timestamp(0)).dt.total_seconds()
    return np.floor(since.to_numpy(float))


def numbers_of(column: dict[str, Any], values: pd.Series) -> np.ndarray:
    """Convert the values of an input to numbers; a time becomes its hour, weekday or day of the year, as the input requires."""
    if column["kind"] != "time":
        return values.to_numpy(float)
    t = seconds_since_1970(values)
    return {"hour": t % 86400 / 3600, "weekday": np.floor(t / 86400 + 3) % 7, "yearday": np.floor(t % 31556952 / 86400)}[column["part"]]


def knot_positions(column: dict[str, Any], values: pd.Series) -> np.ndarray:
    """Return the position of each value in the list of knots.

    The position of a knot is its index; between two knots, the position is interpolated. Frequent and missing values have positions after the last
    knot.
    """
    x = numbers_of(column, values)
    knots, own = np.array(column["knots"]), list(column["own"])
    is_missing = ~np.isfinite(x)
    filled = np.where(is_missing, column["median"], x)
    if len(knots) > 1:
        low = np.clip(np.searchsorted(knots, filled, side="right") - 1, 0, len(knots) - 2)
        position = low + (filled - knots[low]) / (knots[low + 1] - knots[low])
    else:
        position = np.zeros(len(x))
    position = np.where(filled <= knots[0], 0.0, np.where(filled >= knots[-1], len(knots) - 1.0, position))
    for at, value in enumerate(own):
        position[~is_missing & (x == value)] = len(knots) + at
    if column["missing"]:
        position[is_missing] = len(knots) + len(own)
    return position


def level_positions(column: dict[str, Any], values: pd.Series) -> np.ndarray:
    """Return the index of each value in the list of categories; unknown and missing values have indices after the last category."""
    levels = column["levels"]
    if column["kind"] in ("number", "time"):
        x = numbers_of(column, values)
        index = {float(level): at for at, level in enumerate(levels)}
        is_missing = ~np.isfinite(x)
        keys = [float(value) for value in x]
    else:
        is_missing = values.isna().to_numpy()
        index = {level: at for at, level in enumerate(levels)}
        keys = [str(value).strip() for value in values]
    position = np.array([index.get(key, len(levels)) for key in keys], float)
    position[is_missing] = len(levels) + (1 if column["missing"] else 0)
    return position


def compare(name: str, learners: str) -> dict[str, Any]:
    """Train and export a model on one table; return the differences between the predictions of onnxruntime and of `scorewise predict`."""
    problem, table = PROBLEMS[name], load(name)
    train_rows, test_rows = split(name, table, 0)
    classes, labels = np.unique(table.target, return_inverse=True)
    # The training rows are reduced to every n-th row, which keeps the whole period of a time series. Classes of which fewer than about 50 rows would
    # be left keep all their rows.
    every = max(1, -(-len(train_rows) // TRAINING_ROWS))
    rare = np.bincount(labels[train_rows])[labels[train_rows]] < 50 * every
    chosen = np.union1d(train_rows[::every], train_rows[rare])
    train, test = table.iloc[chosen].reset_index(drop=True), table.iloc[test_rows].reset_index(drop=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        train.to_parquet(folder / "train.parquet")
        test.to_parquet(folder / "test.parquet")
        options = ["--learners", learners, "--cross-fit", "2", "--ensemble", "1", "--replicates", "10"]
        train_model(options, problem, classes, 0, folder)
        run_command("export", folder / "model.scorewise", "--onnx", folder / "model.onnx")
        expected, decisions = predict(folder / "model.scorewise", folder / "test.parquet", classes, "probability")
        session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
        metadata = session.get_modelmeta().custom_metadata_map
        matrix = encode(json.loads(metadata["encoder"]), test)
        probability, label = session.run(["probability", "label"], {"x": matrix})
    order = [json.loads(metadata["classes"]).index(str(value)) for value in classes]
    if len(classes) == 2:
        probability = np.stack([1 - probability, probability], 1)
    difference = np.abs(probability[:, order] - expected).max(1)
    different = np.flatnonzero(np.argsort(order)[label] != decisions)
    return {
        "table": name,
        "learners": learners,
        "rows": len(test),
        "difference": float(difference.max()),
        "above": int((difference >= LIMIT).sum()),
        "labels": len(different),
        "positives": int((decisions != 0).sum()),
        "first": [[int(row), expected[row].tolist(), probability[row].tolist()] for row in [*different[:3], *np.flatnonzero(difference >= LIMIT)[:3]]],
    }


def main() -> None:
    """Compare the exported models of all chosen tables with `scorewise predict`; exit with 1 if predictions differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=ORDER.split(), choices=list(PROBLEMS))
    arguments = parser.parse_args()
    path, failed = FOLDER / "onnx.json", False
    found = json.loads(path.read_text()) if path.exists() else []
    for name in arguments.tables:
        for learners in LEARNERS:
            result = compare(name, learners)
            is_equal = result["difference"] < LIMIT and result["labels"] == 0
            failed |= not is_equal
            print(json.dumps(result), "" if is_equal else "DIFFERENT", file=sys.stderr, flush=True)
            found = [one for one in found if (one["table"], one["learners"]) != (name, learners)] + [result]
            path.write_text(json.dumps(found, indent=1))
    sys.exit(failed)


if __name__ == "__main__":
    main()
