"""The Python source that every formula prints, evaluated by Python, gives the golden values of other tools.

Later hosts (torch, Keras) evaluate the same source on their tensors; here plain floats do.
"""

import csv
import json
import math
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("SCOREWISE", str(ROOT / "target" / "debug" / "scorewise"))


def power(x, y):
    """x to the power of y, 0 where that is no real number."""
    try:
        value = x**y
    except ZeroDivisionError:
        return 0.0
    return 0.0 if isinstance(value, complex) else value


# The functions that a host supplies, with the guards of the Rust core.
HOST = {
    "__builtins__": {},
    "ratio": lambda x, y: 0.0 if y == 0 else x / y,
    "power": power,
    "sqrt": lambda x: math.sqrt(x) if x > 0 else 0.0,
    "ln": lambda x: math.log(x) if x > 0 else 0.0,
    "exp": math.exp,
    "absolute": abs,
    "minimum": min,
    "maximum": max,
}


def run(*arguments):
    result = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def golden_rows():
    path = ROOT / "crates" / "scorewise" / "tests" / "golden" / "scores.csv"
    with open(path, encoding="utf-8") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return [row for row in rows if row["tool"] == "mpmath" and row["value"] != "undefined"]


def evaluate(source, row):
    cells = {name: float(row[name]) for name in ("tn", "fp", "fn", "tp")}
    cells["p"] = cells["tp"] + cells["fn"]
    cells["n"] = cells["fp"] + cells["tn"]
    cells["total"] = cells["p"] + cells["n"]
    return eval(source, HOST, cells)  # our own printer wrote it


@pytest.mark.parametrize("text", sorted({row["score"] for row in golden_rows()}))
def test_python_source_gives_the_golden_values(text):
    source = run("scores", text, "--json")["python"]
    rows = [row for row in golden_rows() if row["score"] == text]
    assert len(rows) >= 3
    for row in rows:
        value = evaluate(source, row)
        assert value == pytest.approx(float(row["value"]), rel=1e-12, abs=1e-15), row


def test_every_registered_score_prints_source_that_python_reads():
    scores = run("scores", "--json")
    assert len(scores) >= 50
    row = {"tn": 70, "fp": 10, "fn": 5, "tp": 15}
    for score in scores:
        assert math.isfinite(evaluate(score["python"], row)), score["name"]


def test_values_in_json_are_those_of_the_source():
    row = {"tn": 2680, "fp": 72, "fn": 23, "tp": 28}
    for score in run("scores", "--matrix", "2680,72,23,28", "--json"):
        assert score["value"] == pytest.approx(evaluate(score["python"], row), rel=1e-12), score["name"]


def test_a_reader_that_has_seen_enough_is_no_error():
    pipe = subprocess.run(f"{COMMAND} scores --markdown | head -n 1", shell=True, capture_output=True, text=True)
    assert (pipe.returncode, pipe.stdout, pipe.stderr) == (0, "# Scores\n", "")
