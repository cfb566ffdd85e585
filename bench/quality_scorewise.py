"""Runs the command scorewise for bench/quality.py, and computes the out-of-fold predictions of a model.

The command does not write out-of-fold predictions, so they are computed from the model file: each member alone predicts the rows of the fold that it was
trained without. The folds follow from the seed (crates/scorewise-table/src/split/cross_fit.rs). A check shows that they are the right ones: the confusion
matrix of the out-of-fold rows must be the one that the command reports.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xxhash

from quality_scores import confusion
from quality_tables import ROOT, Problem

COMMAND = os.environ.get("SCOREWISE", str(ROOT / "target/release/scorewise"))
# Options of `scorewise train` for each method.
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
    """Train on train.parquet of the folder and test on test.parquet; the model is model.scorewise. Returns the JSON output."""
    arguments = ["--target", "target", "--score", problem.score, "--test", folder / "test.parquet", "--seed", seed]
    if len(classes) == 2:
        arguments += ["--positive", classes[1]]
    by_time = ["--split", "time:date"] if problem.time else []
    output = ["--json", "--report", "none", "-o", folder / "model.scorewise"]
    return json.loads(run_command("train", folder / "train.parquet", *arguments, *by_time, *output, *options))


def predict(model: Path, table: Path, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predict the rows of a table with `scorewise predict`; return the probabilities of all classes, and the index of the predicted class of each row."""
    output = model.with_suffix(".predictions.parquet")
    run_command("predict", model, table, "-o", output, "--overwrite")
    found = pd.read_parquet(output)
    names = [str(value) for value in classes]
    if len(classes) == 2:
        probability = found.probability.to_numpy(float)
        return np.stack([1 - probability, probability], 1), found.decision.astype(int).to_numpy()
    probabilities = np.stack([found[f"probability of {name}"].to_numpy(float) for name in names], 1)
    return probabilities, found.decision.astype(str).map({name: at for at, name in enumerate(names)}).to_numpy()


def run_scorewise(
    options: list[str], problem: Problem, train: pd.DataFrame, test: pd.DataFrame, classes: np.ndarray, seed: int, with_held_out: bool
) -> dict[str, Any]:
    """Train and predict the test rows, and measure the time of both. With `with_held_out`, also compute the out-of-fold predictions, which is not timed."""
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
            probabilities_of_folds = out_of_fold(folder, summary, train, labels, classes, problem)
            compare_with_report(summary, labels, probabilities_of_folds)
            held_out = {"held_out_truth": labels, "held_out": probabilities_of_folds}
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


# --- Out-of-fold predictions


class ModelFile:
    """A model file whose members can be written to model files of their own."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        self.header = json.loads(content[8 : 8 + length])
        self.description = json.loads(self.header.pop("__metadata__")["scorewise"])
        self.data = content[8 + length :]

    def write_member(self, number: int, path: Path) -> None:
        """Write a model file that contains only the member with this number."""
        description = self.description | {"members": [self.description["members"][number]], "weights": [1.0]}
        digits = "0" * 16
        header: dict[str, Any] = {"__metadata__": {"checksum": digits, "scorewise": json.dumps(description)}}
        parts, end = [], 0
        for name, tensor in sorted(self.header.items(), key=lambda item: item[1]["data_offsets"]):
            if name.startswith(f"member.{number}."):
                part = self.data[slice(*tensor["data_offsets"])]
                header["member.0." + name.split(".", 2)[2]] = tensor | {"data_offsets": [end, end + len(part)]}
                end += len(part)
                parts.append(part)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        content = struct.pack("<Q", len(text)) + text + b"".join(parts)
        checksum = xxhash.xxh3_64_hexdigest(content)
        path.write_bytes(content.replace(b'"' + digits.encode() + b'"', b'"' + checksum.encode() + b'"', 1))


def random_words(seed: int, purpose: str, number: int) -> Iterator[int]:
    """Yield the random 64-bit words of a stream: XXH3 of seed, purpose and number, then SplitMix64 and xoshiro256++, as in crates/scorewise/src/seed.rs."""
    mask = (1 << 64) - 1
    state = xxhash.xxh3_64_intdigest(struct.pack("<Q", number), xxhash.xxh3_64_intdigest(purpose.encode(), seed))
    words = []
    for _ in range(4):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        words.append(z ^ (z >> 31))
    a, b, c, d = words
    while True:
        total = (a + d) & mask
        yield (((total << 23) & mask | total >> 41) + a) & mask
        shifted = (b << 17) & mask
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = (d << 45) & mask | d >> 19


def random_folds(labels: np.ndarray, folds: int, repeats: int, seed: int) -> list[np.ndarray]:
    """Return the rows of each fold of each repeat: the rows of every class are shuffled and divided into blocks."""
    found: list[list[np.ndarray]] = [[] for _ in range(folds * repeats)]
    classes = int(labels.max()) + 1
    for repeat in range(repeats):
        for number in range(classes):
            rows = np.flatnonzero(labels == number).tolist()
            words = random_words(seed, "validation deal", repeat * classes + number)
            for at in range(len(rows) - 1, 0, -1):
                other = (next(words) * (at + 1)) >> 64
                rows[at], rows[other] = rows[other], rows[at]
            for block in range(folds):
                part = rows[block * len(rows) // folds : (block + 1) * len(rows) // folds]
                found[repeat * folds + block].append(np.array(part, int))
    return [np.sort(np.concatenate(parts)) for parts in found]


def time_folds(times: pd.Series, labels: np.ndarray, folds: int, repeats: int) -> list[np.ndarray]:
    """Return the rows of each fold, once for each repeat. Folds are blocks of consecutive times with about equally many rows. If there are two classes
    and one would be absent from a block, the blocks have about equally many rows of the rarer class instead."""
    stamps = times.to_numpy()
    order = np.argsort(stamps, kind="stable")

    def blocks(counted: np.ndarray) -> np.ndarray:
        """Return the fold of each row; every fold contains about equally many of the rows where `counted` is true."""
        total, before, found = max(int(counted.sum()), 1), 0, np.zeros(len(labels), int)
        for position, row in enumerate(order):
            is_same = position > 0 and stamps[order[position - 1]] == stamps[row]
            found[row] = found[order[position - 1]] if is_same else min(before * folds // total, folds - 1)
            before += int(counted[row])
        return found

    fold = blocks(np.ones(len(labels), bool))
    counts = np.bincount(labels)
    if len(counts) == 2 and any(np.bincount(labels[fold == number], minlength=2).min() == 0 for number in range(folds)):
        fold = blocks(labels == counts.argmin())
    return [np.flatnonzero(fold == number) for number in range(folds)] * repeats


def out_of_fold(
    folder: Path, summary: dict[str, Any], train: pd.DataFrame, labels: np.ndarray, classes: np.ndarray, problem: Problem
) -> np.ndarray:
    """Return the out-of-fold probabilities of the training rows, from the file model.scorewise in `folder`; `summary` is the JSON output of its training."""
    file = ModelFile(folder / "model.scorewise")
    description = file.description
    names = [str(value) for value in classes]
    own_labels = np.array([description["classes"].index(name) for name in names])[labels]
    # The members of a learner are consecutive, in the order of the learners in the plan. Only networks with hidden layers can have several repeats of
    # the folds.
    count, members, learners = summary["cross_fit"], summary["members"], description["plan"]["learners"]
    single = count * sum(1 for one in learners if repeats_of(one) == 1)
    several = sum(1 for one in learners if repeats_of(one) != 1)
    repeats = (len(members) - single) // several // count if several else 1
    seed = description["plan"]["seed"]
    if problem.time:
        fold_rows = time_folds(train.date, own_labels, count, repeats)
    else:
        fold_rows = random_folds(own_labels, count, repeats, seed)
    for number, rows in enumerate(fold_rows):
        train.iloc[rows].to_parquet(folder / f"fold{number}.parquet")
    of_logits = description["mean"] == "logits"
    total, stored = np.zeros((len(labels), len(classes))), 0
    for numbers in pooled_members(members, [count * (1 if repeats_of(one) == 1 else repeats) for one in learners], fold_rows):
        sums, counts, weight = np.zeros((len(labels), len(classes))), np.zeros(len(labels)), 0.0
        for number in numbers:
            file.write_member(stored, folder / "member.scorewise")
            probabilities, _ = predict(folder / "member.scorewise", folder / f"fold{number}.parquet", classes)
            weight += description["weights"][stored]
            stored += 1
            rows = fold_rows[number]
            sums[rows] += np.log(np.maximum(probabilities, 1e-300)) if of_logits else probabilities
            counts[rows] += 1
        total += weight / sum(description["weights"]) * sums / counts[:, None]
    if stored != len(description["members"]):
        raise RuntimeError(f"{stored} of {len(description['members'])} members were used")
    if of_logits:
        total = np.exp(total - total.max(1, keepdims=True))
    return total / total.sum(1, keepdims=True)


def pooled_members(members: list[dict[str, Any]], sizes: list[int], fold_rows: list[np.ndarray]) -> list[list[int]]:
    """Return, for each learner in the pool, the indices of the folds of its members. A member that learnt nothing is left out, unless all members of its
    learner learnt nothing. Then learners whose remaining members predict fewer rows out of fold than those of another learner are left out."""
    found, start = [], 0
    for size in sizes:
        good = [number for number in range(size) if members[start + number]["success"]]
        found.append(good or list(range(size)))
        start += size
    covered = [len(np.unique(np.concatenate([fold_rows[number] for number in numbers]))) for numbers in found]
    return [numbers for numbers, rows in zip(found, covered, strict=True) if rows == max(covered)]


def repeats_of(learner: dict[str, Any]) -> int:
    """Return 1 for a learner with one member for each fold, or 0 for networks with hidden layers, whose number of members for each fold is a setting."""
    return 0 if learner["learner"] == "network" and learner["hidden"] else 1


def compare_with_report(summary: dict[str, Any], labels: np.ndarray, held_out: np.ndarray) -> None:
    """Raise an error unless the out-of-fold predictions give the confusion matrix that the command reports; cells may differ by 2, because of rounding."""
    reported, classes, decision = summary["validation"]["confusion"], held_out.shape[1], summary["decision"]
    if classes == 2:
        predicted = (held_out[:, 1] > decision["threshold"]).astype(int)
        expected = np.array([reported[cell] for cell in ("tn", "fp", "fn", "tp")]).reshape(2, 2)
    else:
        # With more than two classes, the command lists the classes in the order of their names, like the columns of `held_out`.
        predicted, expected = (held_out * decision.get("factors", np.ones(classes))).argmax(1), np.array(reported)
    matrix = confusion(labels, predicted, classes)
    if np.abs(matrix - expected).max() > 2:
        raise RuntimeError(f"out-of-fold predictions give {matrix.tolist()}, but the command reports {expected.tolist()}")
