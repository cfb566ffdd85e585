"""Scores, sweeps and losses of arrays, of whatever kind they are; and what stands around them: imports, stubs, the command."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score

import scorewise as sw


@pytest.fixture
def forecast() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    y = random.random(2000) < 0.1
    return y, np.clip(0.2 + 0.35 * y + 0.2 * random.normal(size=2000), 0, 1), random.random(2000) + 0.5


def test_scores_equal_those_of_scikit_learn(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, w = forecast
    found = sw.score(y, p, 0.4, weights=w, replicates=50)
    assert len(found.scores) == len(sw.scores()) - sum(1 for one in sw.scores() if "…" in one["signature"])
    for name, theirs in (("f1", f1_score), ("precision", precision_score), ("mcc", matthews_corrcoef)):
        expected = theirs(y, p > 0.4, sample_weight=w)
        assert found.scores[name]["value"] == pytest.approx(expected, rel=1e-12)
        assert found.scores[name]["low"] < expected < found.scores[name]["high"]


def test_the_best_threshold_is_the_best_of_all(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    found = sw.sweep(y, p)
    best = found.best("f1")
    brute = max(f1_score(y, p > threshold) for threshold in [0.0, *np.unique(p)])
    assert best.value == pytest.approx(brute, rel=1e-14)
    assert f1_score(y, p > best.threshold) == pytest.approx(brute, rel=1e-14)
    assert found.at(best.threshold) == best.confusion
    careful = found.best("f1", subject_to=["precision >= 0.9", "tp >= 5"])
    assert careful.confusion.tp / (careful.confusion.tp + careful.confusion.fp) >= 0.9
    spread = found.bootstrap("f1", replicates=100, seed=3)
    assert spread.low <= best.threshold <= spread.high
    assert spread == found.bootstrap("f1", replicates=100, seed=3)
    with pytest.raises(ValueError, match="no threshold satisfies `precision >= 2`"):
        found.best("f1", subject_to="precision >= 2")


def test_the_curve_keeps_every_optimum(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    found = sw.sweep(y, p)
    curve = found.curve(["f1", "tss"], points=30)
    assert len(curve.threshold) < 70
    for name in ("f1", "tss"):
        assert np.nanmax(curve.scores[name]) == found.best(name).value
    for threshold, cells in zip(curve.threshold[:5], curve.confusion[:5], strict=True):
        assert tuple(cells) == found.at(threshold)


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "pyarrow", "float32", "strided", "column"])
def test_arrays_of_any_kind_give_the_same(kind: str, forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    expected = sw.sweep(y, p.astype(np.float32) if kind == "float32" else p).best("tss")
    given = {
        "list": lambda x: x.tolist(),
        "pandas": pd.Series,
        "polars": pl.Series,
        "pyarrow": pa.array,
        "float32": lambda x: x if x.dtype == bool else x.astype(np.float32),
        "strided": lambda x: np.repeat(x, 2)[::2],
        "column": lambda x: x[:, None],
    }[kind]
    assert sw.sweep(given(y), given(p)).best("tss") == expected
    assert sw.sweep(y.astype(np.int64), given(p)).best("tss") == expected
    assert sw.sweep(np.where(y, "storm", "quiet"), p, positive="storm").best("tss").value == pytest.approx(expected.value, abs=1e-6)


def test_contiguous_arrays_are_borrowed() -> None:
    rows = 2_000_000
    y, p = np.zeros(rows, bool), np.linspace(0, 1, rows)
    y[::7] = True
    tracemalloc.start()
    found = sw.sweep(y, p)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000, f"NumPy held {peak} bytes more for {p.nbytes} bytes of predictions"
    assert found._probabilities is p or np.shares_memory(found._probabilities, p)


def test_other_threads_run_meanwhile() -> None:
    random = np.random.default_rng(2)
    p = random.random(3_000_000)
    y = random.random(len(p)) < p
    ticks, over = [], threading.Event()

    def tick() -> None:
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    sw.sweep(y, p).best("f1")
    took = time.perf_counter() - start
    over.set()
    thread.join()
    longest = max(np.diff(ticks))
    assert longest < 0.5 * took, f"no other thread ran for {longest} s of {took} s"


def test_losses_and_their_gradients(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, w = forecast
    z = np.log(np.clip(p, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(p, 1e-6, 1 - 1e-6))
    for exact in (False, True):
        value, gradient = sw.loss_and_gradient(y, z, "csi", "cosine:0.5,0.3", weights=w, exact=exact)
        assert value == pytest.approx(sw.loss(y, z, "csi", "cosine:0.5,0.3", weights=w, from_logits=True, exact=exact), rel=1e-12)
        for row in (0, 17, 400):
            moved = [z.copy(), z.copy()]
            moved[0][row] -= 1e-5
            moved[1][row] += 1e-5
            low, high = (sw.loss(y, each, "csi", "cosine:0.5,0.3", weights=w, from_logits=True, exact=exact) for each in moved)
            assert gradient[row] == pytest.approx((high - low) / 2e-5, abs=1e-8)
    assert sw.loss_and_gradient(y, z.astype(np.float32))[1].dtype == np.float32


def test_the_theory_and_the_expected_matrix(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    found = sw.theory(y, p, "f1", "cosine:0.5,0.2")
    expected = sw.expected_confusion(y, p, "cosine:0.5,0.2")
    assert found.expected_confusion["tp"] == pytest.approx(expected.tp, rel=1e-12)
    assert sum(expected) == pytest.approx(len(y), rel=1e-12)
    assert 0 <= found.expected_score <= 1 and found.jensen_gap == pytest.approx(found.expected_score - found.score_of_expectation)


def test_python_says_what_the_command_says(forecast: tuple[np.ndarray, ...], tmp_path) -> None:
    y, p, _ = forecast
    file = tmp_path / "predictions.csv"
    pd.DataFrame({"label": y.astype(int), "probability": p}).to_csv(file, index=False)
    said = subprocess.run(
        [sys.executable, "-m", "scorewise", "score", file, "--json", "--replicates", "100"], capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout) == sw.score(y, p, replicates=100)
    said = subprocess.run([sys.executable, "-m", "scorewise", "tune", file, "--score", "nonsense"], capture_output=True, text=True)
    assert said.returncode == 2 and said.stderr.startswith("error: ")


def test_one_version() -> None:
    said = subprocess.run([sys.executable, "-m", "scorewise", "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"scorewise {sw.__version__}\n"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sw.nonsense  # noqa: B018


def test_notebooks_see_tables_and_plots(forecast: tuple[np.ndarray, ...]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    y, p, _ = forecast
    found = sw.sweep(y, p)
    best = found.best("f1")
    for shown in (found, best, best.confusion, sw.score(y, p, replicates=10), sw.scores(), sw.priors(), sw.theory(y, p)):
        html = shown._repr_html_()
        assert html.startswith("<table>") and html.count("<tr>") >= 2
    assert found.curve("f1")._repr_html_().startswith("<svg")
    axes = found.curve(["f1", "tss"]).plot()
    assert [line.get_label() for line in axes.lines[::2]] == ["f1", "tss"]
    assert axes.get_xlabel() == "threshold"


def test_mistakes_get_one_sentence(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    for mistake, sentence in (
        (lambda: sw.sweep(y, p[:-1]), "labels has 2000 rows, expected 1999"),
        (lambda: sw.sweep(y, np.where(np.arange(2000) == 7, np.nan, p)), "probabilities, row 7"),
        (lambda: sw.sweep(y, p * 2), "between 0 and 1"),
        (lambda: sw.sweep(y + 1, p), "labels must be 0 and 1"),
        (lambda: sw.sweep(np.where(y, "a", "b"), p), "labels are 'a', 'b' …: say which one counts as positive with `positive=`"),
        (lambda: sw.sweep(y, p, -np.ones(2000)), "weights, row 0"),
        (lambda: sw.sweep([], []), "no rows"),
        (lambda: sw.sweep(y, p).best("presicion"), "did you mean `precision`"),
        (lambda: sw.loss(y, p, "f1", "cosine:0.95,0.1"), "must lie in"),
        (lambda: sw.score(y, p, replicates=0), "at least 1"),
        (lambda: sw.sweep(y, p[:, None].repeat(3, 1)), "one-dimensional"),
    ):
        with pytest.raises(ValueError, match=sentence):
            mistake()


@pytest.mark.parametrize("host", ["torch", "keras", "xgboost", "lightgbm"])
def test_a_missing_host_is_named_with_its_cure(host: str) -> None:
    code = f"""
import sys
for name in ("torch", "keras", "xgboost", "lightgbm", "jax", "pandas", "polars", "pyarrow", "matplotlib"):
    sys.modules[name] = None                      # as if it were not installed
import scorewise as sw
assert sw.sweep([0, 1, 1], [0.1, 0.6, 0.9]).best("f1").value == 1.0
try:
    import scorewise.{host}
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == f'{host} is not installed; install it with: pip install "scorewise[{host}]"'
