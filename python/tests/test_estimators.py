"""The estimators keep scikit-learn's habits, take tables as they are, and find what an exhaustive search finds."""

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
from scorewise import _classifier, _measures, _threshold
from scorewise._arrays import columns

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Checks of scikit-learn that cannot pass, each with its reason.
CLASSIFIER_FAILS = {
    "check_sample_weight_equivalence_on_dense_data": "validation rows are drawn at random, so a row of weight 2 stays on one side of the "
    "split where two equal rows may come on both; rows of weight 0 are left out exactly",
}
PROBABILITY_THRESHOLD_FAILS = {
    "check_classifiers_train": "asks that the predicted class be the one of the greatest probability; another threshold than ½ is the "
    "purpose (with decision_function the same check passes)",
}
CHECKED = [
    (sw.ScoreClassifier(epochs=60), CLASSIFIER_FAILS),
    (sw.ScoreClassifier(recipe="strong", ensemble=2, epochs=200), CLASSIFIER_FAILS),
    (sw.ScoreThreshold(LogisticRegression()), PROBABILITY_THRESHOLD_FAILS),
    (sw.ScoreThreshold(LinearSVC(), "tss"), {}),
]


@pytest.mark.parametrize("estimator, fails", CHECKED, ids=lambda value: type(value).__name__)
def test_scikit_learn_checks_pass_but_for_those_with_a_reason(estimator, fails):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, expected_failed_checks=fails, on_skip=None, on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in found if result["status"] == "failed"}
    assert not failed
    assert sum(result["status"] == "passed" for result in found) > 50
    # A reason that has gone is to be taken off the list.
    assert {result["check_name"] for result in found if result["status"] == "xfail"} == set(fails)


def rare(n_rows=4000, seed=0, share=0.06):
    """Rare events, hard to tell."""
    return make_classification(
        n_rows, n_features=8, n_informative=4, weights=[1 - share], class_sep=0.9, flip_y=0.02, random_state=seed
    )


def mixed(n_rows=800, seed=0):
    """Numbers, whole numbers with holes, texts with holes, booleans, times: and an event that depends on all of them."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    whole = rng.integers(0, 10, n_rows)
    place = rng.choice(["coast", "hill", "plain"], n_rows)
    flag = rng.random(n_rows) < 0.5
    time = np.datetime64("2024-01-01T00") + rng.integers(0, 24 * 360, n_rows).astype("timedelta64[h]")
    hour = time.astype("datetime64[h]").astype(int) % 24
    strength = number + 0.3 * (whole - 5) + 1.5 * (place == "coast") + flag - 1 + np.cos(hour * np.pi / 12)
    y = (strength + rng.normal(size=n_rows) > 2).astype(int)
    absent = rng.random((2, n_rows)) < 0.1
    data = {
        "number": number.tolist(),
        "whole": [None if gone else int(value) for value, gone in zip(whole, absent[0])],
        "place": [None if gone else str(value) for value, gone in zip(place, absent[1])],
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
    "pyarrow, a batch": lambda data: pyarrow.table(data).to_batches()[0],
}


@pytest.fixture(scope="module")
def fitted():
    data, y = mixed()
    return sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(pandas.DataFrame(data), y)


@pytest.mark.parametrize("frame", FRAMES)
def test_every_kind_of_table_gives_the_same_model(fitted, frame):
    data, y = mixed()
    X = FRAMES[frame](data)
    model = sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(X, y)
    assert model.model_bytes_ == fitted.model_bytes_
    assert model.feature_names_in_.tolist() == list(data)
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(pandas.DataFrame(data)))
    fresh, truth = mixed(seed=1)
    assert model.score(FRAMES[frame](fresh), truth) > 0.45


def test_labels_may_come_from_any_library(fitted):
    data, y = mixed()
    X = polars.DataFrame(data)
    for labels in (polars.Series(y), pandas.Series(y, index=np.arange(len(y)) + 7), pyarrow.chunked_array([y]), y.tolist()):
        assert sw.ScoreClassifier("tss", hidden=(16,), epochs=80).fit(X, labels).model_bytes_ == fitted.model_bytes_


def test_categories_unseen_in_training_are_taken_as_none_of_the_levels(fitted):
    data, _ = mixed(60, seed=2)
    known = fitted.predict_proba(pandas.DataFrame(data))
    data["place"] = ["the moon"] * 60
    unseen = fitted.predict_proba(pandas.DataFrame(data))
    assert np.isfinite(unseen).all()
    assert not np.array_equal(known, unseen)


def test_missing_values_of_every_spelling_are_the_same(fitted):
    data, _ = mixed(50, seed=3)
    spelt = []
    for gap in (None, float("nan"), pandas.NA):
        X = pandas.DataFrame(data).astype({"whole": object, "place": object})
        X.loc[:, "whole"] = gap
        X.loc[:, "place"] = gap
        spelt.append(fitted.predict_proba(X))
    np.testing.assert_array_equal(spelt[0], spelt[1])
    np.testing.assert_array_equal(spelt[0], spelt[2])


def test_an_array_of_objects_and_a_list_of_rows_are_tables_too():
    data, y = mixed(300)
    rows = [list(row) for row in zip(data["number"], data["whole"], data["place"])]
    of_list = sw.ScoreClassifier(epochs=20).fit(rows, y)
    of_array = sw.ScoreClassifier(epochs=20).fit(np.array(rows, dtype=object), y)
    assert of_list.model_bytes_ == of_array.model_bytes_
    kinds = [entry["kind"] for entry in json.loads(of_list._model.description())["encoder"]["inputs"]]
    assert kinds == ["number", "number", "category"]


def test_columns_of_odd_kinds_are_what_they_mean():
    when = [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)]
    odd = pandas.DataFrame(
        {
            "decimal": [decimal.Decimal("1.5"), None, decimal.Decimal("2")],
            "yes and no": pandas.Series([True, None, False], dtype="boolean"),
            "numbers as names": pandas.Categorical([3, None, 10]),
            "day": pandas.Series(when, dtype=object),
            "abroad": pandas.Series(pandas.to_datetime(when)).dt.tz_localize("America/Lima"),
            "span": pandas.to_timedelta([1, None, 2], unit="min"),
        }
    )
    found = dict(columns(odd))
    np.testing.assert_array_equal(found["decimal"], [1.5, np.nan, 2])
    assert found["yes and no"].dtype == np.int8
    np.testing.assert_array_equal(found["yes and no"], [1, -1, 0])
    codes, levels = found["numbers as names"]
    assert codes.tolist() == [1, 2**32 - 1, 0] and levels == ["10", "3"]
    first, missing, second = found["day"].tolist()
    assert (first, second - first, missing) == (1704067200, 86400, -(2**63))
    assert found["abroad"].tolist() == [first + 5 * 3600, missing, second + 5 * 3600]
    np.testing.assert_array_equal(found["span"], [60, np.nan, 120])
    arrow = dict(columns(pyarrow.table({"day": when, "decimal": odd["decimal"].tolist()})))
    np.testing.assert_array_equal(arrow["day"], found["day"])
    np.testing.assert_array_equal(arrow["decimal"], found["decimal"])


def test_numbers_with_holes_train_in_an_array():
    X, y = rare(1500)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = sw.ScoreClassifier(epochs=60).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.3


def test_probabilities_labels_and_decisions_agree():
    X, y = rare()
    model = sw.ScoreClassifier("csi", epochs=40).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), (p[:, 1] > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    # Strictly above: a row that lies on the threshold is negative.
    on = sw.ScoreClassifier("csi", epochs=40, threshold=float(p[7, 1])).fit(X, y)
    assert on.threshold_ == p[7, 1] and on.predict(X)[7] == 0 and on.decision_function(X)[7] == 0


def test_the_second_class_in_order_is_the_positive_one():
    X, y = rare(1000)
    numbers = sw.ScoreClassifier(epochs=30).fit(X, y)
    for labels in (np.where(y == 1, "storm", "calm"), y == 1, np.where(y == 1, 10, 2), np.where(y == 1, 3.0, -1.0)):
        model = sw.ScoreClassifier(epochs=30).fit(X, labels)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        np.testing.assert_array_equal(model.predict_proba(X), numbers.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X) == model.classes_[1], numbers.predict(X) == 1)
        assert model.score(X, labels) == numbers.score(X, y)


@pytest.mark.parametrize("manner", ["simplex", "one-versus-rest"])
def test_more_classes_keep_their_order(manner):
    # By the alphabet "10" comes before "2" and "7".
    X, y = make_blobs(600, centers=3, cluster_std=1.0, random_state=3)
    labels = np.array([2, 7, 10])[y]
    model = sw.ScoreClassifier("f1", multiclass=manner, epochs=150).fit(X, labels)
    assert model.classes_.tolist() == [2, 7, 10]
    p = model.predict_proba(X)
    assert p.shape == (600, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert accuracy_score(labels, model.predict(X)) > 0.9
    assert model.score(X, labels) == pytest.approx(f1_score(labels, model.predict(X), average="macro"), rel=1e-12)
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    assert model.threshold_ is None and 0.5 < model.best_score_ <= 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_what_was_learnt_has_its_names():
    X, y = rare()
    model = sw.ScoreClassifier("f1", epochs=12, patience=12).fit(X, y)
    assert model.n_iter_ == 12 == len(model.loss_curve_) == len(model.validation_curve_)
    assert np.isfinite(model.loss_curve_).all() and model.loss_curve_[-1] < model.loss_curve_[0]
    assert 0 < model.best_score_ <= 1 and 0 <= model.threshold_ <= 1
    assert isinstance(model.notes_, list) and isinstance(model.model_bytes_, bytes)
    assert not hasattr(model, "feature_names_in_")
    several = sw.ScoreClassifier("f1", epochs=12, ensemble=3).fit(X, y)
    assert several.loss_curve_.shape == (several.n_iter_, 3)
    first = sw.ScoreClassifier("f1", epochs=12, patience=12, cross_entropy_first=True).fit(X, y)
    assert first.n_iter_ == 24 and len(first.loss_curve_) == 12


def test_a_given_threshold_is_kept_and_scored_on_the_validation_rows():
    X, y = rare()
    tuned = sw.ScoreClassifier("f1", epochs=20).fit(X, y)
    given = sw.ScoreClassifier("f1", epochs=20, threshold=tuned.threshold_).fit(X, y)
    assert given.threshold_ == tuned.threshold_ and given.best_score_ == tuned.best_score_
    centre = sw.ScoreClassifier("f1", "cosine:0.3,0.1", epochs=20, threshold="centre").fit(X, y)
    assert centre.threshold_ == pytest.approx(0.3) and centre.best_score_ > 0


def test_the_parameter_score_and_the_method_score_share_a_name():
    X, y = rare(1000)
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


def test_a_score_that_is_to_be_low_is_turned_for_a_search():
    X, y = rare(1000)
    model = sw.ScoreThreshold(GaussianNB(), "f1").fit(X, y)
    tn, fp, fn, tp = confusion_matrix(y, model.predict(X)).ravel()
    assert model.set_params(score="far").score(X, y) == pytest.approx(-fp / (tp + fp))
    assert model.set_params(score="frequency_bias").score(X, y) == pytest.approx(-abs((tp + fp) / (tp + fn) - 1))
    assert math.isnan(model.set_params(score="recall").score(X, np.zeros(len(y), dtype=int)))


def test_weights_change_the_model_and_rows_of_weight_zero_are_not_there():
    X, y = rare(1500)
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


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    X, y = rare(1500)
    ways = dict(epochs=15, ensemble=3)
    bits = {sw.ScoreClassifier("f1", random_state=5, n_jobs=jobs, **ways).fit(X, y).model_bytes_ for jobs in (None, 1, 2, -1)}
    assert len(bits) == 1
    assert sw.ScoreClassifier("f1", random_state=6, **ways).fit(X, y).model_bytes_ not in bits
    drawn = [sw.ScoreClassifier(random_state=np.random.RandomState(1), epochs=5).fit(X, y).model_bytes_ for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert sw.ScoreClassifier(random_state=None, epochs=5).fit(X, y).model_bytes_ not in drawn


def test_a_model_survives_pickle_joblib_and_clone(tmp_path):
    X, y = rare(1000)
    model = sw.ScoreClassifier("f1", epochs=10).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert copy.model_bytes_ == model.model_bytes_ and copy.threshold_ == model.threshold_
    bare = clone(model)
    with pytest.raises(NotFittedError):
        bare.predict(X)
    assert pickle.loads(pickle.dumps(bare)).get_params() == model.get_params()
    threshold = sw.ScoreThreshold(model, "f1", cv="prefit").fit(X, y)
    again = pickle.loads(pickle.dumps(threshold))
    np.testing.assert_array_equal(again.predict(X), threshold.predict(X))


def test_pipelines_searches_and_cross_validation_work():
    X, y = rare(1200)
    pipeline = make_pipeline(StandardScaler(), sw.ScoreClassifier("f1", epochs=20))
    assert np.mean(cross_val_score(pipeline, X, y, cv=3)) > 0.3
    grid = {"scoreclassifier__score": ["f1", "csi"], "scoreclassifier__hidden": [(), (8,)]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1", n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.3 and search.predict(X).shape == y.shape
    # Without scoring, the search looks for the estimator's own score.
    own = GridSearchCV(sw.ScoreThreshold(LogisticRegression(), "f1"), {"estimator__C": [0.01, 1.0]}, cv=3).fit(X, y)
    judged = GridSearchCV(sw.ScoreThreshold(LogisticRegression(), "f1"), {"estimator__C": [0.01, 1.0]}, cv=3, scoring="f1").fit(X, y)
    np.testing.assert_allclose(own.cv_results_["mean_test_score"], judged.cv_results_["mean_test_score"])
    around = sw.ScoreThreshold(pipeline, "f1", cv=3).fit(X, y)
    assert f1_score(y, around.predict(X)) > 0.3


def test_metadata_routing_is_followed():
    X, y = rare(800)
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


def brute_force(y, p, weights=None, condition=lambda tn, fp, fn, tp: True):
    """The best F1 over one threshold in every gap, and those that reach it."""
    levels = np.unique(np.concatenate([p, [0.0, 1.0]]))
    found = {}
    for threshold in np.concatenate([levels, (levels[:-1] + levels[1:]) / 2]):
        cells = confusion_matrix(y, (p > threshold).astype(int), labels=[0, 1], sample_weight=weights).ravel()
        tn, fp, fn, tp = cells
        if tp + fp + fn > 0 and condition(*cells):
            found[threshold] = 2 * tp / (2 * tp + fp + fn)
    best = max(found.values())
    return best, [threshold for threshold, value in found.items() if value >= best - 1e-12]


@pytest.mark.parametrize("weighed", [False, True])
def test_the_threshold_is_the_best_of_all(weighed):
    X, y = rare(300, share=0.2)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighed else None
    model = sw.ScoreThreshold(GaussianNB(), "f1", cv=4).fit(X, y, sample_weight=weights)
    params = None if weights is None else {"sample_weight": weights}
    p = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba", params=params)[:, 1]
    best, thresholds = brute_force(y, p, weights)
    assert model.best_score_ == pytest.approx(best, abs=1e-12)
    low, high = model.interval_
    assert low <= model.threshold_ < high and any(low <= threshold < high for threshold in thresholds)
    tn, fp, fn, tp = confusion_matrix(y, (p > model.threshold_).astype(int), sample_weight=weights).ravel()
    assert model.confusion_ == (tn, fp, fn, tp)
    assert model.classes_.tolist() == [0, 1] and model.n_features_in_ == 8 and model.method_ == "predict_proba"
    np.testing.assert_array_equal(model.predict_proba(X), GaussianNB().fit(X, y, sample_weight=weights).predict_proba(X))


def test_decisions_without_probabilities_have_an_exact_threshold_too():
    X, y = rare(400, share=0.15)
    X = X * 1e4  # a sigmoid of such decisions would be 0 and 1 only
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


def test_ends_of_the_decision_scale_are_reached():
    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    prefit = LinearSVC().fit(X, 1 - y)  # knows it the wrong way round: best is to call all, or none, positive
    everything = sw.ScoreThreshold(prefit, "recall", cv="prefit").fit(X, y)
    assert everything.predict(X).tolist() == [1] * 6 and everything.interval_[0] == -np.inf
    nothing = sw.ScoreThreshold(prefit, "specificity", subject_to="tp <= 0", cv="prefit").fit(X, y)
    assert nothing.confusion_.tp == 0 and nothing.predict(X)[3:].tolist() == [0] * 3


def test_it_beats_one_half_on_rare_events():
    X, y = rare(12000)
    X, fresh, y, truth = X[:6000], X[6000:], y[:6000], y[6000:]
    plain = LogisticRegression().fit(X, y)
    model = sw.ScoreThreshold(LogisticRegression(), "f1").fit(X, y)
    assert f1_score(truth, model.predict(fresh)) > f1_score(truth, plain.predict(fresh)) + 0.05


def test_conditions_are_kept_or_refused_in_a_sentence():
    X, y = rare(1500)
    free = sw.ScoreThreshold(LogisticRegression(), "recall").fit(X, y)
    bound = sw.ScoreThreshold(LogisticRegression(), "recall", subject_to=["precision >= 0.3", "recall >= 0.1"]).fit(X, y)
    tn, fp, fn, tp = bound.confusion_
    assert tp / (tp + fp) >= 0.3 and bound.best_score_ < free.best_score_ == 1
    with pytest.raises(ValueError, match=r"^no threshold satisfies `precision >= 0.999`"):
        sw.ScoreThreshold(GaussianNB(), "f1", subject_to="precision >= 0.999 and recall >= 0.9").fit(X, y)


def test_an_estimator_that_is_fitted_is_taken_as_it_is():
    X, y = rare(2000)
    inner = LogisticRegression().fit(X[:1000], y[:1000])
    model = sw.ScoreThreshold(inner, "f1", cv="prefit").fit(X[1000:], y[1000:])
    assert model.estimator_ is inner
    best = sw.sweep(y[1000:], inner.predict_proba(X[1000:])[:, 1]).best("f1")
    assert (model.threshold_, model.best_score_, model.interval_) == (best.threshold, best.value, best.interval)
    frozen = sw.ScoreThreshold(FrozenEstimator(inner), "f1").fit(X[1000:], y[1000:])
    assert frozen.threshold_ == model.threshold_
    with pytest.raises(NotFittedError, match="fit it first"):
        sw.ScoreThreshold(LogisticRegression(), cv="prefit").fit(X, y)


def test_a_share_a_splitter_and_splits_can_be_the_folds():
    X, y = rare(900, share=0.2)
    share = sw.ScoreThreshold(GaussianNB(), cv=0.25, random_state=1).fit(X, y)
    assert sum(share.confusion_) == 225
    kept = sw.ScoreThreshold(GaussianNB(), cv=0.25, random_state=1, refit=False).fit(X, y)
    assert kept.threshold_ == share.threshold_ and kept.estimator_.class_count_.sum() == 675
    repeated = sw.ScoreThreshold(GaussianNB(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert sum(repeated.confusion_) == 1800
    listed = sw.ScoreThreshold(GaussianNB(), cv=list(StratifiedKFold(5).split(X, y)), n_jobs=2).fit(X, y)
    assert listed.threshold_ == sw.ScoreThreshold(GaussianNB()).fit(X, y).threshold_
    grouped = sw.ScoreThreshold(GaussianNB(), cv=GroupKFold(3)).fit(X, y, groups=np.arange(900) % 9)
    assert sum(grouped.confusion_) == 900
    with pytest.raises(ValueError, match="refit=False"):
        sw.ScoreThreshold(GaussianNB(), refit=False).fit(X, y)


def test_tables_and_weights_reach_an_estimator_that_can_use_them():
    data, y = mixed(400)
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    inner = sw.ScoreClassifier("f1", hidden=(8,), epochs=30)
    found = [
        sw.ScoreThreshold(inner, "f1", cv=3).fit(frame(data), y, sample_weight=weights).threshold_
        for frame in (pandas.DataFrame, polars.DataFrame, pyarrow.table)
    ]
    assert found[0] == found[1] == found[2]
    X = np.array(data["number"])[:, None]
    with pytest.warns(UserWarning, match="does not take sample_weight"):
        sw.ScoreThreshold(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, sample_weight=weights)
    named = sw.ScoreThreshold(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, gaussiannb__sample_weight=weights)
    assert named.estimator_[-1].class_count_.sum() == weights.sum()


@pytest.mark.parametrize("file", ["new.csv", "new.parquet"])
def test_the_command_line_reads_a_saved_model(fitted, tmp_path, file):
    data, _ = mixed(120, seed=4)
    table = pandas.DataFrame(data)
    fitted.save(tmp_path / "model.scorewise")
    if file == "new.csv":
        table.astype({"flag": int}).to_csv(tmp_path / file, index=False)
    else:
        table.to_parquet(tmp_path / file)
    arguments = ["predict", tmp_path / "model.scorewise", tmp_path / file, "-o", tmp_path / "predictions.csv"]
    done = subprocess.run([sys.executable, "-m", "scorewise", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "predictions.csv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    np.testing.assert_allclose([float(row["probability"]) for row in rows], fitted.predict_proba(table)[:, 1], rtol=0, atol=1e-6)
    assert [int(row["decision"]) for row in rows] == fitted.predict(table).tolist()
    assert [path.name for path in tmp_path.iterdir() if "model" in path.name] == ["model.scorewise"]


def test_a_saved_model_comes_back(fitted, tmp_path):
    data, y = mixed(120, seed=4)
    table = pandas.DataFrame(data)
    fitted.save(tmp_path / "model.scorewise")
    back = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    np.testing.assert_array_equal(back.predict_proba(table), fitted.predict_proba(table))
    np.testing.assert_array_equal(back.predict(table), fitted.predict(table))
    assert back.classes_.tolist() == [0, 1] and back.best_score_ == fitted.best_score_ and back.score(table, y) == fitted.score(table, y)
    assert back.get_params()["score"] == "tss" and back.get_params()["hidden"] == (16,)
    assert back.model_bytes_ == fitted.model_bytes_
    X, y = make_blobs(200, centers=3, random_state=0)
    many = sw.ScoreClassifier(epochs=20).fit(X, np.array([2, 7, 10])[y])
    many.save(tmp_path / "many.scorewise")
    loaded = sw.ScoreClassifier.load(str(tmp_path / "many.scorewise"))
    assert loaded.classes_.tolist() == [2, 7, 10]
    np.testing.assert_array_equal(loaded.predict(X), many.predict(X))


def test_a_model_of_the_command_line_is_loaded(tmp_path):
    data, y = mixed(400)
    table = pandas.DataFrame({**data, "event": np.where(y == 1, "alarm", "quiet")})
    table.to_csv(tmp_path / "train.csv", index=False)
    arguments = ["train", tmp_path / "train.csv", "--target", "event", "--positive", "alarm", "--score", "csi", "--epochs", "20"]
    done = subprocess.run(
        [sys.executable, "-m", "scorewise", *arguments, "-o", tmp_path / "model.scorewise"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    model = sw.ScoreClassifier.load(tmp_path / "model.scorewise")
    assert model.classes_.tolist() == ["quiet", "alarm"] and model.get_params()["score"] == "csi"
    X = table[list(model.feature_names_in_)]
    assert model.score(X, table["event"]) > 0.3


def test_names_and_numbers_of_columns_are_checked(fitted):
    data, _ = mixed(20)
    table = pandas.DataFrame(data)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(table[["whole", "number", "place", "flag", "time"]])
    with pytest.raises(ValueError, match="feature names should match|features"):
        fitted.predict(table[["number", "whole"]])
    X, y = rare(300)
    model = sw.ScoreClassifier(epochs=3).fit(X, y)
    with pytest.raises(ValueError, match="expecting 8 features"):
        model.predict(X[:, :3])


def fit(X=None, y=None, sample_weight=None, **settings):
    base, labels = rare(200, share=0.3)
    return sw.ScoreClassifier(**{"epochs": 3, **settings}).fit(base if X is None else X, labels if y is None else y, sample_weight)


@pytest.mark.parametrize(
    "what, sentence",
    [
        (dict(score="f7"), "`f7` is not a score"),
        (dict(score=None), "score must be a name or a formula"),
        (dict(prior="cosine:2,1"), "prior"),
        (dict(prior=3), "prior must be a text"),
        (dict(loss="hinge"), "there is no `hinge`"),
        (dict(recipe="weak"), "there is no `weak`"),
        (dict(multiclass="one"), "there is no `one`"),
        (dict(hidden="50,20"), "hidden must be the widths"),
        (dict(hidden=(5, 0)), "hidden: must be a whole number of 1 or more, not 0"),
        (dict(batch=0), "batch: must be a whole number"),
        (dict(batch="all"), "batch: must be a whole number"),
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
        (dict(y=np.zeros(200)), "one class only"),
        (dict(y=np.linspace(0, 1, 200)), "Unknown label type"),
        (dict(y=np.array(["a", 1] * 100, dtype=object)), "mixes kinds of labels"),
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
def test_bad_input_gets_a_sentence(what, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(**what)


@pytest.mark.parametrize(
    "what, sentence",
    [
        (dict(score="f7"), "`f7` is not a score"),
        (dict(score=7), "score must be a name"),
        (dict(subject_to="precision is good"), "precision"),
        (dict(method="guess"), "method must be"),
        (dict(cv=1.5), "cv: must be a number from 0 to 1"),
        (dict(method="decision_function"), "GaussianNB has no decision_function"),
    ],
)
def test_bad_settings_of_a_threshold_get_a_sentence(what, sentence):
    X, y = rare(200, share=0.3)
    with pytest.raises(ValueError, match=sentence):
        sw.ScoreThreshold(GaussianNB(), **what).fit(X, y)


def test_thresholds_are_for_two_classes():
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        sw.ScoreThreshold(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        sw.ScoreThreshold(GaussianNB()).fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="the estimator knows the classes"):
        sw.ScoreThreshold(GaussianNB().fit(X, y == 1), cv="prefit").fit(X, np.where(y == 1, 5, 3))


def test_the_adult_table_learns_as_it_is():
    names = "age workclass fnlwgt education education-num marital-status occupation relationship race sex".split()
    names += "capital-gain capital-loss hours-per-week native-country income".split()
    with gzip.open(ROOT / "data" / "adult.data.gz", "rt") as lines:
        table = pandas.read_csv(lines, names=names, skipinitialspace=True, na_values="?", nrows=6000)
    X, y = table.drop(columns=["income", "fnlwgt"]), table["income"]
    model = sw.ScoreClassifier("f1", epochs=40).fit(X[:4000], y[:4000])
    assert model.classes_.tolist() == ["<=50K", ">50K"]
    assert model.score(X[4000:], y[4000:]) > 0.64


@pytest.mark.parametrize("module", [_classifier, _threshold, _measures])
def test_examples_in_the_docs_run(module):
    found = doctest.testmod(module)
    assert found.attempted >= 2 and found.failed == 0
