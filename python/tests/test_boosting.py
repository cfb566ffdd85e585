"""Tests of the objectives and metrics for XGBoost and LightGBM: gradients, and training through both interfaces of each library."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import numpy.typing as npt
import pytest
import xgboost as xgb
from sklearn import base

import scorewise as sw
import scorewise.lightgbm
import scorewise.xgboost

Floats = npt.NDArray[np.float64]
LIBRARIES = [scorewise.xgboost, scorewise.lightgbm]
SCORES = ["f1", "csi", "tss", "mcc", "far", "frequency_bias", "tp/(tp + 2*fp + fn)"]
PRIORS = ["uniform", "cosine:0.5,0.5", "beta:2,5", "mix:0.05,cosine:0.5,0.1"]
TREE_PARAMETERS = {"max_depth": 3, "learning_rate": 0.2, "seed": 0}
XGBOOST = {"objective": "binary:logistic", "disable_default_eval_metric": True, "nthread": 1, **TREE_PARAMETERS}
LIGHTGBM = {"num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1, **TREE_PARAMETERS}


def rare_events(rows: int = 1500, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return features, labels, and weights; about one label in twelve is positive."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 4))
    probability = 1 / (1 + np.exp(-(2 * features[:, 0] + features[:, 1] ** 2 - 5)))
    return features, (random.random(rows) < probability).astype(float), random.uniform(0.2, 3, size=rows)


def margins_labels_and_weights(rows: int = 40, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Return random margins, labels and weights; margins of positive rows are higher on average."""
    random = np.random.default_rng(seed)
    labels = (random.random(rows) < 0.3).astype(float)
    return random.normal(size=rows) + labels - 0.5, labels, random.uniform(0.2, 3, size=rows)


@pytest.fixture(params=LIBRARIES, ids=["xgboost", "lightgbm"])
def library(request: pytest.FixtureRequest) -> Any:
    """Return `scorewise.xgboost` in the first run of a test, and `scorewise.lightgbm` in the second run."""
    return request.param


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("score", SCORES)
def test_gradient_is_the_number_of_rows_times_the_central_difference_of_the_loss(score: str, prior: str, weighted: bool) -> None:
    margins, labels, weights = margins_labels_and_weights()
    w = weights if weighted else None
    gradient, curvature = scorewise.xgboost.objective(score, prior)(labels, margins, w)
    step = 1e-5
    for row in range(len(margins)):
        ends = []
        for sign in (1, -1):
            moved = margins.copy()
            moved[row] += sign * step
            ends.append(sw.loss(labels, moved, score, prior, weights=w, from_logits=True))
        expected = (ends[0] - ends[1]) / (2 * step) * len(margins)
        assert gradient[row] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert (curvature > 0).all()
    assert (curvature >= np.abs(gradient)).all()


@pytest.mark.parametrize("prior", ["cosine:0.5,0.1", "uniform"])
def test_curvature_is_positive_where_the_gradient_is_zero(prior: str) -> None:
    margins = np.array([-800.0, -30.0, -3.0, 0.1, 3.0, 30.0, 800.0, -0.2])
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 0])
    gradient, curvature = scorewise.xgboost.objective("csi", prior)(labels, margins)
    assert np.isfinite(gradient).all() and np.isfinite(curvature).all()
    assert (curvature > 0).all()


def test_newton_step_of_a_single_row_is_at_most_one() -> None:
    margins, labels, _ = margins_labels_and_weights()
    gradient, curvature = scorewise.xgboost.objective("tss", "uniform")(labels, margins)
    assert np.abs(gradient / curvature).max() <= 1.0


def test_both_call_signatures_of_both_libraries_give_the_same_result() -> None:
    margins, labels, weights = margins_labels_and_weights()
    features = np.zeros((len(labels), 1))
    in_float32 = weights.astype(np.float32)
    expected = scorewise.xgboost.objective("csi", "uniform")(labels, margins, sample_weight=in_float32)
    matrix = xgb.DMatrix(features, labels, weight=weights)
    dataset = lgb.Dataset(features, labels, weight=weights, params=LIGHTGBM).construct()
    for result in (
        scorewise.xgboost.objective("csi", "uniform")(margins, matrix),
        scorewise.lightgbm.objective("csi", "uniform")(margins, dataset),
        scorewise.lightgbm.objective("csi", "uniform")(labels, margins, in_float32),
    ):
        np.testing.assert_allclose(result[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(result[1], expected[1], rtol=1e-12)


# A function that trains with one interface of one library. It takes features, labels, weights, score and prior, and returns the predicted margins.
TrainingFunction = Callable[[Floats, Floats, "Floats | None", str, str], Floats]


def train_xgboost_booster(x: Floats, y: Floats, w: Floats | None, score: str, prior: str) -> Floats:
    """Train with the function `xgboost.train`; return the predicted margins."""
    data = xgb.DMatrix(x, y, weight=w)
    base = float(sw.xgboost.probabilities(sw.xgboost.start(prior)))
    booster = xgb.train({**XGBOOST, "base_score": base}, data, 30, obj=sw.xgboost.objective(score, prior))
    return np.asarray(booster.predict(data, output_margin=True), dtype=float)


def fit_xgboost_classifier(x: Floats, y: Floats, w: Floats | None, score: str, prior: str) -> Floats:
    """Train with the class `XGBClassifier`; return the predicted margins."""
    base = float(sw.xgboost.probabilities(sw.xgboost.start(prior)))
    model = xgb.XGBClassifier(
        objective=sw.xgboost.objective(score, prior), base_score=base, n_estimators=30, n_jobs=1, max_depth=3, learning_rate=0.2
    )
    model.fit(x, y, sample_weight=w)
    return np.asarray(model.predict(x, output_margin=True), dtype=float)


def train_lightgbm_booster(x: Floats, y: Floats, w: Floats | None, score: str, prior: str) -> Floats:
    """Train with the function `lightgbm.train`; return the predicted margins."""
    start = sw.lightgbm.start(prior)
    data = lgb.Dataset(x, y, weight=w, init_score=np.full(len(y), start), params=LIGHTGBM)
    booster = lgb.train({**LIGHTGBM, "objective": sw.lightgbm.objective(score, prior)}, data, 30)
    return np.asarray(booster.predict(x)) + start


def fit_lightgbm_classifier(x: Floats, y: Floats, w: Floats | None, score: str, prior: str) -> Floats:
    """Train with the class `LGBMClassifier`; return the predicted margins."""
    start = sw.lightgbm.start(prior)
    model = lgb.LGBMClassifier(objective=sw.lightgbm.objective(score, prior), n_estimators=30, **LIGHTGBM)
    model.fit(x, y, sample_weight=w, init_score=np.full(len(y), start))
    return np.asarray(model.predict(x, raw_score=True)) + start


TRAINING_FUNCTIONS = [train_xgboost_booster, fit_xgboost_classifier, train_lightgbm_booster, fit_lightgbm_classifier]


@pytest.mark.parametrize("prior", ["cosine:0.5,0.1", "cosine:0.3,0.1", "uniform"])
@pytest.mark.parametrize("score", ["csi", "tss"])
@pytest.mark.parametrize("training", TRAINING_FUNCTIONS)
def test_training_lowers_the_loss(training: TrainingFunction, score: str, prior: str) -> None:
    x, y, _ = rare_events()
    before = sw.loss(y, np.full(len(y), sw.xgboost.start(prior)), score, prior, from_logits=True)
    margins = training(x, y, None, score, prior)
    after = sw.loss(y, margins, score, prior, from_logits=True)
    assert after < before - 0.25
    best = sw.sweep(y, sw.xgboost.probabilities(margins)).best(score).value
    mean = float(sw.xgboost.probabilities(sw.xgboost.start(prior)))
    at_mean = sw.score(y, sw.xgboost.probabilities(margins), mean, scores=score, replicates=1).scores[score]["value"]
    assert at_mean > best - 0.1, "the score at the mean of the prior must be close to the best score"


@pytest.mark.parametrize("training", TRAINING_FUNCTIONS)
def test_training_with_weights_lowers_the_weighted_loss(training: TrainingFunction) -> None:
    x, y, _ = rare_events()
    weights = np.where(x[:, 2] > 0, 10.0, 0.1)
    unweighted = training(x, y, None, "csi", "cosine:0.5,0.5")
    weighted = training(x, y, weights, "csi", "cosine:0.5,0.5")
    loss = [sw.loss(y, z, "csi", "cosine:0.5,0.5", weights=weights, from_logits=True) for z in (unweighted, weighted)]
    assert loss[1] < loss[0]


@pytest.mark.parametrize("training", TRAINING_FUNCTIONS)
def test_rows_of_weight_zero_are_ignored(training: TrainingFunction) -> None:
    x, y, _ = rare_events()
    kept = np.arange(len(y)) % 2 == 0
    with_wrong_labels = np.where(kept, y, 1 - y)
    margins = training(x, with_wrong_labels, kept.astype(float), "csi", "cosine:0.5,0.5")
    before = sw.loss(y[kept], np.zeros(kept.sum()), "csi", "cosine:0.5,0.5", from_logits=True)
    assert sw.loss(y[kept], margins[kept], "csi", "cosine:0.5,0.5", from_logits=True) < before - 0.25


@pytest.mark.parametrize("training", TRAINING_FUNCTIONS)
def test_same_seed_gives_the_same_margins(training: TrainingFunction) -> None:
    x, y, w = rare_events(400)
    np.testing.assert_array_equal(training(x, y, w, "f1", "cosine:0.5,0.5"), training(x, y, w, "f1", "cosine:0.5,0.5"))


@pytest.mark.parametrize("threshold", [0.5, 0.2])
@pytest.mark.parametrize("score", ["f1", "tss", "far", "tp/(tp + 2*fp + fn)"])
def test_metric_equals_the_score(library: Any, score: str, threshold: float) -> None:
    margins, labels, weights = margins_labels_and_weights()
    p = library.probabilities(margins)
    expected = sw.score(labels, p, threshold, scores=score, weights=weights, replicates=1)
    (value,) = (result["value"] for result in expected.scores.values())
    for metric, predictions in ((library.metric(score, threshold), margins), (library.metric(score, threshold, margins=False), p)):
        assert metric.value(labels, predictions, weights) == pytest.approx(value, rel=1e-14)
        assert metric.higher_is_better is (score != "far")


def test_a_metric_returns_what_each_interface_of_each_library_expects() -> None:
    margins, labels, _ = margins_labels_and_weights()
    features = np.zeros((len(labels), 1))
    value = sw.xgboost.metric("csi").value(labels, margins)
    assert sw.xgboost.metric("csi")(labels, margins) == value
    assert sw.xgboost.metric("csi")(margins, xgb.DMatrix(features, labels)) == ("csi", value)
    dataset = lgb.Dataset(features, labels, params=LIGHTGBM).construct()
    assert sw.lightgbm.metric("csi")(labels, margins) == ("csi", value, True)
    assert sw.lightgbm.metric("csi")(margins, dataset) == ("csi", value, True)
    assert sw.lightgbm.metric("far")(labels, margins)[2] is False


def test_metric_of_a_score_with_a_finite_ideal_value_is_the_distance_from_that_value(library: Any) -> None:
    labels, margins = [1, 1, 1, 0], [1.0, -1.0, -1.0, -1.0]
    metric = library.metric("frequency_bias")
    assert metric.value(labels, margins) == pytest.approx(1 - 1 / 3)
    assert metric.higher_is_better is False
    assert metric.__name__ == "|frequency_bias-1|"


def test_metric_of_an_undefined_score_is_zero_or_the_given_value(library: Any) -> None:
    labels, margins = [0, 1, 0], [-1.0, -1.0, -1.0]  # no row is predicted positive, so the precision is undefined
    assert library.metric("precision").value(labels, margins) == 0.0
    assert np.isnan(library.metric("precision", undefined=float("nan")).value(labels, margins))


def test_xgboost_stops_early_at_the_highest_score() -> None:
    x, y, _ = rare_events(3000)
    train, validation = xgb.DMatrix(x[:1500], y[:1500]), xgb.DMatrix(x[1500:], y[1500:])
    metric = sw.xgboost.metric("csi")
    log: dict[str, Any] = {}
    booster = xgb.train(
        XGBOOST, train, 60, obj=sw.xgboost.objective("csi"), custom_metric=metric, evals=[(validation, "validation")],
        evals_result=log, verbose_eval=False, callbacks=[metric.early_stopping(10)],
    )  # fmt: skip
    assert booster.best_score == pytest.approx(max(log["validation"]["csi"]), abs=1e-5)
    expected = sw.score(y[1500:], booster.predict(validation), scores="csi", replicates=1).scores["csi"]["value"]
    assert booster.best_score == pytest.approx(expected, abs=1e-5)


def test_xgboost_classifier_uses_metric_and_weights_and_predicts_with_threshold_one_half() -> None:
    x, y, w = rare_events(3000)
    metric = sw.xgboost.metric("tp/(tp + 2*fp + fn)")
    model = xgb.XGBClassifier(
        objective=sw.xgboost.objective("csi"), eval_metric=metric, n_estimators=20, n_jobs=1, callbacks=[metric.early_stopping(5)]
    )
    model.fit(x[:1500], y[:1500], eval_set=[(x[1500:], y[1500:])], sample_weight_eval_set=[w[1500:]], verbose=False)
    p = model.predict_proba(x[1500:])[:, 1]
    np.testing.assert_array_equal(model.predict(x[1500:]), p > 0.5)
    log = model.evals_result()["validation_0"][metric.__name__]
    expected = sw.xgboost.metric("tp/(tp + 2*fp + fn)", margins=False).value(y[1500:], p, w[1500:])
    assert max(log) == pytest.approx(expected, abs=1e-5)


def test_lightgbm_stops_early_at_the_highest_score() -> None:
    x, y, w = rare_events(3000)
    train = lgb.Dataset(x[:1500], y[:1500], params=LIGHTGBM)
    validation = lgb.Dataset(x[1500:], y[1500:], weight=w[1500:], reference=train)
    log: dict[str, Any] = {}
    booster = lgb.train(
        {**LIGHTGBM, "objective": sw.lightgbm.objective("csi")}, train, 60, valid_sets=[validation], valid_names=["validation"],
        feval=sw.lightgbm.metric("csi"), callbacks=[lgb.early_stopping(10, verbose=False), lgb.record_evaluation(log)],
    )  # fmt: skip
    p = sw.lightgbm.probabilities(booster.predict(x[1500:]))
    expected = sw.score(y[1500:], p, scores="csi", weights=w[1500:].astype(np.float32), replicates=1).scores["csi"]["value"]
    assert max(log["validation"]["csi"]) == pytest.approx(expected, rel=1e-6)


# LightGBM 4.7 deprecates eval_set in favour of eval_X, which older versions do not have, so the warning is ignored.
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_lightgbm_classifier_uses_the_metric() -> None:
    x, y, _ = rare_events(3000)
    model = lgb.LGBMClassifier(objective=sw.lightgbm.objective("csi"), n_estimators=20, **LIGHTGBM)
    model.fit(x[:1500], y[:1500], eval_set=[(x[1500:], y[1500:])], eval_metric=sw.lightgbm.metric("csi"))
    p = sw.lightgbm.probabilities(model.predict(x[1500:], raw_score=True))
    expected = sw.score(y[1500:], p, scores="csi", replicates=1).scores["csi"]["value"]
    (log,) = model.evals_result_.values()
    assert log["csi"][-1] == pytest.approx(expected, rel=1e-12)


def test_metric_accepts_probabilities_with_a_built_in_objective() -> None:
    x, y, _ = rare_events()
    log: dict[str, Any] = {}
    data = xgb.DMatrix(x, y)
    metric = sw.xgboost.metric("csi", margins=False)
    booster = xgb.train(XGBOOST, data, 5, custom_metric=metric, evals=[(data, "train")], evals_result=log, verbose_eval=False)
    expected = sw.score(y, booster.predict(data), scores="csi", replicates=1).scores["csi"]["value"]
    assert log["train"]["csi"][-1] == pytest.approx(expected, abs=1e-5)
    dataset = lgb.Dataset(x, y, params=LIGHTGBM)
    parameters = {**LIGHTGBM, "objective": "binary", "metric": "None"}
    forest = lgb.train(
        parameters, dataset, 5, valid_sets=[dataset], feval=sw.lightgbm.metric("csi", margins=False), callbacks=[lgb.record_evaluation(log)]
    )
    expected = sw.score(y, forest.predict(x), scores="csi", replicates=1).scores["csi"]["value"]
    assert log["training"]["csi"][-1] == pytest.approx(expected, rel=1e-12)


def test_function_start_returns_the_logit_of_the_prior_mean_and_function_probabilities_converts_margins(library: Any) -> None:
    assert library.start("cosine:0.3,0.1") == pytest.approx(np.log(0.3 / 0.7))
    assert library.start("uniform") == 0.0
    assert library.probabilities(library.start("beta:2,5")) == pytest.approx(2 / 7)
    assert library.probabilities([0.0], library.start("beta:2,5")) == pytest.approx([2 / 7])
    assert library.probabilities([-800.0, -40.0, 0.0, 800.0]) == pytest.approx([0.0, np.exp(-40.0), 0.5, 1.0], rel=1e-12)


def test_first_prediction_outside_the_support_raises_an_error_with_a_hint() -> None:
    x, y, _ = rare_events(200)
    with pytest.raises(ValueError, match=r'0\.6225, lies outside the support \[0\.4, 0\.6\] of the prior cosine:0\.5,0\.1.*"base_score": 0\.5'):
        # Without the objective binary:logistic, XGBoost starts from a margin of 0.5.
        xgb.train({"nthread": 1}, xgb.DMatrix(x, y), 2, obj=sw.xgboost.objective("csi", "cosine:0.5,0.1"))
    with pytest.raises(ValueError, match=r"0\.5, lies outside .* of the prior cosine:0\.3,0\.1.*init_score=np\.full\(n_rows, -0\.847298\)"):
        lgb.train({**LIGHTGBM, "objective": sw.lightgbm.objective("csi", "cosine:0.3,0.1")}, lgb.Dataset(x, y), 2)


def test_more_than_two_classes_are_refused() -> None:
    x, _, _ = rare_events(90)
    classes = np.arange(90) % 3
    message = "support two classes, 0 and 1, not 3: train one model for each class against the rest"
    with pytest.raises(ValueError, match=message):
        xgb.XGBClassifier(objective=sw.xgboost.objective("csi"), n_estimators=2, n_jobs=1).fit(x, classes)
    with pytest.raises(ValueError, match=message):
        lgb.LGBMClassifier(objective=sw.lightgbm.objective("csi"), n_estimators=2, **LIGHTGBM).fit(x, classes)
    with pytest.raises(ValueError, match=message):
        sw.xgboost.metric("csi")(classes, np.zeros((90, 3)))
    with pytest.raises(ValueError, match="labels must be 0 and 1"):
        sw.xgboost.objective("csi")(classes, np.zeros(90))


def test_unknown_names_and_numbers_out_of_range_raise_an_error(library: Any) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        library.objective("nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        library.objective("csi", "nonsense")
    with pytest.raises(ValueError, match="floor must be above 0 and at most 1, not 0"):
        library.objective("csi", floor=0)
    with pytest.raises(ValueError, match="threshold must be between 0 and 1, not 1.5"):
        library.metric("csi", 1.5)
    with pytest.raises(ValueError, match="rows"):
        library.objective("csi")([0, 1, 0], [0.1, 0.2])
    with pytest.raises(ValueError, match="row 0: not a number"):
        library.objective("csi")([0, 1], [np.nan, 0.2])


def test_objective_and_metric_can_be_pickled_and_copied(library: Any) -> None:
    margins, labels, _ = margins_labels_and_weights()
    objective, metric = library.objective("peirce", "cosine:0.5,0.3", floor=0.1), library.metric("csi", 0.4)
    for again in (pickle.loads(pickle.dumps(objective)), copy.deepcopy(objective)):
        assert repr(again) == repr(objective)
        np.testing.assert_array_equal(again(labels, margins)[0], objective(labels, margins)[0])
    again = pickle.loads(pickle.dumps(metric))
    assert (repr(again), again.__name__) == (repr(metric), metric.__name__)
    assert again(labels, margins) == metric(labels, margins)


def test_repr_is_the_call_that_makes_the_object(library: Any) -> None:
    name = library.__name__
    assert repr(library.objective("peirce", "cosine:0.5,0.3", floor=0.1)) == f"{name}.objective('tss', 'cosine:0.5,0.3', floor=0.1)"
    assert repr(library.metric("csi", 0.4)) == f"{name}.metric('csi', threshold=0.4)"
    assert repr(library.metric("csi", margins=False, undefined=-1)) == f"{name}.metric('csi', threshold=0.5, margins=False, undefined=-1)"


def test_fitted_classifiers_can_be_pickled_and_cloned() -> None:
    x, y, _ = rare_events(300)
    for model, raw in (
        (xgb.XGBClassifier(objective=sw.xgboost.objective("csi"), n_estimators=3, n_jobs=1), {"output_margin": True}),
        (lgb.LGBMClassifier(objective=sw.lightgbm.objective("csi"), n_estimators=3, **LIGHTGBM), {"raw_score": True}),
    ):
        fitted = base.clone(model).fit(x, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(x, **raw), fitted.predict(x, **raw))


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_import_without_the_library_says_how_to_install_it(name: str) -> None:
    program = f"""
import json, sys
sys.modules[{name!r}] = None
try:
    import scorewise.{name}
except ImportError as error:
    print(json.dumps(str(error)))
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=pathlib.Path(__file__).parent)
    assert json.loads(process.stdout) == f'{name} is not installed; install it with: pip install "scorewise[{name}]"'
