"""Compare the Python package with scikit-learn: training a network, and evaluating ten million predictions at all thresholds.

    python bench/sklearn_peers.py            # requires the package built for release, scikit-learn and threadpoolctl

Both libraries alternate in one process; medians of several rounds are printed. They train with the same rows, network, batch size, optimiser,
learning rate and number of epochs; both hold out a third of the rows, evaluate them after every epoch, and do not stop early. scorewise also
encodes the columns and finds its threshold. scikit-learn is run with float32 and with float64, and the faster run counts. Each library uses one
thread. For the thresholds, scikit-learn computes only the precision-recall curve, scorewise also the best F1.
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
# A small and a typical number of epochs. The time for encoding columns and finding the threshold is fixed, so the speed-up depends on the number of
# epochs.
EPOCHS = (10, 50)
VALIDATION_FRACTION = 1 / 3
HIDDEN = (50, 20, 5)
ROWS = int(os.environ.get("ROWS", 10_000_000))
TRAINING_TARGET, SWEEP_TARGET = 20, 8

NUMBERS = [0, 2, 4, 10, 11, 12]  # age, fnlwgt, education-num, capital-gain, capital-loss, hours-per-week
CATEGORIES = [1, 5, 6, 7, 8, 9]  # workclass, marital-status, occupation, relationship, race, sex
COUNTRY, INCOME = 13, 14


def adult_data():
    """Return the features and labels of the Adult data, encoded as in Marchetti et al. (2022).

    Rows with `?` and the column `education` are left out, the country becomes a binary column (United States or not), and the 48 columns are
    standardised.
    """
    path = pathlib.Path(__file__).resolve().parents[1] / "crates/scorewise-table/data" / "adult.data.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and "?" not in row]
    columns = [[float(row[at]) for row in rows] for at in NUMBERS]
    columns.append([row[COUNTRY] == "United-States" for row in rows])
    for at in CATEGORIES:
        columns += [[row[at] == level for row in rows] for level in sorted({row[at] for row in rows})]
    X = numpy.array(columns, dtype=numpy.float64).T
    y = numpy.array([row[INCOME] == ">50K" for row in rows], dtype=numpy.int64)
    assert X.shape == (30162, 48) and y.sum() == 7508, "the numbers of rows, columns and positives must be those of Marchetti et al. (2022)"
    return numpy.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y


def run_and_time(work):
    """Call `work`; return the elapsed seconds, and what `work` returned."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def run_alternately(functions, rounds):
    """Call all functions in turn, `rounds` times after a warm-up round; return the median seconds and the last result of each function."""
    seconds, results = {name: [] for name in functions}, {}
    for at in range(rounds + 1):
        for name, work in functions.items():
            duration, results[name] = run_and_time(work)
            if at:
                seconds[name].append(duration)
    return {name: statistics.median(values) for name, values in seconds.items()}, results


def format_verdict(ratio, target):
    """Return, as text, how many times as fast scorewise is, and whether the target is met."""
    return f"{ratio:.1f} × (target {target} ×: {'met' if ratio >= target else 'MISSED'})"


def compare_training(epochs):
    """Print the time of scorewise and of scikit-learn for training a network on the Adult data for this number of epochs."""
    X, y = adult_data()
    X_float32 = X.astype(numpy.float32)

    def train_scorewise():
        """Train the ScoreClassifier of scorewise."""
        # The recipe `paper` trains one network on standardised inputs. Its learning rate equals the default of scikit-learn.
        settings = dict(recipe="paper", hidden=HIDDEN, batch=64, epochs=epochs, patience=epochs, validation=VALIDATION_FRACTION)
        return sw.ScoreClassifier("f1", **settings).fit(X, y)

    def train_mlp(X):
        """Train the MLPClassifier of scikit-learn, with the settings that correspond to those of scorewise."""
        settings = dict(hidden_layer_sizes=HIDDEN, batch_size=64, max_iter=epochs, alpha=0.0, random_state=0)
        return MLPClassifier(early_stopping=True, validation_fraction=VALIDATION_FRACTION, n_iter_no_change=epochs, tol=0.0, **settings).fit(X, y)

    contenders = {"scorewise": train_scorewise, "MLP float64": lambda: train_mlp(X), "MLP float32": lambda: train_mlp(X_float32)}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there are too few epochs to converge
        medians, models = run_alternately(contenders, ROUNDS)
    print(f"training: Adult, {X.shape[0]} rows × {X.shape[1]}, net {HIDDEN}, batch 64, {epochs} epochs, a third held out")
    for name, seconds in medians.items():
        model = models[name]
        assert model.n_iter_ == epochs, "the training must not stop before the last epoch"
        print(f"  {name:12} {1000 * seconds:8.1f} ms   F1 of all rows {f1_score(y, model.predict(X.astype(numpy.float64))):.4f}")
    print("  ratio", format_verdict(min(medians["MLP float64"], medians["MLP float32"]) / medians["scorewise"], TRAINING_TARGET))


def compare_sweeps():
    """Print the time of scorewise and of scikit-learn for finding the best F1 over all thresholds."""
    rng = numpy.random.default_rng(0)
    flags = rng.random(ROWS) < 0.05
    probabilities = 1 / (1 + numpy.exp(-(rng.standard_normal(ROWS) + 2.0 * flags - 2.0)))
    for p in (probabilities.astype(numpy.float32), probabilities):
        for labels in (flags, flags.astype(numpy.int8)):
            contenders = {
                "scorewise": lambda: sw.sweep(labels, p).best("f1").value,
                "scikit-learn": lambda: precision_recall_curve(labels, p),
            }
            medians, results = run_alternately(contenders, 3)
            precision, recall, _ = results["scikit-learn"]
            best = numpy.nanmax(2 * precision * recall / numpy.maximum(precision + recall, 1e-300))
            print(f"sweep: {ROWS} rows, {p.dtype} predictions, {labels.dtype} labels")
            print(f"  scorewise    {medians['scorewise']:8.3f} s   best F1 {results['scorewise']:.6f}")
            print(f"  scikit-learn {medians['scikit-learn']:8.3f} s   best F1 {best:.6f}")
            print("  ratio", format_verdict(medians["scikit-learn"] / medians["scorewise"], SWEEP_TARGET))
            del results, precision, recall
            check_memory(labels, p)


def check_memory(labels, p):
    """Check that a sweep over all thresholds does not copy the predictions `p`."""
    tracemalloc.start()
    sweep = sw.sweep(labels, p)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    is_borrowed = numpy.shares_memory(sweep._rows[1], p)
    label_storage = "borrowed" if numpy.shares_memory(sweep._rows[0], labels) else "converted to booleans"
    print(f"  predictions {p.nbytes / 2**20:.0f} MiB: {'borrowed, not copied' if is_borrowed else 'COPIED'}; labels {label_storage}; "
          f"NumPy allocated at most {peak / 2**20:.1f} MiB")
    assert is_borrowed and (labels.dtype != bool or peak < 1 << 20)


def print_peak_memory():
    """Print by how much a sweep over all thresholds raises the peak memory of a process.

    Each library runs in a new process, because the peak never falls.
    """
    code = """
import re, numpy, scorewise as sw
from sklearn.metrics import precision_recall_curve
p = numpy.random.default_rng(0).random({rows}, dtype=numpy.float32)
y = p > 0.95
def peak_mebibytes():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = peak_mebibytes()
sw.sweep(y, p).best("f1") if "{name}" == "scorewise" else precision_recall_curve(y, p)
print(peak_mebibytes() - before)
"""
    for name in ("scorewise", "scikit-learn"):
        run = subprocess.run([sys.executable, "-c", code.format(rows=ROWS, name=name)], capture_output=True, text=True, check=True)
        print(f"peak memory of a sweep in addition to its input of {5 * ROWS / 2**20:.0f} MiB: {name} {float(run.stdout):.0f} MiB")


if __name__ == "__main__":
    os.environ["RAYON_NUM_THREADS"] = "1"  # must be set before Rust starts its threads
    print(f"scorewise {sw.__version__}, scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}, {os.cpu_count()} cores")
    for epochs in EPOCHS:
        compare_training(epochs)
    compare_sweeps()
    if os.path.exists("/proc/self/status"):
        print_peak_memory()
