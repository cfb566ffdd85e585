"""Tests that ``ScorePool`` follows the conventions of scikit-learn, cross-fits its classifiers, and chooses their weights for the score."""

import doctest
import json
import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.metrics import confusion_matrix, f1_score, log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedStratifiedKFold, StratifiedKFold, TimeSeriesSplit, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import scorewise as sw
from scorewise import _pool, _scorewise

# Checks of scikit-learn that a `ScorePool` cannot pass, each with the reason.
CHECKS_FAILED_BY_THRESHOLD = {
    "check_classifiers_train": "in this check the predicted class must be the most probable one, but a `ScorePool` uses another threshold than 1/2",
}
CHECKS_FAILED_BY_BOOTSTRAP = {
    "check_sample_weight_equivalence_on_dense_data": "with more than two classes, the factors of the probabilities are means over bootstrap samples. "
    "A sample draws a row of weight 2 as one row, but draws two equal rows independently, so the factors differ. "
    "The probabilities are equal, and rows of weight 0 have no effect.",
}
CHECKS_FAILED_WITHOUT_WEIGHTS = dict.fromkeys(
    [
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "KNeighborsClassifier accepts no sample_weight, so a `ScorePool` that contains it raises an error that says so",
)


def pool_with_probabilities():
    """Return a ``ScorePool`` of classifiers that have ``predict_proba``."""
    return sw.ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB())], cv=3)


def pool_with_decision_function():
    """Return a ``ScorePool`` with a classifier that has ``decision_function`` but not ``predict_proba``."""
    return sw.ScorePool([("svc", LinearSVC()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))], "tss")


def pool_without_weights():
    """Return a ``ScorePool`` with a classifier that does not accept sample weights."""
    return sw.ScorePool([("neighbours", KNeighborsClassifier()), ("logistic", LogisticRegression())], "f1")


POOLS = [
    (pool_with_probabilities, CHECKS_FAILED_BY_THRESHOLD | CHECKS_FAILED_BY_BOOTSTRAP),
    (pool_with_decision_function, CHECKS_FAILED_BY_THRESHOLD),
    (pool_without_weights, CHECKS_FAILED_BY_THRESHOLD | CHECKS_FAILED_WITHOUT_WEIGHTS),
]


@pytest.mark.parametrize("make, expected_failures", POOLS, ids=lambda value: getattr(value, "__name__", ""))
def test_scikit_learn_checks_pass_except_the_expected_failures(make, expected_failures):
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(make(), expected_failed_checks=expected_failures, on_skip=None, on_fail=None)
    assert not {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert sum(result["status"] == "passed" for result in results) > 45
    # This assertion fails if one of the expected failures passes. The check must then be removed from the expected failures.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected_failures)


def rare_events(n_rows=1500, seed=0, share=0.1):
    """Return features and labels of rare events that are hard to predict."""
    return make_classification(n_rows, n_features=8, n_informative=4, weights=[1 - share], class_sep=0.9, flip_y=0.02, random_state=seed)


def three_classes(n_rows=(500, 500, 60)):
    """Return features and the labels 2, 7 and 10, whose order as numbers differs from their order as strings. The rare class 10 overlaps with class 2."""
    X, y = make_blobs(list(n_rows), centers=[[0, 0], [6, 0], [1.5, 0]], cluster_std=1.0, random_state=3)
    return X, np.array([2, 7, 10])[y]


def members():
    """Return three classifiers with their names, as ``ScorePool`` takes them."""
    return [("logistic", LogisticRegression()), ("forest", RandomForestClassifier(20, min_samples_leaf=3, random_state=0)), ("bayes", GaussianNB())]


def sigmoid(z):
    """Convert logits to probabilities."""
    return 1 / (1 + np.exp(-z))


def test_weights_and_threshold_equal_those_of_a_plain_implementation():
    """Compare with a calibration by scikit-learn and a greedy selection with replacement, which are written out in this test."""
    X, y = rare_events()
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    pool = sw.ScorePool(members(), "csi", cv=folds).fit(X, y)
    logits = []
    for name, estimator in members():
        p = np.clip(cross_val_predict(estimator, X, y, cv=folds, method="predict_proba")[:, 1], 1e-6, 1 - 1e-6)
        z = np.log(p / (1 - p))
        platt = LogisticRegression(C=np.inf, tol=1e-10).fit(z[:, None], y)
        expected = (platt.coef_[0, 0], platt.intercept_[0])
        assert pool.calibrations_[name] == pytest.approx(expected, rel=1e-3, abs=1e-3)
        scale, shift = pool.calibrations_[name]
        logits.append(scale * z + shift)

    def value(counts):
        """Average the logits of the classifiers with the weights `counts`. Return the best CSI; each CSI is averaged over nearby thresholds."""
        mean = sum(count * z for count, z in zip(counts, logits)) / sum(counts)
        return sw.sweep(y, sigmoid(mean)).best("csi", smooth=0.2).expected_value

    counts = [3, 3, 3]
    best, best_counts = value(counts), list(counts)
    for _ in range(20):
        tried = [value([count + (at == added) for at, count in enumerate(counts)]) for added in range(3)]
        counts[int(np.argmax(tried))] += 1
        if max(tried) > best:
            best, best_counts = max(tried), list(counts)
    weights = np.array(best_counts) / sum(best_counts)
    np.testing.assert_allclose(list(pool.weights_.values()), weights, rtol=0, atol=1e-15)
    assert list(pool.weights_) == ["logistic", "forest", "bayes"]
    p = sigmoid(sum(weight * z for weight, z in zip(weights, logits)))
    np.testing.assert_allclose(pool.oof_probabilities_[:, 1], p, rtol=0, atol=1e-12)
    expected = sw.sweep(y, pool.oof_probabilities_[:, 1]).best("csi", smooth=0.2)
    assert pool.threshold_ == expected.threshold and pool.best_score_ == pytest.approx(expected.value, abs=1e-15)


def test_prediction_is_the_weighted_mean_of_the_calibrated_logits_of_all_folds():
    X, y = rare_events()
    new = rare_events(seed=1)[0][:100]
    pool = sw.ScorePool([*members(), ("svc", LinearSVC())], "f1", cv=3, repeats=2).fit(X, y)
    mean = np.zeros(100)
    for name, fitted in pool.estimators_.items():
        assert len(fitted) == 6
        scale, shift = pool.calibrations_[name]
        values = []
        for member in fitted:
            if name == "svc":
                values.append(member.decision_function(new))
            else:
                p = np.clip(member.predict_proba(new)[:, 1], 1e-6, 1 - 1e-6)
                values.append(np.log(p / (1 - p)))
        mean += pool.weights_[name] * (scale * np.mean(values, axis=0) + shift)
    p = pool.predict_proba(new)
    np.testing.assert_allclose(p[:, 1], sigmoid(mean), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(p.sum(axis=1), 1)
    np.testing.assert_array_equal(pool.predict(new), (p[:, 1] > pool.threshold_).astype(int))
    np.testing.assert_array_equal(pool.predict(new), (pool.decision_function(new) > 0).astype(int))
    tn, fp, fn, tp = confusion_matrix(y, pool.predict(X)).ravel()
    assert pool.score(X, y) == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-12)


def test_predicted_probabilities_are_calibrated():
    X, y = rare_events(4000)
    for name, estimator in (("bayes", GaussianNB()), ("svc", LinearSVC())):
        alone = sw.ScorePool([(name, estimator)], "tss").fit(X, y)
        assert alone.weights_ == {name: 1.0}
        assert alone.oof_probabilities_[:, 1].mean() == pytest.approx(y.mean(), rel=1e-6)
    pool = sw.ScorePool(members(), "tss").fit(X, y)
    p = pool.oof_probabilities_[:, 1]
    assert p.mean() == pytest.approx(y.mean(), rel=0.1)
    assert log_loss(y, p) < log_loss(y, cross_val_predict(GaussianNB(), X, y, cv=5, method="predict_proba")[:, 1])
    # The threshold for TSS is near the share of events, not at 1/2.
    assert pool.threshold_ < 0.25


def test_useless_classifier_gets_the_least_weight_and_the_pool_is_about_as_good_as_the_best_classifier():
    X, y = rare_events(3000)
    X_new, y_new = X[1500:], y[1500:]
    useless = ("chance", DecisionTreeClassifier(max_depth=1, max_features=1, splitter="random", random_state=0))
    pool = sw.ScorePool([useless, ("trees", HistGradientBoostingClassifier(max_iter=60, random_state=0)), ("logistic", LogisticRegression())], "f1")
    pool.fit(X[:1500], y[:1500])
    assert min(pool.weights_, key=pool.weights_.get) == "chance"
    assert sum(pool.weights_.values()) == pytest.approx(1, abs=1e-12)
    alone = sw.ScoreThreshold(HistGradientBoostingClassifier(max_iter=60, random_state=0), "f1").fit(X[:1500], y[:1500])
    assert pool.score(X_new, y_new) > alone.score(X_new, y_new) - 0.02


def test_scale_of_a_decision_function_does_not_matter():
    X, y = rare_events(800, share=0.2)

    class Scaled(LinearSVC):
        """Classifier whose values of ``decision_function`` are multiplied by a factor."""

        def __init__(self, factor=1.0):
            super().__init__(dual=False)
            self.factor = factor

        def decision_function(self, X):
            return super().decision_function(X) * self.factor

    pools = [sw.ScorePool([("svc", Scaled(factor)), ("bayes", GaussianNB())], "f1").fit(X, y) for factor in (1.0, 2.0**20, 2.0**-20)]
    for pool, factor in zip(pools, (1.0, 2.0**20, 2.0**-20)):
        np.testing.assert_array_equal(pool.predict_proba(X), pools[0].predict_proba(X))
        assert pool.calibrations_["svc"] == (pools[0].calibrations_["svc"][0] / factor, pools[0].calibrations_["svc"][1])
    p = pools[0].predict_proba(X)[:, 1]
    assert p.min() < y.mean() / 2 and p.max() > 2 * y.mean()


def test_classes_of_any_type_give_the_same_pool():
    X, y = rare_events(600, share=0.2)
    numbers = sw.ScorePool(members(), "f1").fit(X, y)
    for labels in (np.where(y == 1, "storm", "calm"), y == 1, np.where(y == 1, 10, 2), pandas.Series(np.where(y == 1, "b", "a"), index=range(600, 0, -1))):
        pool = sw.ScorePool(members(), "f1").fit(X, labels)
        np.testing.assert_array_equal(pool.classes_, np.unique(labels))
        np.testing.assert_array_equal(pool.predict_proba(X), numbers.predict_proba(X))
        np.testing.assert_array_equal(pool.predict(X) == pool.classes_[1], numbers.predict(X) == 1)
        assert pool.score(X, labels) == numbers.score(X, y)
        assert pool.estimators_["bayes"][0].classes_.tolist() == [0, 1]


def test_with_more_than_two_classes_the_probability_of_each_class_is_multiplied_by_a_factor():
    X, y = three_classes()
    pool = sw.ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("svc", LinearSVC())], "f1").fit(X, y)
    assert pool.classes_.tolist() == [2, 7, 10] and pool.threshold_ is None
    p = pool.predict_proba(X)
    assert p.shape == pool.oof_probabilities_.shape == (1060, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    predicted = pool.predict(X)
    np.testing.assert_array_equal(pool.classes_[pool.decision_function(X).argmax(axis=1)], predicted)
    assert pool.factors_.max() == 1 and pool.factors_[2] > pool.factors_[:2].min()
    assert (predicted == 10).sum() > (pool.classes_[p.argmax(axis=1)] == 10).sum(), "multiplying the probabilities by `factors_` must give more predictions of the rare class 10"
    assert pool.score(X, y) == pytest.approx(f1_score(y, predicted, average="macro"), abs=1e-12)
    out_of_fold = pool.classes_[(pool.oof_probabilities_ * pool.factors_).argmax(axis=1)]
    assert pool.best_score_ == pytest.approx(f1_score(y, out_of_fold, average="macro"), abs=1e-12)
    with pytest.raises(ValueError, match="a report needs two classes"):
        pool.report(X, y)
    text = sw.ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB()), ("svc", LinearSVC())], "f1").fit(X, np.array(["x", "b", "m"])[np.searchsorted([2, 7, 10], y)])
    assert text.classes_.tolist() == ["b", "m", "x"] and set(text.predict(X)) == {"b", "m", "x"}


def test_class_that_is_absent_from_a_training_fold_has_probability_zero_there():
    X, y = three_classes((200, 200, 3))
    folds = [(np.flatnonzero(y != 10), np.flatnonzero(y == 10)), (np.flatnonzero(np.arange(403) % 4 > 0), np.arange(0, 403, 4))]
    pool = sw.ScorePool([("bayes", GaussianNB())], cv=folds).fit(X, y)
    assert len(pool.estimators_["bayes"][0].classes_) == 2
    assert np.isfinite(pool.predict_proba(X)).all()
    with pytest.raises(ValueError, match="decision_function of 'svc' must return 3 columns for 3 classes, not 1; .* on rows of 2 classes"):
        sw.ScorePool([("svc", LinearSVC())], cv=folds).fit(X, y)


def test_folds_without_rows_are_left_out():
    X, y = three_classes((3, 3, 3))
    pool = sw.ScorePool([("bayes", GaussianNB())], cv=5, repeats=20).fit(X, y)
    assert 60 <= len(pool.estimators_["bayes"]) <= 100 and np.isfinite(pool.oof_probabilities_).all()
    every_third = np.where(np.arange(9) % 3 == 0, 0.0, 1.0)
    splits = [(np.arange(3, 9), np.array([0])), (np.array([0, 1, 2, 4, 7, 8]), np.array([3, 4, 5]))]
    weighted = sw.ScorePool([("bayes", GaussianNB())], cv=splits).fit(X, y, sample_weight=every_third)
    assert len(weighted.estimators_["bayes"]) == 1
    with pytest.raises(ValueError, match="cv holds out no row"):
        sw.ScorePool([("bayes", GaussianNB())], cv=splits[:1]).fit(X, y, sample_weight=every_third)


def held_out_folds(pool, n_rows):
    """Return the number of the fold that holds out each row, found from the rows that the classifiers of type `Recorder` were trained on."""
    folds = np.full(n_rows, -1)
    for number, member in enumerate(pool.estimators_["recorder"]):
        held_out = np.setdiff1d(np.arange(n_rows), member.rows_)
        assert (folds[held_out] == -1).all()
        folds[held_out] = number
    return folds


class Recorder(ClassifierMixin, BaseEstimator):
    """Classifier that stores the arguments of ``fit``; its logits are the first column of X, and the last column of X is the row number."""

    def fit(self, X, y, sample_weight=None, groups=None, time=None):
        X = np.asarray(X)
        self.classes_ = np.unique(y)
        self.rows_, self.weights_, self.groups_, self.times_ = X[:, -1].astype(int), sample_weight, groups, time
        return self

    def predict_proba(self, X):
        p = sigmoid(np.asarray(X)[:, 0])
        return np.column_stack([1 - p, p])


def recorder_data(n_rows=300):
    """Return features for `Recorder`, whose last column is the row number, and labels."""
    random = np.random.default_rng(0)
    y = (np.arange(n_rows) % 5 == 0).astype(int)
    return np.column_stack([y + random.normal(size=n_rows), np.arange(n_rows)]), y


def test_folds_have_the_same_share_of_each_class_and_depend_on_the_seed():
    X, y = recorder_data()
    pool = sw.ScorePool([("recorder", Recorder())]).fit(X, y)
    folds = held_out_folds(pool, 300)
    assert np.bincount(folds).tolist() == [60] * 5 and np.bincount(folds[y == 1]).tolist() == [12] * 5
    again, other = (held_out_folds(sw.ScorePool([("recorder", Recorder())], random_state=seed).fit(X, y), 300) for seed in (0, 1))
    assert (again == folds).all() and (other != folds).any()
    assert len(np.unique(folds[:25])) == 5, "the folds must be drawn at random, and must not be blocks of consecutive rows"
    few = sw.ScorePool([("recorder", Recorder())]).fit(X[:15], y[:15])
    assert len(few.estimators_["recorder"]) == 3, "by default, there must be fewer folds if a class has few rows"
    with pytest.raises(ValueError, match="cv: 5 folds, but the class `1` has only 3 rows"):
        sw.ScorePool([("recorder", Recorder())], cv=5).fit(X[:15], y[:15])


def test_groups_are_not_divided_between_folds_and_are_passed_to_the_classifiers():
    X, y = recorder_data()
    groups = np.repeat(np.arange(30), 10)
    for values in (groups, [f"station {group}" for group in groups], pandas.Series(groups).astype("category"), polars.Series(groups)):
        pool = sw.ScorePool([("recorder", Recorder()), ("bayes", GaussianNB())], cv=3).fit(X, y, groups=values)
        folds = held_out_folds(pool, 300)
        assert all(len(np.unique(folds[groups == group])) == 1 for group in range(30)) and set(folds) == {0, 1, 2}
        member = pool.estimators_["recorder"][0]
        np.testing.assert_array_equal(member.groups_, np.asarray(values)[member.rows_])
    splitter = sw.ScorePool([("recorder", Recorder())], cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert all(len(np.unique(held_out_folds(splitter, 300)[groups == group])) == 1 for group in range(30))


def test_folds_by_time_are_blocks_of_consecutive_times():
    X, y = recorder_data()
    order = np.random.default_rng(1).permutation(300)
    days = np.datetime64("2024-01-01") + order // 2
    for time in (days, order // 2, pandas.Series(days), polars.Series(days)):
        pool = sw.ScorePool([("recorder", Recorder())], cv=4).fit(X, y, time=time)
        folds = held_out_folds(pool, 300)
        assert (np.diff(folds[np.argsort(order)]) >= 0).all() and set(folds) == {0, 1, 2, 3}
        assert all(len(np.unique(folds[order // 2 == day])) == 1 for day in range(150)), "rows of the same time must be in the same fold"
        assert len(pool.estimators_["recorder"][0].times_) == len(pool.estimators_["recorder"][0].rows_)
    # If the rows are sorted by time, `time` is not needed: KFold makes folds of consecutive rows.
    assert (np.diff(held_out_folds(sw.ScorePool([("recorder", Recorder())], cv=KFold(4)).fit(X, y), 300)) >= 0).all()


def test_splitters_and_lists_of_splits_are_accepted():
    X, y = rare_events(600, share=0.2)
    repeated = sw.ScorePool(members(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert len(repeated.estimators_["bayes"]) == 6 and np.isfinite(repeated.oof_probabilities_).all()
    listed = sw.ScorePool(members(), cv=list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y))).fit(X, y)
    np.testing.assert_array_equal(listed.oof_probabilities_, repeated.oof_probabilities_)
    later = sw.ScorePool(members(), cv=TimeSeriesSplit(3)).fit(X, y)
    never_held_out = np.isnan(later.oof_probabilities_[:, 1])
    assert never_held_out[:150].all() and not never_held_out[150:].any() and 0 < later.best_score_ < 1


def test_sample_weights_are_passed_to_the_classifiers_and_rows_of_weight_zero_are_ignored():
    X, y = recorder_data()
    weights = np.random.default_rng(2).integers(0, 3, 300).astype(float)
    pool = sw.ScorePool([("recorder", Recorder()), ("bayes", GaussianNB())], "f1").fit(X, y, sample_weight=weights)
    member = pool.estimators_["recorder"][0]
    np.testing.assert_array_equal(member.weights_, weights[member.rows_])
    assert (member.weights_ > 0).all()
    assert np.isnan(pool.oof_probabilities_[weights == 0]).all() and np.isfinite(pool.oof_probabilities_[weights > 0]).all()
    kept = weights > 0
    alone = sw.ScorePool([("recorder", Recorder()), ("bayes", GaussianNB())], "f1").fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(alone.oof_probabilities_, pool.oof_probabilities_[kept])
    assert alone.weights_ == pool.weights_ and alone.threshold_ == pool.threshold_
    # A splitter sees all rows, and rows of weight 0 are left out afterwards.
    by_rows = sw.ScorePool([("recorder", Recorder())], cv=KFold(3)).fit(X, y, sample_weight=weights)
    assert by_rows.estimators_["recorder"][0].rows_.tolist() == [row for row in range(100, 300) if weights[row] > 0]
    expected = sw.sweep(y[kept], pool.oof_probabilities_[kept, 1], weights[kept]).best("f1", smooth=0.2)
    assert pool.threshold_ == expected.threshold and pool.best_score_ == pytest.approx(expected.value, abs=1e-15)
    without, ones = (sw.ScorePool([("bayes", GaussianNB())], "f1").fit(X, y, sample_weight=each) for each in (None, np.ones(300)))
    np.testing.assert_allclose(ones.oof_probabilities_, without.oof_probabilities_, rtol=0, atol=1e-12)


def test_metadata_routing_requests_decide_which_arguments_of_fit_are_passed_on():
    X, y = rare_events(500, share=0.2)
    weights = np.random.default_rng(0).random(500) + 0.1
    groups = np.arange(500) % 20
    plain = sw.ScorePool([("logistic", LogisticRegression())], cv=3).fit(X, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = LogisticRegression().set_fit_request(sample_weight=True)
        routed = sw.ScorePool([("logistic", weighted)], cv=3).fit(X, y, sample_weight=weights)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), weighted)
        piped = sw.ScorePool([("pipeline", pipeline), ("neighbours", KNeighborsClassifier())], cv=3).fit(X, y, sample_weight=weights)
        by_group = sw.ScorePool([("logistic", weighted)], cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
        folds = sw.ScorePool([("logistic", weighted)], cv=3).fit(X, y, sample_weight=weights, groups=groups)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            sw.ScorePool([("logistic", LogisticRegression())], cv=3).fit(X, y, sample_weight=weights)
        scores = cross_val_score(routed.set_fit_request(sample_weight=True).set_score_request(sample_weight=True), X, y, cv=3, params={"sample_weight": weights})
    np.testing.assert_array_equal(routed.oof_probabilities_, plain.oof_probabilities_)
    assert set(piped.weights_) == {"pipeline", "neighbours"} and np.isfinite(scores).all()
    assert by_group.threshold_ > 0 and folds.threshold_ > 0


def mixed_table(n_rows=300):
    """Return a column of numbers, a column of strings, and labels that depend on both."""
    random = np.random.default_rng(0)
    place = random.choice(["coast", "hill", "plain"], n_rows)
    number = random.normal(size=n_rows)
    y = (number + (place == "coast") + 0.7 * random.normal(size=n_rows) > 1).astype(int)
    return {"number": number, "place": place.tolist()}, y


def test_a_score_pool_is_the_same_whether_fitted_on_a_pandas_polars_or_pyarrow_table():
    data, y = mixed_table()
    numbers = make_pipeline(_ColumnOf("number"), LogisticRegression())
    make = lambda: sw.ScorePool([("net", sw.ScoreClassifier("f1", hidden=(4,), epochs=5, ensemble=1)), ("logistic", numbers)], "f1", cv=3)  # noqa: E731
    first = make().fit(pandas.DataFrame(data), y)
    assert first.feature_names_in_.tolist() == ["number", "place"] and first.n_features_in_ == 2
    for frame in (polars.DataFrame, pyarrow.table):
        pool = make().fit(frame(data), y)
        np.testing.assert_array_equal(pool.oof_probabilities_, first.oof_probabilities_)
        np.testing.assert_array_equal(pool.predict(frame(data)), first.predict(pandas.DataFrame(data)))
        assert pool.feature_names_in_.tolist() == ["number", "place"]
    with pytest.raises(ValueError, match="feature names should match"):
        first.predict(pandas.DataFrame(data)[["place", "number"]])
    X, y = rare_events(200, share=0.3)
    array = sw.ScorePool(members(), cv=2).fit(X, y)
    assert array.n_features_in_ == 8 and not hasattr(array, "feature_names_in_")
    with pytest.raises(ValueError, match="expecting 8 features"):
        array.predict(X[:, :3])
    np.testing.assert_array_equal(sw.ScorePool(members(), cv=2).fit(X.tolist(), y.tolist()).oof_probabilities_, array.oof_probabilities_)


class _ColumnOf(BaseEstimator):
    """Transformer that selects one column of a pandas, polars or pyarrow table and returns it as a matrix."""

    def __init__(self, name):
        self.name = name

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X[self.name], dtype=float).reshape(-1, 1)


def test_n_jobs_does_not_change_the_pool():
    X, y = rare_events(500)
    first, second = (sw.ScorePool(members(), "csi", n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(first.oof_probabilities_, second.oof_probabilities_)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert (first.weights_, first.threshold_, first.best_score_) == (second.weights_, second.threshold_, second.best_score_)


def test_parameters_of_the_classifiers_in_a_pool_can_be_set_and_searched():
    X, y = rare_events(400, share=0.2)
    pool = sw.ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB())], "csi", cv=3)
    assert pool.get_params()["score"] == "csi" and pool.score == "csi" and pool.get_params()["logistic__C"] == 1.0
    pool.set_params(logistic__C=0.5, score="f1", repeats=2)
    assert pool.estimators[0][1].C == 0.5 and pool.get_params(deep=False)["score"] == "f1"
    assert clone(pool).get_params()["logistic__C"] == 0.5
    search = GridSearchCV(pool.set_params(repeats=1), {"bayes": ["drop", GaussianNB()], "logistic__C": [0.01, 1.0]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4 and np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = pool.set_params(bayes="drop").fit(X, y)
    assert alone.weights_ == {"logistic": 1.0}


def test_pool_can_be_pickled_and_cloned():
    X, y = rare_events(400, share=0.2)
    pool = sw.ScorePool([*members(), ("net", sw.ScoreClassifier(recipe="quick", epochs=3))], cv=2).fit(X, y)
    restored = pickle.loads(pickle.dumps(pool))
    np.testing.assert_array_equal(restored.predict_proba(X), pool.predict_proba(X))
    with pytest.raises(NotFittedError):
        clone(pool).predict(X)


class Interrupted(GaussianNB):
    """Classifier for which every second call of ``fit`` raises KeyboardInterrupt."""

    calls = 0

    def fit(self, X, y):
        Interrupted.calls += 1
        if Interrupted.calls % 2 == 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_interrupted_fit_leaves_the_pool_as_it_was():
    X, y = rare_events(300, share=0.3)
    unfitted = sw.ScorePool([("bayes", Interrupted())])
    with pytest.raises(KeyboardInterrupt):
        unfitted.fit(X, y)
    assert vars(unfitted).keys() == vars(sw.ScorePool([])).keys()
    pool = sw.ScorePool([("bayes", GaussianNB())]).fit(X, y)
    before = pool.predict_proba(X)
    pool.set_params(bayes=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        pool.fit(X[:, :5], y)
    np.testing.assert_array_equal(pool.predict_proba(X), before)


def test_report_describes_the_pool_on_new_rows():
    X, y = rare_events(1000, share=0.2)
    pool = sw.ScorePool(members(), "csi").fit(X[:600], y[:600])
    forecast = pool.report(X[600:], y[600:], replicates=20).document["forecast"]
    assert forecast["chosen"] == "best csi on out-of-fold predictions, averaged over nearby thresholds"
    assert forecast["threshold"] == pool.threshold_


class NoValues(ClassifierMixin, BaseEstimator):
    """Classifier with neither ``predict_proba`` nor ``decision_function``."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))


class NotFinite(GaussianNB):
    """Classifier whose probabilities are NaN."""

    def predict_proba(self, X):
        return super().predict_proba(X) * np.nan


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(estimators=[]), "estimators must be a list of names and classifiers"),
        (dict(estimators=[GaussianNB()]), "estimators must be a list of names and classifiers"),
        (dict(estimators=GaussianNB()), "estimators must be a list of names and classifiers"),
        (dict(estimators=[("a", GaussianNB()), ("a", GaussianNB())]), "not unique"),
        (dict(estimators=[("score", GaussianNB())]), "conflict with constructor arguments"),
        (dict(estimators=[("a__b", GaussianNB())]), "must not contain __"),
        (dict(estimators=[("a", "drop")]), "all estimators are dropped"),
        (dict(estimators=[("a", GaussianNB)]), "'a' is not a classifier"),
        (dict(estimators=[("a", NoValues())]), "'a' .NoValues. has neither predict_proba nor decision_function"),
        (dict(estimators=[("a", NotFinite())]), "'a' predicted a number that is not finite"),
        (dict(score="f7"), "`f7` is not a score"),
        (dict(score=None), "score must be a name or a formula"),
        (dict(score="macro(f1)"), "macro"),
        (dict(cv=1), "cv: must be a whole number of 2 or more, not 1"),
        (dict(cv=101), "cv: 101 is not a valid number of folds"),
        (dict(repeats=0), "repeats: must be a whole number of 1 or more"),
        (dict(cv=KFold(3), repeats=2), "leave repeats out"),
        (dict(random_state=-1), "random_state"),
        (dict(fit=dict(groups=np.zeros(200))), "cv|groups|split"),
        (dict(fit=dict(groups=np.zeros(3))), "groups has 3 rows, expected 200"),
        (dict(fit=dict(groups=[None] * 200)), "groups has missing values"),
        (dict(fit=dict(groups=np.arange(200) % 9, time=np.arange(200))), "groups and time are both given"),
        (dict(fit=dict(time=["late"] * 200)), "time holds neither dates nor numbers"),
        (dict(fit=dict(time=np.where(np.arange(200) == 3, np.nan, 1.0))), "time has missing values"),
        (dict(cv=KFold(3), fit=dict(time=np.arange(200))), "time is given, but cv is a splitter"),
        (dict(fit=dict(sample_weight=np.zeros(200))), "zero in every row"),
        (dict(fit=dict(sample_weight=np.ones(3))), "sample_weight has 3 rows, expected 200"),
        (
            dict(estimators=[("a", KNeighborsClassifier()), ("b", GaussianNB()), ("c", make_pipeline(GaussianNB()))], fit=dict(sample_weight=np.ones(200))),
            r"'a' \(KNeighborsClassifier\), 'c' \(Pipeline\) do not accept it",
        ),
        (dict(y=np.zeros(200)), "only one class"),
        (dict(y=np.where(np.arange(200) == 0, 1, 0)), "y: the class 1 has 1 rows, but cross-fitting needs at least 2 rows"),
        (dict(y=np.linspace(0, 1, 200)), "Unknown label type"),
        (dict(X=np.zeros(200)), "2-dimensional|Reshape"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else ",".join(value),
)
def test_invalid_arguments_raise_a_clear_error(arguments, message):
    X, y = rare_events(200, share=0.3)
    X, y, fit = arguments.pop("X", X), arguments.pop("y", y), arguments.pop("fit", {})
    with pytest.raises(ValueError, match=message):
        sw.ScorePool(**{"estimators": [("bayes", GaussianNB())], **arguments}).fit(X, y, **fit)


def test_classifiers_with_constant_or_extreme_predictions_are_combined():
    X, y = rare_events(300, share=0.3)
    constant = sw.ScorePool([("constant", DummyClassifier()), ("also", DummyClassifier())], "f1").fit(X, y)
    assert np.isfinite(constant.predict_proba(X)).all()
    sure = sw.ScorePool([("tree", DecisionTreeClassifier(random_state=0)), ("perceptron", Perceptron()), ("sgd", SGDClassifier(random_state=0))], "f1").fit(X, y)
    assert np.isfinite(sure.predict_proba(X)).all() and sure.best_score_ > 0.5


def test_native_functions_refuse_arrays_of_inconsistent_lengths_and_invalid_values():
    numbers, labels = np.zeros(4), np.array([0, 1, 0, 1], dtype=np.uint32)
    for candidates, values, classes in [([numbers[:3]], labels, 2), ([], labels, 2), ([numbers], labels + 1, 2), ([numbers], labels, 3), ([numbers + np.inf], labels, 2)]:
        with pytest.raises(ValueError, match="candidates"):
            _scorewise.pool(candidates, [True] * len(candidates), values, classes, None, "f1", 0)
    with pytest.raises(ValueError, match="not a probability"):
        _scorewise.pool_logits(np.array([1.5]), 1)
    with pytest.raises(ValueError, match="calibrations and weights must have the same length"):
        _scorewise.pool_probabilities([numbers], [], [1.0], 1)
    with pytest.raises(ValueError, match="not the index of a class"):
        _scorewise.cross_fit(labels + 1, ["a", "b"], [], 2, 1, False, 0)
    text, p = _scorewise.pool([np.array([-2.0, 2.0, -1.0, 1.0])], [True], labels, 2, None, "f1", 0)
    assert json.loads(text)["weights"] == [1.0] and p.shape == (4,)


def test_examples_in_docstrings_run():
    results = doctest.testmod(_pool)
    assert results.attempted >= 2 and results.failed == 0


def test_a_cost_matrix_predicts_the_class_with_the_lowest_expected_cost():
    X, y = three_classes()
    costs = np.array([[0, 1, 2], [1, 0, 1], [60, 20, 0]], float)
    text = "cost_matrix(0, 1, 2; 1, 0, 1; 60, 20, 0)"
    pool = sw.ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB())], text).fit(X, y)
    np.testing.assert_array_equal(pool.costs_, costs)
    p = pool.predict_proba(X)
    np.testing.assert_array_equal(pool.predict(X), pool.classes_[(p @ costs).argmin(axis=1)])
    places = np.searchsorted(pool.classes_, y)
    out_of_fold = (pool.oof_probabilities_ @ costs).argmin(axis=1)
    assert pool.best_score_ == pytest.approx(costs[places, out_of_fold].mean(), rel=1e-12)
    assert costs[places, out_of_fold].mean() < costs[places, pool.oof_probabilities_.argmax(axis=1)].mean()
    with pytest.raises(ValueError, match="a matrix of costs for 2 classes, but there are 3"):
        sw.ScorePool([("logistic", LogisticRegression())], "cost_matrix(0, 1; 1, 0)").fit(X, y)
