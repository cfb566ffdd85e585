"""Tests of scores, sweeps and losses: arrays of every supported library, the numbers of the command, optional imports, and output in notebooks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score

import scorewise as sw


@pytest.fixture
def forecast() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, probabilities and weights."""
    random = np.random.default_rng(1)
    y = random.random(2000) < 0.1
    return y, np.clip(0.2 + 0.35 * y + 0.2 * random.normal(size=2000), 0, 1), random.random(2000) + 0.5


def test_scores_equal_the_scores_of_scikit_learn(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, w = forecast
    result = sw.score(y, p, 0.4, weights=w, replicates=50)
    assert len(result.scores) == len(sw.scores()) - sum(1 for score in sw.scores() if "…" in score["signature"])
    for name, reference in (("f1", f1_score), ("precision", precision_score), ("mcc", matthews_corrcoef)):
        expected = reference(y, p > 0.4, sample_weight=w)
        assert result.scores[name]["value"] == pytest.approx(expected, rel=1e-12)
        assert result.scores[name]["low"] < expected < result.scores[name]["high"]


def test_best_threshold_equals_the_result_of_an_exhaustive_search(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    sweep = sw.sweep(y, p)
    best = sweep.best("f1")
    exhaustive = max(f1_score(y, p > threshold) for threshold in [0.0, *np.unique(p)])
    assert best.value == pytest.approx(exhaustive, rel=1e-14)
    assert f1_score(y, p > best.threshold) == pytest.approx(exhaustive, rel=1e-14)
    assert sweep.at(best.threshold) == best.confusion
    constrained = sweep.best("f1", subject_to=["precision >= 0.9", "tp >= 5"])
    assert constrained.confusion.tp / (constrained.confusion.tp + constrained.confusion.fp) >= 0.9
    intervals = sweep.bootstrap("f1", replicates=100, seed=3)
    assert intervals.low <= best.threshold <= intervals.high
    assert intervals == sweep.bootstrap("f1", replicates=100, seed=3)
    with pytest.raises(ValueError, match="no threshold satisfies `precision >= 2`"):
        sweep.best("f1", subject_to="precision >= 2")


def expected_confusion_of_log_odds(y: np.ndarray, p: np.ndarray, w: np.ndarray, centre: float, half_width: float) -> tuple[float, float, float, float]:
    """Return the expected confusion matrix for a random threshold whose log-odds have a raised cosine distribution."""
    with np.errstate(divide="ignore"):
        u = np.clip((np.log(p) - np.log1p(-p) - centre) / half_width, -1, 1)
    positive = w * (1 + u + np.sin(np.pi * u) / np.pi) / 2
    return tuple(np.sum(cell) for cell in ((w - positive)[~y], positive[~y], (w - positive)[y], positive[y]))


@pytest.mark.parametrize("width", [0.05, 0.2])
def test_smoothed_threshold_is_best_on_average_over_nearby_thresholds(forecast: tuple[np.ndarray, ...], width: float) -> None:
    y, p, w = forecast
    sweep = sw.sweep(y, p, w)
    best = sweep.best("f1", smooth=width)
    half_width = np.log((0.5 + width) / (0.5 - width))

    def expected_f1(centre: float) -> float:
        """Return F1 of the expected confusion matrix under a prior with this centre on the scale of the log-odds."""
        _, fp, fn, tp = expected_confusion_of_log_odds(y, p, w, centre, half_width)
        return 2 * tp / (2 * tp + fp + fn)

    centre = np.log(best.threshold / (1 - best.threshold))
    assert best.expected_value == pytest.approx(expected_f1(centre), rel=1e-9)
    assert best.expected_value > max(expected_f1(other) for other in np.linspace(-4, 4, 801)) - 1e-4
    assert best.confusion == sweep.at(best.threshold) and best.smooth == width and best.subject_to == ()
    assert best.value == pytest.approx(f1_score(y, p > best.threshold, sample_weight=w), rel=1e-12)
    assert best.interval[0] <= best.threshold < best.interval[1] and sweep.at(best.interval[0]) == best.confusion
    assert best.value <= sweep.best("f1").value and sweep.best("f1").expected_value is None
    assert "expected f1" in best._repr_html_()
    intervals = sweep.bootstrap("f1", smooth=width, replicates=100)
    assert intervals.low < best.threshold < intervals.high and intervals != sweep.bootstrap("f1", replicates=100)


def test_smoothing_is_refused_with_conditions_or_with_an_invalid_width(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    sweep = sw.sweep(y, p)
    for invalid in (0, 0.5, -0.1, float("nan"), "wide", True):
        with pytest.raises(ValueError, match="smooth must be a number from 0.001 to below 0.5, usually 0.2, not "):
            sweep.best("f1", smooth=invalid)
    for method in (sweep.best, sweep.bootstrap):
        with pytest.raises(ValueError, match="leave out smooth or subject_to"):
            method("f1", "precision >= 0.3", smooth=0.2)
    with pytest.raises(ValueError, match="no row is positive, and `tss` is undefined at every threshold"):
        sw.sweep(np.zeros(3, bool), p[:3]).best("tss", smooth=0.2)
    undefined = sw.sweep([0, 1], [0.2, 0.3]).best("tss", smooth=0.2)
    assert undefined.value == 1.0


def test_curve_with_few_points_contains_the_best_value_of_every_score(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    sweep = sw.sweep(y, p)
    curve = sweep.curve(["f1", "tss"], points=30)
    assert len(curve.threshold) < 70
    for name in ("f1", "tss"):
        assert np.nanmax(curve.scores[name]) == sweep.best(name).value
    for threshold, confusion in zip(curve.threshold[:5], curve.confusion[:5], strict=True):
        assert tuple(confusion) == sweep.at(threshold)


@pytest.mark.parametrize("container", ["list", "pandas", "polars", "pyarrow", "float32", "strided", "column"])
def test_arrays_of_every_library_and_layout_give_the_same_result(container: str, forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    expected = sw.sweep(y, p.astype(np.float32) if container == "float32" else p).best("tss")
    convert = {
        "list": lambda x: x.tolist(),
        "pandas": pd.Series,
        "polars": pl.Series,
        "pyarrow": pa.array,
        "float32": lambda x: x if x.dtype == bool else x.astype(np.float32),
        "strided": lambda x: np.repeat(x, 2)[::2],
        "column": lambda x: x[:, None],
    }[container]
    assert sw.sweep(convert(y), convert(p)).best("tss") == expected
    assert sw.sweep(y.astype(np.int64), convert(p)).best("tss") == expected
    assert sw.sweep(np.where(y, "storm", "quiet"), p, positive="storm").best("tss").value == pytest.approx(expected.value, abs=1e-6)


def test_contiguous_arrays_are_not_copied() -> None:
    rows = 2_000_000
    y, p = np.zeros(rows, bool), np.linspace(0, 1, rows)
    y[::7] = True
    tracemalloc.start()
    sweep = sw.sweep(y, p)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000, f"{peak} bytes were allocated for {p.nbytes} bytes of predictions"
    assert np.shares_memory(sweep._rows[1], p)


def test_other_threads_run_while_rust_computes() -> None:
    random = np.random.default_rng(2)
    p = random.random(3_000_000)
    y = random.random(len(p)) < p
    ticks, done = [], threading.Event()

    def tick() -> None:
        """Store the time every two milliseconds, as long as this thread can run."""
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    sw.sweep(y, p).best("f1")
    duration = time.perf_counter() - start
    done.set()
    thread.join()
    longest = max(np.diff(ticks))
    assert longest < 0.5 * duration, f"no other thread ran for {longest} s of {duration} s"


def test_gradient_matches_the_central_difference_of_the_loss(forecast: tuple[np.ndarray, ...]) -> None:
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


def test_theory_agrees_with_the_expected_confusion_matrix(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    result = sw.theory(y, p, "f1", "cosine:0.5,0.2")
    expected = sw.expected_confusion(y, p, "cosine:0.5,0.2")
    assert result.expected_confusion["tp"] == pytest.approx(expected.tp, rel=1e-12)
    assert sum(expected) == pytest.approx(len(y), rel=1e-12)
    assert 0 <= result.expected_score <= 1 and result.jensen_gap == pytest.approx(result.expected_score - result.score_of_expectation)


def test_scores_equal_the_json_of_the_command_line(forecast: tuple[np.ndarray, ...], tmp_path) -> None:
    y, p, _ = forecast
    file = tmp_path / "predictions.csv"
    pd.DataFrame({"label": y.astype(int), "probability": p}).to_csv(file, index=False)
    process = subprocess.run(
        [sys.executable, "-m", "scorewise", "score", file, "--json", "--replicates", "100"], capture_output=True, text=True, check=True
    )
    assert json.loads(process.stdout) == sw.score(y, p, replicates=100)
    process = subprocess.run([sys.executable, "-m", "scorewise", "tune", file, "--score", "nonsense"], capture_output=True, text=True)
    assert process.returncode == 2 and process.stderr.startswith("error: ")


def test_command_and_package_have_the_same_version() -> None:
    output = subprocess.run([sys.executable, "-m", "scorewise", "--version"], capture_output=True, text=True, check=True).stdout
    assert output == f"scorewise {sw.__version__}\n"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sw.nonsense  # noqa: B018


def test_notebooks_display_tables_and_figures(forecast: tuple[np.ndarray, ...]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    y, p, _ = forecast
    sweep = sw.sweep(y, p)
    best = sweep.best("f1")
    for result in (sweep, best, best.confusion, sw.score(y, p, replicates=10), sw.scores(), sw.priors(), sw.theory(y, p)):
        html = result._repr_html_()
        assert html.startswith("<table>") and html.count("<tr>") >= 2
    assert sweep.curve("f1")._repr_html_().startswith("<svg")
    axes = sweep.curve(["f1", "tss"]).plot()
    assert [line.get_label() for line in axes.lines[::2]] == ["f1", "tss"]
    assert axes.get_xlabel() == "threshold"


def test_dots_of_a_plot_mark_the_best_value_of_each_score(forecast: tuple[np.ndarray, ...]) -> None:
    import matplotlib
    import matplotlib.pyplot

    matplotlib.use("Agg")
    y, p, _ = forecast
    # A score that is best at its maximum, a score and a formula that are best at their minimum, and a score whose ideal value is 1.
    names = ["f1", "far", "fp + 10*fn", "frequency_bias"]
    sweep = sw.sweep(y, p)
    axes = sweep.curve(names).plot(matplotlib.pyplot.figure().gca())
    for name, dot in zip(names, axes.lines[1::2], strict=True):
        assert dot.get_ydata()[0] == pytest.approx(sweep.best(name).value, rel=1e-12), name


def test_invalid_arguments_raise_a_clear_error(forecast: tuple[np.ndarray, ...]) -> None:
    y, p, _ = forecast
    for call, message in (
        (lambda: sw.sweep(y, p[:-1]), "wrong number of rows in labels: 2000, expected 1999"),
        (lambda: sw.sweep(y, np.where(np.arange(2000) == 7, np.nan, p)), "probabilities, row 7"),
        (lambda: sw.sweep(y, p * 2), "between 0 and 1"),
        (lambda: sw.sweep(y + 1, p), "labels must be 0 and 1"),
        (lambda: sw.sweep(np.where(y, "a", "b"), p), "labels are not 0 and 1, but 'a', 'b' …: choose the positive label with `positive=`"),
        (lambda: sw.sweep(y, p, -np.ones(2000)), "weights, row 0"),
        (lambda: sw.sweep([], []), "no rows"),
        (lambda: sw.sweep(y, p).best("presicion"), "did you mean `precision`"),
        (lambda: sw.loss(y, p, "f1", "cosine:0.95,0.1"), "must lie in"),
        (lambda: sw.score(y, p, replicates=0), "at least 1"),
        (lambda: sw.sweep(y, p[:, None].repeat(3, 1)), "one-dimensional"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("framework", ["torch", "keras", "xgboost", "lightgbm"])
def test_import_without_the_framework_says_how_to_install_it(framework: str) -> None:
    code = f"""
import sys
for name in ("torch", "keras", "xgboost", "lightgbm", "jax", "pandas", "polars", "pyarrow", "matplotlib"):
    sys.modules[name] = None                      # so that importing it fails
import scorewise as sw
assert sw.sweep([0, 1, 1], [0.1, 0.6, 0.9]).best("f1").value == 1.0
try:
    import scorewise.{framework}
except ImportError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == f'{framework} is not installed; install it with: pip install "scorewise[{framework}]"'


def test_intervals_are_wider_if_rows_of_a_group_depend_on_each_other() -> None:
    random = np.random.default_rng(7)
    station = np.repeat(np.arange(60), 20)
    y = np.repeat(random.random(60) < 0.3, 20)
    p = np.clip(0.3 + 0.2 * y + 0.2 * np.repeat(random.normal(size=60), 20), 0, 1)

    def width(**dependence: object) -> float:
        """Return the width of the interval of the TSS. The arguments say which rows depend on each other."""
        interval = sw.score(y, p, 0.4, scores="tss", replicates=500, **dependence).scores["tss"]
        return float(interval["high"] - interval["low"])

    assert width(groups=station) > 2.5 * width()
    assert width(groups=[f"station {number}" for number in station]) == width(groups=station), "the interval must not depend on the names of the groups"
    assert width(block="auto") > 1.5 * width()
    document = sw.score(y, p, 0.4, scores="tss", replicates=10, block="auto")
    assert document.resampled.startswith("blocks of "), document.resampled
    assert sw.score(y, p, 0.4, scores="tss", replicates=10, groups=station).resampled == "groups of rows"


def test_invalid_values_of_block_and_groups_are_refused() -> None:
    y, p = [0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6]
    with pytest.raises(ValueError, match="either block or groups"):
        sw.score(y, p, block=2, groups=[1, 1, 2, 2])
    with pytest.raises(ValueError, match='or "auto", not "weekly"'):
        sw.score(y, p, block="weekly")
    with pytest.raises(ValueError, match="groups"):
        sw.score(y, p, groups=[1, 2])
    with pytest.raises(ValueError, match="one value for each row"):
        sw.score(y, p, groups=[[1, 1], [2, 2]])


def test_corrected_score_of_predictions_without_skill_is_lower_than_the_apparent_score() -> None:
    random = np.random.default_rng(3)
    apparent, corrected = [], []
    for _ in range(30):
        sweep = sw.sweep(random.random(150) < 0.2, random.random(150))
        found = sweep.corrected("tss", replicates=50)
        assert found is not None
        assert found.low <= found.high
        apparent.append(sweep.best("tss").value)
        corrected.append(found.value)
    # The true TSS is 0 at every threshold.
    assert np.mean(apparent) > 0.05
    assert abs(np.mean(corrected)) < 0.06
    smooth = sw.sweep([0, 1] * 50, random.random(100)).corrected("tss", smooth=0.2, replicates=20)
    assert smooth is not None
    assert sw.sweep([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]).corrected("precision", "precision >= 2") is None


def test_score_counts_scores_the_sum_of_the_confusion_matrices_as_the_command_does(tmp_path: Path) -> None:
    # Finley's tornado forecasts of 1884, divided into two rows.
    tn, fp, fn, tp = [1300, 1380], [40, 32], [10, 13], [15, 13]
    result = sw.score_counts(tn, fp, fn, tp)
    assert result.confusion == {"tn": 2680, "fp": 72, "fn": 23, "tp": 28}
    assert result.scores["csi"]["value"] == 28 / (28 + 72 + 23)
    assert result.scores["csi"]["low"] < result.scores["csi"]["value"] < result.scores["csi"]["high"]
    table = tmp_path / "counts.csv"
    table.write_text("half,tn,fp,fn,tp\na,1300,40,10,15\nb,1380,32,13,13\n")
    command = [sys.executable, "-m", "scorewise", "score", str(table), "--counts", "--by", "half", "--json"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    grouped = sw.score_counts(tn, fp, fn, tp, by=["a", "b"])
    assert {**grouped, "by": "half"} == printed
    assert "csi, a" in grouped._repr_html_()


def test_score_counts_accepts_groups_and_blocks_and_refuses_invalid_counts() -> None:
    random = np.random.default_rng(2)
    tn, fp, fn, tp = (random.poisson(mean, 60) for mean in (80, 6, 3, 10))
    rows = sw.score_counts(tn, fp, fn, tp, scores="csi")
    assert sw.score_counts(tn, fp, fn, tp, scores="csi", groups=np.arange(60)).scores["csi"] == pytest.approx(rows.scores["csi"])
    assert sw.score_counts(tn, fp, fn, tp, scores="csi", block=5).resampled == "blocks of 5 rows"
    with pytest.raises(ValueError, match="equal lengths"):
        sw.score_counts(tn, fp, fn, tp[:-1])
    with pytest.raises(ValueError, match="counts, row 0: -1 is not a finite number at or above 0"):
        sw.score_counts([-1.0], [1.0], [1.0], [1.0])


def test_condition_with_a_confidence_allows_only_thresholds_that_pass_a_statistical_test() -> None:
    """With a confidence, fewer thresholds qualify. The result names the statistical test, and the error says how many events are missing."""
    generator = np.random.default_rng(3)
    labels = generator.random(2000) < 0.2
    probabilities = np.clip(0.3 + 0.3 * labels + 0.15 * generator.normal(size=2000), 0, 1)
    sweep = sw.sweep(labels, probabilities)
    plain = sweep.best("recall", subject_to="precision >= 0.6")
    sure = sweep.best("recall", subject_to="precision >= 0.6 with 95%")
    assert plain.guarantee is None and sure.threshold > plain.threshold and sure.subject_to == ("precision >= 0.6 with 95%",)
    assert sure.guarantee is not None and sure.guarantee["conditions"][0]["test"] == "exact binomial test"
    assert any(low <= sure.threshold < high for low, high in sure.guarantee["thresholds"])
    groups = np.repeat(np.arange(200), 10)
    grouped = sweep.best("recall", subject_to="precision >= 0.6 with 95%", groups=groups)
    assert grouped.guarantee is not None and grouped.guarantee["conditions"][0]["test"] == "binomial test with the effective number of rows"
    drawn = sweep.best("recall", subject_to="tss >= 0.5 with 95%", replicates=1000)
    assert drawn.guarantee is not None and drawn.guarantee["conditions"][0]["test"] == "bootstrap"
    budget = sweep.best("recall", subject_to="alarms <= 50 per 1000").confusion
    assert budget.tp + budget.fp == 100
    few = sw.sweep([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    with pytest.raises(ValueError, match=r"no threshold was shown to satisfy `precision >= 0.8 with 95%` for future rows; about \d+ more events"):
        few.best("f1", subject_to="precision >= 0.8 with 95%")


def test_costs_are_sums_over_rows_and_equal_those_of_the_command(tmp_path: Path, forecast: tuple[np.ndarray, ...]) -> None:
    y, p, w = forecast
    amount = 1000 * w**4
    found = sw.costs(y, p, 5, np.where(y, amount, np.nan))
    totals = [5 * np.sum(~y & (p > t)) + np.sum(amount[y & (p <= t)]) for t in np.append(p, 1.0)]
    assert found.value == pytest.approx(min(totals) / 2000, rel=1e-12)
    assert found.interval[0] <= found.threshold < found.interval[1]
    assert found.costs["total"] == pytest.approx(min(totals), rel=1e-12)
    assert found.corrected["value"] > found.value
    at = sw.costs(y, p, 5, amount, found.threshold)
    assert at.per_row["value"] == found.value
    assert at.per_row["low"] < found.value < at.per_row["high"]
    few = sw.costs(y, p, 5, amount, subject_to="tp + fp <= 50", replicates=10)
    assert few.confusion["tp"] + few.confusion["fp"] <= 50
    assert few.value > found.value
    table = tmp_path / "p.csv"
    pd.DataFrame({"label": y.astype(int), "probability": p, "amount": amount}).to_csv(table, index=False)
    command = [sys.executable, "-m", "scorewise", "tune", str(table), "--cost-fp", "5", "--cost-fn", "amount", "--json"]
    assert found == json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for arguments, options, message in [
        ((y, p, -1, amount), {}, "costs of false alarms, row 0: -1 is not a finite number at or above 0"),
        ((y, p, 5, amount[:-1]), {}, "wrong number of rows in costs of misses"),
        ((y, p, 5, amount, 0.5), {"subject_to": "tp >= 1"}, "subject_to cannot be combined with threshold"),
        ((y, p, 5, amount), {"subject_to": "precision >= 2"}, "no threshold satisfies `precision >= 2`"),
        ((y, p, 5, amount), {"subject_to": "precision >= 0.1 with 90%"}, "a condition with a confidence, `precision >= 0.1 with 90%`, cannot be tested"),
    ]:
        with pytest.raises(ValueError, match=message):
            sw.costs(*arguments, **options)


def test_measures_of_probabilities_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

    random = np.random.default_rng(3)
    y, weights = random.random(500) < 0.2, random.exponential(size=500)
    p = np.clip(0.2 + 0.3 * y + 0.15 * random.normal(size=500), 0.001, 0.999).round(2)
    found = sw.score(y, p, weights=weights).probabilities
    assert found.brier.value == pytest.approx(brier_score_loss(y, p, sample_weight=weights), rel=1e-12)
    assert found.log_loss.value == pytest.approx(log_loss(y, p, sample_weight=weights), rel=1e-12)
    assert found.roc_area.value == pytest.approx(roc_auc_score(y, p, sample_weight=weights), rel=1e-12)
    assert found.average_precision.value == pytest.approx(average_precision_score(y, p, sample_weight=weights), rel=1e-12)
    parts = found.brier_parts
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(found.brier.value, rel=1e-12)
    for name in ("brier", "log_loss", "roc_area", "average_precision"):
        assert found[name]["low"] < found[name]["value"] < found[name]["high"]


def test_two_forecasts_are_compared_by_a_score_and_by_their_probabilities() -> None:
    random = np.random.default_rng(4)
    y = random.random(2000) < 0.2
    good = np.clip(0.2 + 0.4 * y + 0.15 * random.normal(size=2000), 0, 1)
    bad = np.clip(good + 0.3 * random.normal(size=2000), 0, 1)
    found = sw.compare(y, good, bad, "f1", threshold=(0.4, 0.45), names=("good", "bad"), replicates=100)
    assert (found.first.name, found.first.threshold, found.second.threshold, found.better) == ("good", 0.4, 0.45, "good")
    assert found.difference.value == pytest.approx(found.first.value - found.second.value)
    alone = sw.score(y, bad).probabilities
    for name in ("brier", "log_loss", "roc_area", "average_precision"):
        measure = found.probabilities[name]
        assert measure["second"]["value"] == alone[name]["value"]
        assert measure["difference"]["value"] == pytest.approx(measure["first"]["value"] - measure["second"]["value"])
    assert found.probabilities.brier.difference.high < 0 < found.probabilities.roc_area.difference.low
    assert sw.compare(y, good, bad.astype(np.float32), tuned=True, replicates=50).better == "first"
    with pytest.raises(ValueError):
        sw.compare(y, good, bad[:-1])


def test_a_time_series_is_scored_and_tuned_with_errors_weighted_by_their_timing() -> None:
    labels = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    probabilities = [0.1, 0.8, 0.4, 0.1, 0.1, 0.1, 0.1, 0.7, 0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.1, 0.2]
    stations = ["a"] * 8 + ["b"] * 8
    found = sw.score(labels, probabilities, 0.5, scores="csi", temporal="value", series=stations, replicates=50)
    # A false alarm one row before an event counts 1/2, and so does a missed event one row after an alarm. Isolated errors count 2.
    assert found["confusion"] == {"tn": 12, "fp": 2.5, "fn": 2.5, "tp": 0}
    assert found.temporal.sequences == 2 and "block" in found.resampled
    sweep = sw.temporal_sweep(labels, probabilities, series=stations)
    assert tuple(sweep.at(0.5)) == (12.0, 2.5, 2.5, 0.0)
    best = sweep.best("csi")
    assert best.interval == (0.2, 0.3) and best.value == pytest.approx(2 / 4.5)
    assert best.value == pytest.approx(max(sweep.at(step / 200).tp / (sum(sweep.at(step / 200)[1:]) or 1) for step in range(201)))
    assert sweep.bootstrap("csi", replicates=20, seed=1).replicates == 20
    with pytest.raises(ValueError, match="no threshold satisfies"):
        sweep.best("csi", subject_to="precision >= 0.99")
    with pytest.raises(ValueError, match="must be value, sum or maximum"):
        sw.temporal_sweep(labels, probabilities, "mean")
    with pytest.raises(ValueError, match="leave out series"):
        sw.score(labels, probabilities, series=stations)


def test_two_forecasts_are_compared_with_and_without_weights_of_errors() -> None:
    labels = np.arange(300) % 17 < 2
    good = np.where(labels, 0.8, 0.2) + 0.1 * np.sin(np.arange(300))
    early = np.roll(good, -1)
    plain = sw.compare(labels, good, early, "csi", names=("good", "early"), block="auto", replicates=200)
    assert plain.better == "good" and plain.first.value == pytest.approx(1.0)
    weighted = sw.compare(labels, good, early, "csi", names=("good", "early"), temporal="sum", replicates=200)
    # The weights of errors raise the score of the early forecast, because its false alarms come one row before an event.
    assert weighted.second.value > plain.second.value
    assert weighted.temporal.weighting == "sum:0.5,0.25,0.125"
    with pytest.raises(ValueError, match="leave out series"):
        sw.compare(labels, good, early, series=labels)
