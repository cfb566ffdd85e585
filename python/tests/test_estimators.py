"""Tests that the estimators follow the conventions of scikit-learn, accept data frames of pandas and other libraries, and find the best threshold."""

import csv
import datetime
import decimal
import doctest
import gzip
import json
import math
import pathlib
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedStratifiedKFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import scorewise as sw
from scorewise import _classifier, _measures, _scorewise, _threshold
from scorewise._arrays import columns

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Checks of scikit-learn that `ScoreClassifier` cannot pass, each with the reason.
CLASSIFIER_FAILS = {
    "check_sample_weight_equivalence_on_dense_data": "of two equal rows, one may be used for training and the other for validation, "
    "but a single row of weight 2 is used for only one of the two; rows of weight 0 do not change the model",
}
PROBABILITY_THRESHOLD_FAILS = {
    "check_classifiers_train": "the check requires that the predicted class has the greatest probability, but this estimator uses a threshold "
    "other than 1/2; with decision_function the same check passes",
}
ESTIMATORS = [
    (sw.ScoreClassifier(), CLASSIFIER_FAILS),
    (sw.ScoreClassifier(epochs=60), CLASSIFIER_FAILS),
    (sw.ScoreClassifier(recipe="strong", ensemble=2, epochs=200), CLASSIFIER_FAILS),
    (sw.ScoreThreshold(LogisticRegression()), PROBABILITY_THRESHOLD_FAILS),
    (sw.ScoreThreshold(LinearSVC(), "tss"), {}),
    (sw.ScoreThreshold(LogisticRegression(), smooth=0.2), PROBABILITY_THRESHOLD_FAILS),
]


@pytest.mark.parametrize("estimator, expected_failures", ESTIMATORS, ids=lambda value: type(value).__name__)
def test_scikit_learn_checks_pass_except_the_expected_failures(estimator, expected_failures):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected_failures, on_skip=None, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 50
    # If a check that is expected to fail passes, this assertion fails, as a reminder to remove the check from the expected failures.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected_failures)


def rare_events(n_rows=4000, seed=0, share=0.06):
    """Return features and labels of rare events that are hard to predict."""
    return make_classification(
        n_rows, n_features=8, n_informative=4, weights=[1 - share], class_sep=0.9, flip_y=0.02, random_state=seed
    )


def mixed_columns(n_rows=800, seed=0):
    """Return columns of several types, some with missing values, and labels that depend on all columns."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    whole = rng.integers(0, 10, n_rows)
    place = rng.choice(["coast", "hill", "plain"], n_rows)
    flag = rng.random(n_rows) < 0.5
    time = np.datetime64("2024-01-01T00") + rng.integers(0, 24 * 360, n_rows).astype("timedelta64[h]")
    hour = time.astype("datetime64[h]").astype(int) % 24
    strength = number + 0.3 * (whole - 5) + 1.5 * (place == "coast") + flag - 1 + np.cos(hour * np.pi / 12)
    y = (strength + rng.normal(size=n_rows) > 2).astype(int)
    missing = rng.random((2, n_rows)) < 0.1
    data = {
        "number": number.tolist(),
        "whole": [None if gone else int(value) for value, gone in zip(whole, missing[0])],
        "place": [None if gone else str(value) for value, gone in zip(place, missing[1])],
        "flag": flag.tolist(),
        "time": time.astype("datetime64[us]").tolist(),
    }
    return data, y


FRAMES = {
    "pandas": pandas.DataFrame,
    "pandas, categories": lambda data: pandas.DataFrame(data).astype({"place": "category", "whole": "Int64", "flag": "boolean"}),
    "polars": polars.DataFrame,
    "polars, categories": lambda data: polars.DataFrame(data).with_columns(polars.col("place").cast(polars.Categorical)),
    "pyarrow": pyarrow.table,
    "pyarrow, categories": lambda data: pyarrow.table({**data, "place": pyarrow.array(data["place"]).dictionary_encode()}),
    "pyarrow, record batch": lambda data: pyarrow.table(data).to_batches()[0],
}


@pytest.fixture(scope="module")
def fitted_classifier():
    """Return a classifier that was trained on the table that `mixed_columns` returns."""
    data, y = mixed_columns()
    return sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(pandas.DataFrame(data), y)


@pytest.mark.parametrize("frame", FRAMES)
def test_data_frames_of_every_library_give_the_same_model(fitted_classifier, frame):
    data, y = mixed_columns()
    X = FRAMES[frame](data)
    model = sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(X, y)
    assert model.model_bytes_ == fitted_classifier.model_bytes_
    assert model.feature_names_in_.tolist() == list(data)
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.predict_proba(X), fitted_classifier.predict_proba(pandas.DataFrame(data)))
    other_data, other_labels = mixed_columns(seed=1)
    assert model.score(FRAMES[frame](other_data), other_labels) > 0.45


def test_label_arrays_and_series_of_every_library_give_the_same_model(fitted_classifier):
    data, y = mixed_columns()
    X = polars.DataFrame(data)
    for labels in (polars.Series(y), pandas.Series(y, index=np.arange(len(y)) + 7), pyarrow.chunked_array([y]), y.tolist()):
        assert sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(X, labels).model_bytes_ == fitted_classifier.model_bytes_


def test_categories_unseen_in_training_are_encoded_as_other(fitted_classifier):
    data, _ = mixed_columns(60, seed=2)
    known = fitted_classifier.predict_proba(pandas.DataFrame(data))
    data["place"] = ["the moon"] * 60
    unseen = fitted_classifier.predict_proba(pandas.DataFrame(data))
    assert np.isfinite(unseen).all()
    assert not np.array_equal(known, unseen)


def test_none_nan_and_pandas_na_are_the_same_missing_value(fitted_classifier):
    data, _ = mixed_columns(50, seed=3)
    predictions = []
    for missing in (None, float("nan"), pandas.NA):
        X = pandas.DataFrame(data).astype({"whole": object, "place": object})
        X.loc[:, "whole"] = missing
        X.loc[:, "place"] = missing
        predictions.append(fitted_classifier.predict_proba(X))
    np.testing.assert_array_equal(predictions[0], predictions[1])
    np.testing.assert_array_equal(predictions[0], predictions[2])


def test_object_array_and_list_of_rows_are_accepted_as_tables():
    data, y = mixed_columns(300)
    rows = [list(row) for row in zip(data["number"], data["whole"], data["place"])]
    from_list = sw.ScoreClassifier(epochs=20).fit(rows, y)
    from_array = sw.ScoreClassifier(epochs=20).fit(np.array(rows, dtype=object), y)
    assert from_list.model_bytes_ == from_array.model_bytes_
    kinds = [entry["kind"] for entry in json.loads(from_list._model.description())["encoder"]["inputs"]]
    assert kinds == ["number", "number", "category"]


def test_decimals_dates_durations_and_nullable_columns_are_converted():
    dates = [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)]
    table = pandas.DataFrame(
        {
            "decimal": [decimal.Decimal("1.5"), None, decimal.Decimal("2")],
            "nullable boolean": pandas.Series([True, None, False], dtype="boolean"),
            "numeric categories": pandas.Categorical([3, None, 10]),
            "day": pandas.Series(dates, dtype=object),
            "with time zone": pandas.Series(pandas.to_datetime(dates)).dt.tz_localize("America/Lima"),
            "duration": pandas.to_timedelta([1, None, 2], unit="min"),
        }
    )
    converted = dict(columns(table))
    np.testing.assert_array_equal(converted["decimal"], [1.5, np.nan, 2])
    assert converted["nullable boolean"].dtype == np.int8
    np.testing.assert_array_equal(converted["nullable boolean"], [1, -1, 0])
    codes, levels = converted["numeric categories"]
    assert codes.tolist() == [1, 2**32 - 1, 0] and levels == ["10", "3"]
    first, missing, second = converted["day"].tolist()
    assert (first, second - first, missing) == (1704067200, 86400, -(2**63))
    assert converted["with time zone"].tolist() == [first + 5 * 3600, missing, second + 5 * 3600]
    np.testing.assert_array_equal(converted["duration"], [60, np.nan, 120])
    arrow = dict(columns(pyarrow.table({"day": dates, "decimal": table["decimal"].tolist()})))
    np.testing.assert_array_equal(arrow["day"], converted["day"])
    np.testing.assert_array_equal(arrow["decimal"], converted["decimal"])


def test_classifier_can_be_trained_on_an_array_with_nan():
    X, y = rare_events(1500)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = sw.ScoreClassifier(epochs=60).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.3


def test_predict_agrees_with_predict_proba_and_decision_function():
    X, y = rare_events()
    model = sw.ScoreClassifier("csi", epochs=40).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), (p[:, 1] > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    # A row whose prediction equals the threshold is negative.
    raw = model.raw_predictions(X)
    at_threshold = sw.ScoreClassifier("csi", epochs=40, threshold=float(raw[7])).fit(X, y)
    assert at_threshold.raw_threshold_ == raw[7] and at_threshold.threshold_ == at_threshold.predict_proba(X)[7, 1] and at_threshold.predict(X)[7] == 0 and at_threshold.decision_function(X)[7] == 0


def test_second_class_in_sorted_order_is_the_positive_class():
    X, y = rare_events(1000)
    numbers = sw.ScoreClassifier(epochs=30).fit(X, y)
    for labels in (np.where(y == 1, "storm", "calm"), y == 1, np.where(y == 1, 10, 2), np.where(y == 1, 3.0, -1.0)):
        model = sw.ScoreClassifier(epochs=30).fit(X, labels)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        np.testing.assert_array_equal(model.predict_proba(X), numbers.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X) == model.classes_[1], numbers.predict(X) == 1)
        assert model.score(X, labels) == numbers.score(X, y)


@pytest.mark.parametrize("multiclass", ["simplex", "one-versus-rest"])
def test_more_than_two_numeric_classes_are_sorted_as_numbers(multiclass):
    # The classes are sorted as numbers; as strings, they would be sorted as "10", "2", "7".
    X, y = make_blobs(600, centers=3, cluster_std=1.0, random_state=3)
    labels = np.array([2, 7, 10])[y]
    model = sw.ScoreClassifier("f1", multiclass=multiclass, epochs=150).fit(X, labels)
    assert model.classes_.tolist() == [2, 7, 10]
    p = model.predict_proba(X)
    assert p.shape == (600, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert accuracy_score(labels, model.predict(X)) > 0.9
    assert model.score(X, labels) == pytest.approx(f1_score(labels, model.predict(X), average="macro"), rel=1e-12)
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    assert model.threshold_ is None and 0.5 < model.best_score_ <= 1
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))


def test_predicted_class_has_the_greatest_decision_value_if_class_probabilities_are_multiplied_by_tuned_factors():
    # As strings, the classes of the model are sorted as "10", "2", "7". The rare class 10 overlaps with the class 2.
    X, y = make_blobs([500, 500, 60], centers=[[0, 0], [6, 0], [1.5, 0]], cluster_std=1.0, random_state=3)
    labels = np.array([2, 7, 10])[y]
    model = sw.ScoreClassifier("f1", threshold="tuned", epochs=20, ensemble=1).fit(X, labels)
    predicted = model.predict(X)
    assert (predicted != model.classes_[model.predict_proba(X).argmax(axis=1)]).any(), "the tuned factors must change some predictions"
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], predicted)


def test_fit_sets_the_learned_attributes():
    X, y = rare_events()
    model = sw.ScoreClassifier("f1", recipe="paper", epochs=12, patience=12).fit(X, y)
    assert model.n_iter_ == 12 == len(model.loss_curve_) == len(model.validation_curve_)
    assert np.isfinite(model.loss_curve_).all() and model.loss_curve_[-1] < model.loss_curve_[0]
    assert 0 < model.best_score_ <= 1 and 0 <= model.threshold_ <= 1
    assert isinstance(model.notes_, list) and isinstance(model.model_bytes_, bytes)
    assert not hasattr(model, "feature_names_in_")
    ensemble = sw.ScoreClassifier("f1", recipe="paper", epochs=12, ensemble=3).fit(X, y)
    assert ensemble.loss_curve_.shape == (ensemble.n_iter_, 3)
    cross_fitted = sw.ScoreClassifier("f1", epochs=4, cross_fit=4, ensemble=2).fit(X, y)
    assert cross_fitted.loss_curve_.shape[1] == 8
    pretrained = sw.ScoreClassifier("f1", recipe="paper", epochs=12, patience=12, cross_entropy_first=True).fit(X, y)
    assert pretrained.n_iter_ == 24 and len(pretrained.loss_curve_) == 12


def test_fixed_threshold_is_used_and_its_score_on_the_validation_rows_is_stored():
    X, y = rare_events()
    tuned = sw.ScoreClassifier("f1", epochs=20).fit(X, y)
    fixed = sw.ScoreClassifier("f1", epochs=20, threshold=tuned.raw_threshold_).fit(X, y)
    assert fixed.threshold_ == tuned.threshold_ and fixed.raw_threshold_ == tuned.raw_threshold_ and fixed.best_score_ == tuned.best_score_
    centre = sw.ScoreClassifier("f1", "cosine:0.3,0.1", epochs=20, threshold="centre").fit(X, y)
    assert centre.raw_threshold_ == pytest.approx(0.3) and centre.best_score_ > 0


def test_score_is_both_a_parameter_and_a_method():
    X, y = rare_events(1000)
    model = sw.ScoreClassifier("f1", epochs=30)
    assert model.score == "f1" and model.get_params()["score"] == "f1" and "score" not in repr(model)
    assert repr(sw.ScoreClassifier("tss")) == "ScoreClassifier(score='tss')"
    model.set_params(score="tss").fit(X, y)
    tn, fp, fn, tp = confusion_matrix(y, model.predict(X)).ravel()
    assert model.score(X, y) == pytest.approx(tp / (tp + fn) - fp / (fp + tn), abs=1e-12)
    assert clone(model).get_params() == model.get_params()
    weights = np.random.default_rng(0).random(len(y))
    tn, fp, fn, tp = confusion_matrix(y, model.predict(X), sample_weight=weights).ravel()
    assert model.score(X, y, sample_weight=weights) == pytest.approx(tp / (tp + fn) - fp / (fp + tn), abs=1e-12)


def test_score_method_returns_more_for_better_models_even_if_the_score_is_to_be_minimised():
    X, y = rare_events(1000)
    model = sw.ScoreThreshold(GaussianNB(), "f1").fit(X, y)
    tn, fp, fn, tp = confusion_matrix(y, model.predict(X)).ravel()
    assert model.set_params(score="far").score(X, y) == pytest.approx(-fp / (tp + fp))
    assert model.set_params(score="frequency_bias").score(X, y) == pytest.approx(-abs((tp + fp) / (tp + fn) - 1))
    assert math.isnan(model.set_params(score="recall").score(X, np.zeros(len(y), dtype=int)))


def test_weights_change_the_model_and_rows_of_weight_zero_are_ignored():
    X, y = rare_events(1500)
    plain = sw.ScoreClassifier("f1", epochs=20).fit(X, y)
    ones = sw.ScoreClassifier("f1", epochs=20).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(ones.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    heavy = sw.ScoreClassifier("f1", epochs=20).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    assert not np.allclose(heavy.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    kept = np.arange(len(y)) % 3 != 0
    noise, wrong = np.where(kept[:, None], X, 1e3), np.where(kept, y, 1 - y)
    masked = sw.ScoreClassifier("f1", epochs=20).fit(noise, wrong, sample_weight=kept.astype(float))
    alone = sw.ScoreClassifier("f1", epochs=20).fit(X[kept], y[kept], sample_weight=np.ones(kept.sum()))
    assert masked.model_bytes_ == alone.model_bytes_


def test_same_seed_gives_the_same_model_bytes_for_any_number_of_threads():
    X, y = rare_events(1500)
    settings = dict(epochs=15, ensemble=3)
    models = {sw.ScoreClassifier("f1", random_state=5, n_jobs=jobs, **settings).fit(X, y).model_bytes_ for jobs in (None, 1, 2, -1)}
    assert len(models) == 1
    assert sw.ScoreClassifier("f1", random_state=6, **settings).fit(X, y).model_bytes_ not in models
    from_random_state = [sw.ScoreClassifier(random_state=np.random.RandomState(1), epochs=5).fit(X, y).model_bytes_ for _ in range(2)]
    assert from_random_state[0] == from_random_state[1]
    assert sw.ScoreClassifier(random_state=None, epochs=5).fit(X, y).model_bytes_ not in from_random_state


def test_model_can_be_pickled_dumped_by_joblib_and_cloned(tmp_path):
    X, y = rare_events(1000)
    model = sw.ScoreClassifier("f1", epochs=10).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert copy.model_bytes_ == model.model_bytes_ and copy.threshold_ == model.threshold_
    unfitted = clone(model)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)
    assert pickle.loads(pickle.dumps(unfitted)).get_params() == model.get_params()
    threshold = sw.ScoreThreshold(model, "f1", cv="prefit").fit(X, y)
    restored = pickle.loads(pickle.dumps(threshold))
    np.testing.assert_array_equal(restored.predict(X), threshold.predict(X))


def test_pipelines_grid_search_and_cross_validation_work():
    X, y = rare_events(1200)
    pipeline = make_pipeline(StandardScaler(), sw.ScoreClassifier("f1", epochs=20))
    assert np.mean(cross_val_score(pipeline, X, y, cv=3)) > 0.3
    grid = {"scoreclassifier__score": ["f1", "csi"], "scoreclassifier__hidden": [(), (8,)]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1", n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.3 and search.predict(X).shape == y.shape
    # Without the argument `scoring`, the grid search uses the score of the estimator.
    default = GridSearchCV(sw.ScoreThreshold(LogisticRegression(), "f1"), {"estimator__C": [0.01, 1.0]}, cv=3).fit(X, y)
    explicit = GridSearchCV(sw.ScoreThreshold(LogisticRegression(), "f1"), {"estimator__C": [0.01, 1.0]}, cv=3, scoring="f1").fit(X, y)
    np.testing.assert_allclose(default.cv_results_["mean_test_score"], explicit.cv_results_["mean_test_score"])
    threshold = sw.ScoreThreshold(pipeline, "f1", cv=3).fit(X, y)
    assert f1_score(y, threshold.predict(X)) > 0.3


def test_metadata_routing_requests_decide_which_arguments_of_fit_are_passed_on():
    X, y = rare_events(800)
    weights = np.random.default_rng(0).random(len(y)) + 0.1
    plain = sw.ScoreThreshold(LogisticRegression(), cv=3).fit(X, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = sw.ScoreThreshold(inner, cv=3).fit(X, y, sample_weight=weights)
        groups = sw.ScoreThreshold(inner, cv=GroupKFold(3)).fit(X, y, groups=np.arange(len(y)) % 7, sample_weight=weights)
        classifier = sw.ScoreClassifier(epochs=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        assert np.isfinite(cross_val_score(classifier, X, y, cv=3, params={"sample_weight": weights})).all()
    assert routed.threshold_ == plain.threshold_
    assert 0 < groups.threshold_ < 1


def best_f1_by_brute_force(y, p, weights=None, condition=lambda tn, fp, fn, tp: True):
    """Try all predictions and the midpoints between them as thresholds; return the best F1 and the thresholds that reach it."""
    levels = np.unique(np.concatenate([p, [0.0, 1.0]]))
    values = {}
    for threshold in np.concatenate([levels, (levels[:-1] + levels[1:]) / 2]):
        counts = confusion_matrix(y, (p > threshold).astype(int), labels=[0, 1], sample_weight=weights).ravel()
        tn, fp, fn, tp = counts
        if tp + fp + fn > 0 and condition(*counts):
            values[threshold] = 2 * tp / (2 * tp + fp + fn)
    best = max(values.values())
    return best, [threshold for threshold, value in values.items() if value >= best - 1e-12]


@pytest.mark.parametrize("weighted", [False, True])
def test_threshold_equals_the_result_of_an_exhaustive_search(weighted):
    X, y = rare_events(300, share=0.2)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = sw.ScoreThreshold(GaussianNB(), "f1", cv=4).fit(X, y, sample_weight=weights)
    params = None if weights is None else {"sample_weight": weights}
    p = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba", params=params)[:, 1]
    best, thresholds = best_f1_by_brute_force(y, p, weights)
    assert model.best_score_ == pytest.approx(best, abs=1e-12)
    low, high = model.interval_
    assert low <= model.threshold_ < high and any(low <= threshold < high for threshold in thresholds)
    tn, fp, fn, tp = confusion_matrix(y, (p > model.threshold_).astype(int), sample_weight=weights).ravel()
    assert model.confusion_ == (tn, fp, fn, tp)
    assert model.classes_.tolist() == [0, 1] and model.n_features_in_ == 8 and model.method_ == "predict_proba"
    np.testing.assert_array_equal(model.predict_proba(X), GaussianNB().fit(X, y, sample_weight=weights).predict_proba(X))


def test_threshold_on_large_decision_function_values_equals_the_result_of_an_exhaustive_search():
    X, y = rare_events(400, share=0.15)
    X = X * 1e4  # the sigmoid of such large values would be exactly 0 or 1
    model = sw.ScoreThreshold(LinearSVC(dual=False, C=1e-12), "f1", cv=4).fit(X, y)
    decision = cross_val_predict(LinearSVC(dual=False, C=1e-12), X, y, cv=StratifiedKFold(4), method="decision_function")
    levels = np.unique(decision)
    values = [f1_score(y, decision > threshold, zero_division=0) for threshold in np.concatenate([[levels[0] - 1], levels])]
    assert model.method_ == "decision_function"
    assert model.best_score_ == pytest.approx(max(values), abs=1e-12)
    assert f1_score(y, decision > model.threshold_) == pytest.approx(model.best_score_, abs=1e-12)
    low, high = model.interval_
    assert (low in levels or low == -np.inf) and (high in levels or high == np.inf) and low <= model.threshold_ < high
    assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.predict(X), (model.estimator_.decision_function(X) > model.threshold_).astype(int))


def test_threshold_can_lie_beyond_all_values_of_a_decision_function():
    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    prefit = LinearSVC().fit(X, 1 - y)  # orders the rows the wrong way round, so that predicting all or no rows positive is best
    all_positive = sw.ScoreThreshold(prefit, "recall", cv="prefit").fit(X, y)
    assert all_positive.predict(X).tolist() == [1] * 6 and all_positive.interval_[0] == -np.inf
    none_positive = sw.ScoreThreshold(prefit, "specificity", subject_to="tp <= 0", cv="prefit").fit(X, y)
    assert none_positive.confusion_.tp == 0 and none_positive.predict(X)[3:].tolist() == [0] * 3


def test_tuned_threshold_beats_one_half_on_rare_events():
    X, y = rare_events(12000)
    X, X_test, y, y_test = X[:6000], X[6000:], y[:6000], y[6000:]
    plain = LogisticRegression().fit(X, y)
    model = sw.ScoreThreshold(LogisticRegression(), "f1").fit(X, y)
    assert f1_score(y_test, model.predict(X_test)) > f1_score(y_test, plain.predict(X_test)) + 0.05


def test_threshold_satisfies_the_conditions_or_fit_raises_an_error():
    X, y = rare_events(1500)
    unconstrained = sw.ScoreThreshold(LogisticRegression(), "recall").fit(X, y)
    constrained = sw.ScoreThreshold(LogisticRegression(), "recall", subject_to=["precision >= 0.3", "recall >= 0.1"]).fit(X, y)
    tn, fp, fn, tp = constrained.confusion_
    assert tp / (tp + fp) >= 0.3 and constrained.best_score_ < unconstrained.best_score_ == 1
    with pytest.raises(ValueError, match=r"^no threshold satisfies `precision >= 0.999`"):
        sw.ScoreThreshold(GaussianNB(), "f1", subject_to="precision >= 0.999 and recall >= 0.9").fit(X, y)
    sure = sw.ScoreThreshold(LogisticRegression(), "recall", subject_to="precision >= 0.15 with 95%").fit(X, y)
    assert sure.guarantee_ is not None and constrained.guarantee_ is None
    assert sure.guarantee_["conditions"][0]["test"] == "exact binomial test"
    # Every row is predicted twice, so its two predictions depend on each other.
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    twice = sw.ScoreThreshold(LogisticRegression(), "recall", subject_to="precision >= 0.15 with 95%", cv=repeated)
    assert "effective number of rows" in twice.fit(X, y).guarantee_["conditions"][0]["test"]


def test_smoothed_threshold_is_chosen_on_the_held_out_predictions():
    X, y = rare_events(800, share=0.2)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = sw.ScoreThreshold(GaussianNB(), "f1", smooth=0.2, cv=4).fit(X, y, sample_weight=weights)
    p = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba", params={"sample_weight": weights})[:, 1]
    best = sw.sweep(y, p, weights).best("f1", smooth=0.2)
    assert (model.threshold_, model.interval_, model.best_score_, model.confusion_) == (best.threshold, best.interval, best.value, best.confusion)
    assert model.threshold_ != sw.ScoreThreshold(GaussianNB(), "f1", cv=4).fit(X, y, sample_weight=weights).threshold_
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X)[:, 1] > model.threshold_).astype(int))
    chosen = model.report(X, y, replicates=10).document["forecast"]["chosen"]
    assert chosen == "best f1 in cross-validation, averaged over nearby thresholds"
    with pytest.raises(ValueError, match="smooth needs probabilities"):
        sw.ScoreThreshold(LinearSVC(), "f1", smooth=0.2).fit(X, y)


def test_prefit_estimator_is_not_trained_again():
    X, y = rare_events(2000)
    inner = LogisticRegression().fit(X[:1000], y[:1000])
    model = sw.ScoreThreshold(inner, "f1", cv="prefit").fit(X[1000:], y[1000:])
    assert model.estimator_ is inner
    best = sw.sweep(y[1000:], inner.predict_proba(X[1000:])[:, 1]).best("f1")
    assert (model.threshold_, model.best_score_, model.interval_) == (best.threshold, best.value, best.interval)
    frozen = sw.ScoreThreshold(FrozenEstimator(inner), "f1").fit(X[1000:], y[1000:])
    assert frozen.threshold_ == model.threshold_
    with pytest.raises(NotFittedError, match="fit it first"):
        sw.ScoreThreshold(LogisticRegression(), cv="prefit").fit(X, y)


def test_cv_can_be_a_fraction_a_splitter_or_a_list_of_splits():
    X, y = rare_events(900, share=0.2)
    fraction = sw.ScoreThreshold(GaussianNB(), cv=0.25, random_state=1).fit(X, y)
    assert sum(fraction.confusion_) == 225
    kept = sw.ScoreThreshold(GaussianNB(), cv=0.25, random_state=1, refit=False).fit(X, y)
    assert kept.threshold_ == fraction.threshold_ and kept.estimator_.class_count_.sum() == 675
    repeated = sw.ScoreThreshold(GaussianNB(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert sum(repeated.confusion_) == 1800
    listed = sw.ScoreThreshold(GaussianNB(), cv=list(StratifiedKFold(5).split(X, y)), n_jobs=2).fit(X, y)
    assert listed.threshold_ == sw.ScoreThreshold(GaussianNB()).fit(X, y).threshold_
    grouped = sw.ScoreThreshold(GaussianNB(), cv=GroupKFold(3)).fit(X, y, groups=np.arange(900) % 9)
    assert sum(grouped.confusion_) == 900
    with pytest.raises(ValueError, match="refit=False"):
        sw.ScoreThreshold(GaussianNB(), refit=False).fit(X, y)


def test_tables_and_weights_are_passed_to_the_wrapped_estimator():
    data, y = mixed_columns(400)
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    inner = sw.ScoreClassifier("f1", hidden=(8,), epochs=30)
    thresholds = [
        sw.ScoreThreshold(inner, "f1", cv=3).fit(frame(data), y, sample_weight=weights).threshold_
        for frame in (pandas.DataFrame, polars.DataFrame, pyarrow.table)
    ]
    assert thresholds[0] == thresholds[1] == thresholds[2]
    X = np.array(data["number"])[:, None]
    with pytest.warns(UserWarning, match="does not accept sample_weight"):
        sw.ScoreThreshold(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, sample_weight=weights)
    named = sw.ScoreThreshold(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, gaussiannb__sample_weight=weights)
    assert named.estimator_[-1].class_count_.sum() == weights.sum()


@pytest.mark.parametrize("file", ["new.csv", "new.parquet"])
def test_command_line_reads_a_saved_model(fitted_classifier, tmp_path, file):
    data, _ = mixed_columns(120, seed=4)
    table = pandas.DataFrame(data)
    fitted_classifier.save(tmp_path / "model.scorewise")
    if file == "new.csv":
        table.astype({"flag": int}).to_csv(tmp_path / file, index=False)
    else:
        table.to_parquet(tmp_path / file)
    arguments = ["predict", tmp_path / "model.scorewise", tmp_path / file, "-o", tmp_path / "predictions.csv"]
    process = subprocess.run([sys.executable, "-m", "scorewise", *arguments], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    with open(tmp_path / "predictions.csv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    np.testing.assert_allclose([float(row["probability"]) for row in rows], fitted_classifier.predict_proba(table)[:, 1], rtol=0, atol=1e-6)
    assert [int(row["decision"]) for row in rows] == fitted_classifier.predict(table).tolist()
    assert [path.name for path in tmp_path.iterdir() if "model" in path.name] == ["model.scorewise"]


def test_saved_model_can_be_loaded(fitted_classifier, tmp_path):
    data, y = mixed_columns(120, seed=4)
    table = pandas.DataFrame(data)
    fitted_classifier.save(tmp_path / "model.scorewise")
    restored = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    np.testing.assert_array_equal(restored.predict_proba(table), fitted_classifier.predict_proba(table))
    np.testing.assert_array_equal(restored.predict(table), fitted_classifier.predict(table))
    assert restored.classes_.tolist() == [0, 1] and restored.best_score_ == fitted_classifier.best_score_
    assert restored.score(table, y) == fitted_classifier.score(table, y)
    assert restored.get_params()["score"] == "tss" and restored.get_params()["hidden"] == (16,)
    assert restored.model_bytes_ == fitted_classifier.model_bytes_
    X, y = make_blobs(200, centers=3, random_state=0)
    three_classes = sw.ScoreClassifier(epochs=20).fit(X, np.array([2, 7, 10])[y])
    three_classes.save(tmp_path / "three.scorewise")
    loaded = sw.ScoreClassifier.load(str(tmp_path / "three.scorewise"))
    assert loaded.classes_.tolist() == [2, 7, 10]
    np.testing.assert_array_equal(loaded.predict(X), three_classes.predict(X))


def test_model_trained_by_the_command_line_can_be_loaded(tmp_path):
    data, y = mixed_columns(400)
    table = pandas.DataFrame({**data, "event": np.where(y == 1, "alarm", "quiet")})
    table.to_csv(tmp_path / "train.csv", index=False)
    arguments = ["train", tmp_path / "train.csv", "--target", "event", "--positive", "alarm", "--score", "csi", "--epochs", "20"]
    process = subprocess.run(
        [sys.executable, "-m", "scorewise", *arguments, "-o", tmp_path / "model.scorewise"], capture_output=True, text=True, cwd=tmp_path
    )
    assert process.returncode == 0, process.stderr
    model = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    assert model.classes_.tolist() == ["quiet", "alarm"] and model.get_params()["score"] == "csi"
    X = table[list(model.feature_names_in_)]
    assert model.score(X, table["event"]) > 0.3


def test_default_model_equals_the_default_model_of_the_command_bit_for_bit(tmp_path):
    data, y = mixed_columns(240)
    table = pandas.DataFrame({**data, "event": np.where(y == 1, "quiet", "alarm")})
    table.to_parquet(tmp_path / "train.parquet")
    model = sw.ScoreClassifier("csi", random_state=3).fit(table[list(data)], table["event"])
    arguments = ["train", tmp_path / "train.parquet", "--target", "event", "--positive", "quiet", "--score", "csi", "--seed", "3", "--test", "0"]
    process = subprocess.run(
        [sys.executable, "-m", "scorewise", *arguments, "--report", "none", "-o", tmp_path / "model.scorewise"], capture_output=True, text=True, cwd=tmp_path
    )
    assert process.returncode == 0, process.stderr
    of_command = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    mine, other = (json.loads(each._model.description()) for each in (model, of_command))
    assert {member["learner"] for member in mine["members"]} == {"network", "trees"} and len(mine["members"]) == 40
    assert mine["members"] == other["members"] and mine["weights"] == other["weights"]
    assert model.threshold_ == of_command.threshold_ and model.best_score_ == of_command.best_score_
    np.testing.assert_array_equal(model.predict_proba(table[list(data)]), of_command.predict_proba(table[list(data)]))
    # The tensors of a safetensors file follow its header, whose length is in the first eight bytes.
    tensors = [each.model_bytes_[8 + int.from_bytes(each.model_bytes_[:8], "little") :] for each in (model, of_command)]
    assert tensors[0] == tensors[1] and len(tensors[0]) > 100_000
    again = sw.ScoreClassifier(**of_command.get_params()).fit(table[list(data)], table["event"])
    assert again.model_bytes_ == model.model_bytes_
    assert model.loss_curve_.shape[1] == 40 and model.n_iter_ >= len(model.loss_curve_)


def test_giving_a_parameter_that_only_networks_have_trains_only_networks():
    X, y = rare_events(200, share=0.3)
    kinds = lambda model: {member["learner"] for member in json.loads(model.fit(X, y)._model.description())["members"]}  # noqa: E731
    for settings in (dict(epochs=2), dict(hidden=(2,), patience=1), dict(optimiser="sgd", recipe="quick"), dict(keep_weights="last", recipe="quick")):
        assert kinds(sw.ScoreClassifier(**settings)) == {"network"}
    assert kinds(sw.ScoreClassifier(learners=("trees",), cross_fit=2, epochs=2)) == {"trees"}
    assert kinds(sw.ScoreClassifier(learners=("trees", "linear"), cross_fit=2)) == {"network", "trees"}
    with pytest.raises(ValueError, match="learners must be a list of names"):
        sw.ScoreClassifier(learners="trees").fit(X, y)
    with pytest.raises(ValueError, match="learners: there is no value `forests`"):
        sw.ScoreClassifier(learners=("forests",)).fit(X, y)


def test_calibrated_probabilities_have_the_order_and_the_decisions_of_raw_predictions():
    X, y = rare_events(3000)
    half = slice(0, 1500)
    model = sw.ScoreClassifier("tss", learners=("trees", "linear"), cross_fit=3, epochs=30, random_state=1).fit(X[half], y[half])
    assert model.calibration_ in ("beta", "isotonic")
    raw, p = model.raw_predictions(X), model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(raw > model.raw_threshold_, p > model.threshold_)
    np.testing.assert_array_equal(model.predict(X), (p > model.threshold_).astype(int))
    assert (np.diff(p[np.argsort(raw)]) >= 0).all()
    new = slice(1500, 3000)
    calibrated, uncalibrated = (sw.score(y[new], values[new]).probabilities for values in (p, raw))
    assert calibrated.log_loss.value < uncalibrated.log_loss.value
    assert calibrated.roc_area.value == pytest.approx(uncalibrated.roc_area.value, abs=1e-6)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X)[:, 1], p)
    several = sw.ScoreClassifier("macro(f1)", recipe="quick", epochs=2).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert several.calibration_ is None and several.raw_threshold_ is None
    np.testing.assert_array_equal(several.raw_predictions(X), several.predict_proba(X))


def test_names_and_number_of_columns_are_checked(fitted_classifier):
    data, _ = mixed_columns(20)
    table = pandas.DataFrame(data)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted_classifier.predict(table[["whole", "number", "place", "flag", "time"]])
    with pytest.raises(ValueError, match="feature names should match|features"):
        fitted_classifier.predict(table[["number", "whole"]])
    X, y = rare_events(300)
    model = sw.ScoreClassifier(epochs=3).fit(X, y)
    with pytest.raises(ValueError, match="expecting 8 features"):
        model.predict(X[:, :3])


def fit_classifier(X=None, y=None, sample_weight=None, **settings):
    """Train a classifier for three epochs, by default on 200 random rows."""
    base, labels = rare_events(200, share=0.3)
    return sw.ScoreClassifier(**{"epochs": 3, **settings}).fit(base if X is None else X, labels if y is None else y, sample_weight)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(score="f7"), "`f7` is not a score"),
        (dict(score=None), "score must be a name or a formula"),
        (dict(prior="cosine:2,1"), "prior"),
        (dict(prior=3), "prior must be a string"),
        (dict(loss="hinge"), "there is no value `hinge`"),
        (dict(recipe="weak"), "there is no value `weak`"),
        (dict(multiclass="one"), "there is no value `one`"),
        (dict(hidden="50,20"), "hidden must be the widths"),
        (dict(hidden=(5, 0)), "hidden: must be a whole number of 1 or more, not 0"),
        (dict(batch=0), "batch: must be a whole number"),
        (dict(batch="all"), "batch: `all` is not a number of rows"),
        (dict(bins=-1), "bins: must be a whole number"),
        (dict(bins=5000), "bins: must be at most 1024, not 5000"),
        (dict(cross_fit=1), "cross_fit: 1 is not a valid number of folds"),
        (dict(recipe="weak"), "recipe: there is no value `weak`"),
        (dict(epochs=-1), "epochs: must be a whole number"),
        (dict(epochs=2.5), "epochs: must be a whole number"),
        (dict(patience=0), "patience: must be a whole number"),
        (dict(learning_rate=0), "learning_rate: must be above 0"),
        (dict(learning_rate=float("nan")), "learning_rate: must be a number"),
        (dict(weight_decay=-1.0), "weight_decay: must be a number"),
        (dict(validation=1.5), "validation: must be a number from 0 to 1"),
        (dict(validation=0.0), "validation"),
        (dict(ensemble=0), "ensemble: must be a whole number"),
        (dict(cross_entropy_first="yes"), "cross_entropy_first must be True"),
        (dict(cross_entropy_first=True, loss="ce"), "cross-entropy already"),
        (dict(threshold=1.2), "threshold: must be a number from 0 to 1"),
        (dict(threshold="middle"), "threshold"),
        (dict(random_state=-1), "random_state: must be a number from 0"),
        (dict(y=np.zeros(200)), "only one class"),
        (dict(y=np.linspace(0, 1, 200)), "Unknown label type"),
        (dict(y=np.array(["a", 1] * 100, dtype=object)), "mixes labels of different types"),
        (dict(y=np.array(["a", None] * 100, dtype=object)), "contains None"),
        (dict(y=[0, 1]), "inconsistent numbers of samples"),
        (dict(X=np.full((200, 2), np.inf)), "infinity"),
        (dict(X=pandas.DataFrame({"a": [np.inf] * 200})), "column `a`: holds an infinite number"),
        (dict(X=pandas.DataFrame({"a": [1j] * 200})), "Complex data not supported"),
        (dict(X=pandas.DataFrame([[1, 2]] * 200, columns=["a", "a"])), "'a'|duplicate"),
        (dict(X=polars.LazyFrame({"a": [1.0] * 200})), "collect"),
        (dict(sample_weight=np.zeros(200)), "zero in every row"),
        (dict(sample_weight=np.full(200, -1.0)), "0 or above, not -1.0"),
        (dict(sample_weight=np.ones(3)), "sample_weight has 3 rows, expected 200"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_invalid_arguments_of_score_classifier_raise_a_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_classifier(**arguments)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(score="f7"), "`f7` is not a score"),
        (dict(score=7), "score must be a name"),
        (dict(subject_to="precision is good"), "precision"),
        (dict(method="guess"), "method must be"),
        (dict(cv=1.5), "cv: must be a number from 0 to 1"),
        (dict(method="decision_function"), "GaussianNB has no decision_function"),
        (dict(smooth=0.5), "smooth must be a number from 0.001 to below 0.5"),
        (dict(smooth="wide"), "smooth must be a number"),
        (dict(smooth=0.2, subject_to="precision >= 0.3"), "leave out smooth or subject_to"),
    ],
)
def test_invalid_arguments_of_score_threshold_raise_a_clear_error(arguments, message):
    X, y = rare_events(200, share=0.3)
    with pytest.raises(ValueError, match=message):
        sw.ScoreThreshold(GaussianNB(), **arguments).fit(X, y)


def test_score_threshold_needs_two_classes():
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        sw.ScoreThreshold(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        sw.ScoreThreshold(GaussianNB()).fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="the estimator was trained on the classes"):
        sw.ScoreThreshold(GaussianNB().fit(X, y == 1), cv="prefit").fit(X, np.where(y == 1, 5, 3))


def test_classifier_can_be_trained_on_the_adult_table_without_preparation():
    names = "age workclass fnlwgt education education-num marital-status occupation relationship race sex".split()
    names += "capital-gain capital-loss hours-per-week native-country income".split()
    with gzip.open(ROOT / "crates/scorewise-table/data" / "adult.data.gz", "rt") as lines:
        table = pandas.read_csv(lines, names=names, skipinitialspace=True, na_values="?", nrows=6000)
    X, y = table.drop(columns=["income", "fnlwgt"]), table["income"]
    model = sw.ScoreClassifier("f1", epochs=40).fit(X[:4000], y[:4000])
    assert model.classes_.tolist() == ["<=50K", ">50K"]
    assert model.score(X[4000:], y[4000:]) > 0.64


@pytest.mark.parametrize("module", [_classifier, _threshold, _measures])
def test_examples_in_docstrings_run(module):
    results = doctest.testmod(module)
    assert results.attempted >= 2 and results.failed == 0


def test_every_training_option_of_rust_is_a_parameter_of_the_classifier():
    names = {_classifier._PARAMETERS.get(name, name) for name in _scorewise.training_options()}
    parameters = set(sw.ScoreClassifier().get_params())
    assert names <= parameters
    assert parameters - names == {"n_jobs"}  # depends on the machine and does not change the trained model


def test_a_loaded_model_has_the_parameters_it_was_trained_with(tmp_path):
    X, y = make_classification(300, weights=[0.8], random_state=0)
    given = dict(
        score="csi", prior="uniform", loss="exact", recipe="strong", hidden=(4,), batch="full", learning_rate=0.01, weight_decay=0.5,
        epochs=3, patience=2, validation=0.25, ensemble=2, cross_entropy_first=False, threshold=0.3, optimiser="sgd", keep_weights="last",
        no_cure=True, random_state=7,
    )
    model = sw.ScoreClassifier(**given).fit(X, y)
    model.save(tmp_path / "model.scorewise")
    loaded = sw.ScoreClassifier.load(tmp_path / "model.scorewise").get_params()
    assert {name: loaded[name] for name in given} == given
    again = sw.ScoreClassifier(**loaded).fit(X, y)
    assert again.model_bytes_ == model.model_bytes_


def test_a_classifier_with_a_cost_matrix_predicts_the_class_with_the_lowest_expected_cost():
    X, y = make_blobs(600, centers=3, cluster_std=4.0, random_state=3)
    labels = np.array([2, 7, 10])[y]
    costs = np.array([[0, 1, 2], [1, 0, 1], [60, 20, 0]], float)
    model = sw.ScoreClassifier("cost_matrix(0, 1, 2; 1, 0, 1; 60, 20, 0)", loss="ce", learners=["linear"]).fit(X, labels)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(p @ costs).argmin(axis=1)])
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    assert (model.predict(X) == 10).sum() > (model.classes_[p.argmax(axis=1)] == 10).sum()


def test_a_classifier_is_trained_for_errors_weighted_by_their_timing(tmp_path):
    rows = np.arange(400)
    wave = np.sin(0.21 * rows) + 0.7 * np.cos(0.083 * rows)
    y = wave > 1.0
    random = np.random.default_rng(3)
    X = np.column_stack([wave, np.roll(wave, 1)]) + 0.3 * random.normal(size=(400, 2))
    settings = {"score": "csi", "temporal": "value", "learners": ["networks"], "hidden": (8,), "epochs": 5, "cross_fit": 3, "ensemble": 1}
    model = sw.ScoreClassifier(**settings).fit(X, y)
    words = json.loads(model._model.description())["decision"]["words"]
    assert "with errors weighted by their timing" in words
    stations = rows // 200
    of_stations = sw.ScoreClassifier(**settings).fit(X, y, series=stations)
    assert of_stations.predict(X).shape == (400,)
    model.save(tmp_path / "m.scorewise")
    assert sw.ScoreClassifier.load(tmp_path / "m.scorewise").temporal.startswith("value:0.5")
    with pytest.raises(ValueError, match="set temporal"):
        sw.ScoreClassifier().fit(X, y, series=stations)
    with pytest.raises(ValueError, match="two classes"):
        sw.ScoreClassifier(temporal="value").fit(X, rows % 3)
