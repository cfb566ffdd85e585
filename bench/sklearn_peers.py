"""The Python package against scikit-learn: a training, and all thresholds of ten million predictions.

    python bench/sklearn_peers.py            # the package, built for release, with scikit-learn and threadpoolctl

Both sides in turn in one process, medians of several rounds. The trainings have the same rows, shape, batch, optimiser, rate and number of
epochs; both hold out a third of the rows and look at them after every epoch, and neither may stop early. Ours also encodes the columns and
finds its threshold. scikit-learn's runs on float32 and on float64, and the faster one counts. One thread each. Of the thresholds,
scikit-learn only makes its curve; ours are made and the best F1 is found.
"""

import csv
import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import scorewise as sw

ROUNDS = 3
# Fixed costs, the encoding and the threshold, weigh more the fewer epochs there are: a short training is shown beside a usual one.
EPOCHS = (10, 50)
SHARE = 1 / 3
HIDDEN = (50, 20, 5)
ROWS = int(os.environ.get("ROWS", 10_000_000))
TRAINING_BAR, SWEEP_BAR = 20, 8

NUMBERS = [0, 2, 4, 10, 11, 12]  # age, fnlwgt, education-num, capital-gain, capital-loss, hours-per-week
TEXTS = [1, 5, 6, 7, 8, 9]  # workclass, marital-status, occupation, relationship, race, sex
COUNTRY, INCOME = 13, 14


def adult():
    """The paper's encoding: rows with `?` dropped, no `education`, one country against all others, 48 standardised columns."""
    path = pathlib.Path(__file__).resolve().parents[1] / "data" / "adult.data.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and "?" not in row]
    columns = [[float(row[at]) for row in rows] for at in NUMBERS]
    columns.append([row[COUNTRY] == "United-States" for row in rows])
    for at in TEXTS:
        columns += [[row[at] == level for row in rows] for level in sorted({row[at] for row in rows})]
    X = numpy.array(columns, dtype=numpy.float64).T
    y = numpy.array([row[INCOME] == ">50K" for row in rows], dtype=numpy.int64)
    assert X.shape == (30162, 48) and y.sum() == 7508, "as the paper has it"
    return numpy.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def timed(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def alternate(contenders, rounds):
    """Seconds of each contender, in turn; the first round warms up. And what each found."""
    seconds, found = {name: [] for name in contenders}, {}
    for at in range(rounds + 1):
        for name, work in contenders.items():
            took, found[name] = timed(work)
            if at:
                seconds[name].append(took)
    return {name: statistics.median(values) for name, values in seconds.items()}, found


def verdict(ratio, bar):
    return f"{ratio:.1f} × (bar {bar} ×: {'met' if ratio >= bar else 'MISSED'})"


def trainings(epochs):
    X, y = adult()
    narrow = X.astype(numpy.float32)

    def ours():
        settings = dict(hidden=HIDDEN, batch=64, epochs=epochs, patience=epochs, validation=SHARE)
        return sw.ScoreClassifier("f1", **settings).fit(X, y)

    def theirs(X):
        settings = dict(hidden_layer_sizes=HIDDEN, batch_size=64, max_iter=epochs, alpha=0.0, random_state=0)
        return MLPClassifier(early_stopping=True, validation_fraction=SHARE, n_iter_no_change=epochs, tol=0.0, **settings).fit(X, y)

    contenders = {"scorewise": ours, "MLP float64": lambda: theirs(X), "MLP float32": lambda: theirs(narrow)}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so few epochs are not meant to converge
        medians, models = alternate(contenders, ROUNDS)
    print(f"training: Adult, {X.shape[0]} rows × {X.shape[1]}, net {HIDDEN}, batch 64, {epochs} epochs, a third held out")
    for name, seconds in medians.items():
        model = models[name]
        assert model.n_iter_ == epochs, "no one stopped early"
        print(f"  {name:12} {1000 * seconds:8.1f} ms   F1 of all rows {f1_score(y, model.predict(X.astype(numpy.float64))):.4f}")
    print("  ratio", verdict(min(medians["MLP float64"], medians["MLP float32"]) / medians["scorewise"], TRAINING_BAR))


def sweeps():
    rng = numpy.random.default_rng(0)
    flags = rng.random(ROWS) < 0.05
    wide = 1 / (1 + numpy.exp(-(rng.standard_normal(ROWS) + 2.0 * flags - 2.0)))
    for p in (wide.astype(numpy.float32), wide):
        for labels in (flags, flags.astype(numpy.int8)):
            contenders = {
                "scorewise": lambda: sw.sweep(labels, p).best("f1").value,
                "scikit-learn": lambda: precision_recall_curve(labels, p),
            }
            medians, found = alternate(contenders, 3)
            precision, recall, _ = found["scikit-learn"]
            best = numpy.nanmax(2 * precision * recall / numpy.maximum(precision + recall, 1e-300))
            print(f"sweep: {ROWS} rows, {p.dtype} predictions, {labels.dtype} labels")
            print(f"  scorewise    {medians['scorewise']:8.3f} s   best F1 {found['scorewise']:.6f}")
            print(f"  scikit-learn {medians['scikit-learn']:8.3f} s   best F1 {best:.6f}")
            print("  ratio", verdict(medians["scikit-learn"] / medians["scorewise"], SWEEP_BAR))
            del found, precision, recall
            memory(labels, p)


def memory(labels, p):
    """What NumPy allocates while all thresholds are swept: nothing of the size of the predictions."""
    tracemalloc.start()
    swept = sw.sweep(labels, p)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    is_borrowed = numpy.shares_memory(swept._probabilities, p)
    flags = "borrowed" if numpy.shares_memory(swept._labels, labels) else "converted to truth values"
    print(f"  predictions {p.nbytes / 2**20:.0f} MiB: {'borrowed, not copied' if is_borrowed else 'COPIED'}; labels {flags}; "
          f"NumPy allocated {peak / 2**20:.1f} MiB at the most")
    assert is_borrowed and (labels.dtype != bool or peak < 1 << 20)


def resident():
    """What a sweep adds to the highest memory of a process, from the kernel; a fresh process for each, for the mark never falls."""
    code = """
import re, numpy, scorewise as sw
from sklearn.metrics import precision_recall_curve
p = numpy.random.default_rng(0).random({rows}, dtype=numpy.float32)
y = p > 0.95
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = peak()
sw.sweep(y, p).best("f1") if "{name}" == "scorewise" else precision_recall_curve(y, p)
print(peak() - before)
"""
    for name in ("scorewise", "scikit-learn"):
        run = subprocess.run([sys.executable, "-c", code.format(rows=ROWS, name=name)], capture_output=True, text=True, check=True)
        print(f"peak memory of a sweep beyond its {5 * ROWS / 2**20:.0f} MiB of float32 and bool: {name} {float(run.stdout):.0f} MiB")


if __name__ == "__main__":
    os.environ["RAYON_NUM_THREADS"] = "1"  # read when Rust first wants threads: columns are encoded by one, as all else
    print(f"scorewise {sw.__version__}, scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}, {os.cpu_count()} cores")
    for epochs in EPOCHS:
        trainings(epochs)
    sweeps()
    if os.path.exists("/proc/self/status"):
        resident()
