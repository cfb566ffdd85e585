"""A scikit-learn meta-estimator that combines classifiers of any library for a score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from . import _arrays, _checks, _scorewise
from ._arrays import Array, Column
from ._estimator import ScoreEstimator
from ._report import Report

_FOLDS = 5


class ScorePool(MetaEstimatorMixin, _BaseComposition, ScoreEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Weighted mean of several classifiers, with weights and a threshold that are chosen for a score.

    This is the pool of the command ``scorewise train``, for classifiers of any library. Each classifier is cross-fitted: for each
    fold, it is trained on the other folds and predicts the rows of this fold, so that every row is predicted by a model that was not trained on it.
    On these out-of-fold predictions

    1. the logits of each classifier are calibrated (Platt scaling), so that they can be averaged;
    2. the weights are chosen by greedy selection, judged by the score under a random threshold, which depends less on single rows than the score
       at the best threshold;
    3. the threshold is the one that is best on average over nearby thresholds, as in ``scorewise.sweep(y, p).best(score, smooth=0.2)``. With more
       than two classes, the probability of each class is multiplied by a factor instead, where that improves the score.

    The models of all folds are kept, and a prediction is the mean of their logits, so ``predict`` runs all of them. No classifier is
    trained on all rows in the end, because the weights and the threshold belong to the models of the folds. Each classifier is calibrated; the
    probabilities of the pool are usually a little less extreme than calibrated ones, because the mean of several logits is less extreme than the
    single logits.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The classifiers with their names. Each must have ``predict_proba`` or ``decision_function``. A name with ``"drop"`` instead of a classifier is
        left out.
    score : str, default="f1"
        The score to optimise, by name (see :func:`scorewise.scores`) or as a formula; with more than two classes as in :class:`ScoreClassifier`.
    cv : int, splitter, iterable of splits or None, default=None
        The folds. An integer is the number of folds. If ``fit`` gets ``groups``, no group is divided between folds; if ``fit`` gets ``time``, the
        folds are blocks of consecutive times; otherwise all folds have the same share of each class. None is 5 folds, or fewer if a class has
        fewer rows. A scikit-learn splitter may be used too, such as ``KFold(5)``, which gives blocks of consecutive rows. Rows that no fold holds
        out are used for training only.
    repeats : int, default=1
        How often the rows are divided into folds, if ``cv`` is an integer or None. Each classifier is trained once for each fold of each repeat.
    random_state : int, RandomState or None, default=0
        The seed of the folds, if ``cv`` is an integer or None, and of the bootstrap from which, with more than two classes, ``factors_`` is computed.
        The classifiers keep their own ``random_state``.
    n_jobs : int, default=None
        The number of models that are trained in parallel, by joblib.
    verbose : int, default=0
        The verbosity of joblib: above 0, progress is printed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; with two classes, the second is the positive one.
    weights_ : dict of str to float
        The weight of each classifier in the mean. The weights sum to 1.
    threshold_ : float or None
        With two classes, the positive class is predicted if its probability is above this threshold; None with more than two classes.
    factors_ : ndarray of shape (n_classes,) or None
        With more than two classes, the factors by which the probabilities of the classes are multiplied; the class with the greatest product is
        predicted. None with two classes.
    costs_ : ndarray of shape (n_classes, n_classes) or None
        If ``score`` is a ``cost_matrix(…)``, the costs, with a row for each true class: the class with the lowest expected cost is predicted. None if
        predicting the most probable class costs less on the out-of-fold predictions, and None for other scores.
    best_score_ : float or None
        The score of the out-of-fold predictions of this pool of classifiers, with ``threshold_`` or ``factors_``; None when it is undefined. It is
        slightly too good, because the weights and the threshold or factors were chosen on the same predictions.
    oof_probabilities_ : ndarray of shape (n_rows, n_classes)
        The out-of-fold probabilities of the rows passed to ``fit``; NaN for rows that no fold holds out, and for rows of weight 0.
    estimators_ : dict of str to list of classifiers
        The fitted classifiers of all folds. They were trained with the labels 0, 1, …, which are indices into ``classes_``.
    calibrations_ : dict of str to (float, float)
        For each classifier the numbers a and b that replace its mean logit z by a z + b; b is 0 with more than two classes.
    n_features_in_ : int
        The number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns seen during ``fit``, if X has column names that are all strings.

    Notes
    -----
    ``sample_weight`` is passed to every classifier and counts in the choice of weights and threshold; it is an error if a classifier does not accept
    it. Rows of weight 0 are ignored. ``groups`` and ``time`` are passed to classifiers whose ``fit`` has a parameter of that name. If metadata
    routing is enabled, scikit-learn's metadata requests decide which arguments are passed on. ``score(X, y)`` is the chosen score, transformed
    so that greater is better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> model = ScorePool([("logistic", LogisticRegression()), ("bayes", GaussianNB())], score="csi").fit(X, y)
    >>> sorted(model.weights_), round(sum(model.weights_.values()), 9)
    (['bayes', 'logistic'], 1.0)
    """

    weights_: dict[str, float]
    threshold_: float | None
    factors_: Array | None
    costs_: Array | None
    best_score_: float | None
    oof_probabilities_: Array
    estimators_: dict[str, list[Any]]
    calibrations_: dict[str, tuple[float, float]]

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        score: str = "f1",
        *,
        cv: Any = None,
        repeats: int = 1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.score = score
        self.cv = cv
        self.repeats = repeats
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, time: Any = None) -> ScorePool:
        """Train the classifiers on folds of the rows, and choose their weights and the threshold.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_features)
            The columns, of any type that the classifiers accept.
        y : array-like of shape (n_rows,)
            The class of each row.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        groups : array-like of shape (n_rows,), optional
            The group of each row: rows of the same group are never in two folds.
        time : array-like of shape (n_rows,), optional
            The time of each row, as dates or numbers: the folds are blocks of consecutive times.
        """
        named = self._named_estimators()
        score, seed = self._score(), _checks.seed(self.random_state)
        labels = _checks.labels(y, None)
        X, labels = indexable(X, labels)
        n_rows = len(labels)
        weights = _checks.weights(sample_weight, n_rows)
        kept = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
        classes, codes = np.unique(labels[kept], return_inverse=True)
        _checks.check_classes(classes, weights is not None)
        all_codes = np.zeros(n_rows, dtype=np.int64)
        all_codes[kept] = codes
        per_row = {"sample_weight": weights, "groups": _per_row(groups, "groups", n_rows), "time": _per_row(time, "time", n_rows)}
        for_fit, for_split = self._route_arguments(named, {name: value for name, value in per_row.items() if value is not None})
        checked = self._checked_features(X)
        splits = self._splits(X, labels, classes, kept, codes, per_row, for_split, seed)

        tasks = [(name, estimator, split) for name, estimator in named for split in splits]
        fitted = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(_fit_and_predict)(name, clone(estimator), X, all_codes, for_fit[name], len(classes), *split) for name, estimator, split in tasks
        )
        outputs = 1 if len(classes) == 2 else len(classes)
        held_out = [rows for _, rows in splits]
        count = np.bincount(np.concatenate(held_out), minlength=n_rows)
        rows = np.flatnonzero(count)
        estimators: dict[str, list[Any]] = {}
        candidates, has_scale = [], []
        for at, (name, _) in enumerate(named):
            of_name = fitted[at * len(splits) : (at + 1) * len(splits)]
            estimators[name] = [estimator for estimator, _, _ in of_name]
            has_scale.append(of_name[0][1] == "predict_proba")
            total = np.zeros((n_rows, outputs))
            for (_, _, logits), part in zip(of_name, held_out, strict=True):
                total[part] += logits
            candidates.append((total[rows] / count[rows, None]).ravel())
        row_weights = None if weights is None else weights[rows]
        text, probabilities = _scorewise.pool(candidates, has_scale, all_codes[rows].astype(np.uint32), len(classes), row_weights, score, seed)
        found = json.loads(text)

        # All attributes are set here, at the end, so that a fit that is interrupted does not change this `ScorePool`.
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
        self.classes_ = classes
        self.estimators_ = estimators
        self.weights_ = dict(zip(estimators, found["weights"], strict=True))
        self.calibrations_ = dict(zip(estimators, map(tuple, found["calibrations"]), strict=True))
        self.threshold_ = found["threshold"]
        self.factors_ = None if outputs == 1 else np.ones(outputs) if found["factors"] is None else np.array(found["factors"])
        self.costs_ = None if found["costs"] is None else np.array(found["costs"])
        self.best_score_ = found["value"]
        self.oof_probabilities_ = np.full((n_rows, len(classes)), np.nan)
        self.oof_probabilities_[rows] = _columns(probabilities, len(classes))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, as an array of shape (n_rows, n_classes)."""
        check_is_fitted(self, "weights_")
        self._check_features(X)
        n_classes = len(self.classes_)
        candidates = []
        for name, members in self.estimators_.items():
            mean = np.mean([_logits(name, member, X, n_classes)[1] for member in members], axis=0)
            candidates.append(np.ascontiguousarray(mean).ravel())
        calibrations, weights = list(self.calibrations_.values()), list(self.weights_.values())
        return _columns(_scorewise.pool_probabilities(candidates, calibrations, weights, 1 if n_classes == 2 else n_classes), n_classes)

    def decision_function(self, X: Any) -> Array:
        """Return the confidence in each class.

        With two classes, this is the probability of the positive class minus the threshold, which is above 0 if that class is predicted. With
        more classes, there is one column for each class, and the predicted class has the greatest value.
        """
        p = self.predict_proba(X)
        if self.costs_ is not None:
            return np.asarray(-p @ self.costs_)
        return np.asarray(p[:, 1] - self.threshold_ if self.factors_ is None else p * self.factors_)

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each row; with two classes, the positive class if its probability is above the threshold."""
        confidence = self.decision_function(X)
        chosen = confidence > 0 if self.factors_ is None else confidence.argmax(axis=1)
        predicted: Array = self.classes_[chosen.astype(np.intp)]
        return predicted

    def report(self, X: Any, y: Any, sample_weight: Any = None, *, replicates: int = 1000, block: int | str | None = None, groups: Any = None) -> Report:
        """Return a report on this pool of classifiers, which must have two classes, with its scores at all thresholds.

        The scores are computed on ``X`` and ``y``, which should not be rows that the classifiers were trained on.
        """
        check_is_fitted(self, "weights_")
        if self.threshold_ is None:
            raise ValueError(f"a report needs two classes, but the pool has {len(self.classes_)} classes")
        return self._report(
            y,
            self.predict_proba(X)[:, 1],
            sample_weight,
            threshold=self.threshold_,
            chosen=f"best {self._score()} on out-of-fold predictions, averaged over nearby thresholds",
            prior=None,
            subject_to=None,
            training=None,
            replicates=replicates,
            block=block,
            groups=groups,
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of this ``ScorePool`` and, if ``deep``, those of its classifiers, such as ``lgbm__num_leaves``."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> ScorePool:
        """Set parameters of this ``ScorePool`` or of its classifiers; ``lgbm="drop"`` leaves a classifier out."""
        self._set_params("estimators", **params)
        return self

    def get_metadata_routing(self) -> Any:
        """Return which arguments of ``fit`` are passed to the classifiers and to the splitter when metadata routing is enabled."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for name, estimator in self._named_estimators():
            router.add(**{name: estimator}, method_mapping=mapping)
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _named_estimators(self) -> list[tuple[str, Any]]:
        """Check the parameter ``estimators``, and return the names and classifiers that are not dropped."""
        pairs = self.estimators
        is_list = isinstance(pairs, Sequence) and not isinstance(pairs, str) and len(pairs) > 0
        if not is_list or any(not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str) for pair in pairs):
            raise ValueError(f"estimators must be a list of names and classifiers, such as [('logistic', LogisticRegression())], not {pairs!r}")
        self._validate_names([name for name, _ in pairs])
        named = [(name, estimator) for name, estimator in pairs if not (isinstance(estimator, str) and estimator == "drop")]
        if not named:
            raise ValueError("all estimators are dropped: a pool needs at least one classifier")
        for name, estimator in named:
            if isinstance(estimator, (str, type)) or not hasattr(estimator, "fit"):
                raise ValueError(f"estimators: {name!r} is not a classifier: {estimator!r}")
        return named

    def _splits(
        self,
        X: Any,
        labels: Array,
        classes: Array,
        kept: Array,
        codes: Array,
        per_row: dict[str, Any],
        for_split: dict[str, Any],
        seed: int,
    ) -> list[tuple[Array, Array]]:
        """Return the training rows and the held-out rows of each fold, without rows of weight 0."""
        repeats = _checks.whole("repeats", self.repeats, 1)
        if self.cv is None or (isinstance(self.cv, Integral) and not isinstance(self.cv, bool)):
            folds = _FOLDS if self.cv is None else _checks.whole("cv", self.cv, 2)
            given = [name for name in ("groups", "time") if per_row[name] is not None]
            if len(given) == 2:
                raise ValueError("groups and time are both given: pass only one of them")
            columns: list[Column] = [(name, _fold_column(name, per_row[name][kept])) for name in given]
            names = [str(name) for name in classes.tolist()]
            found = _scorewise.cross_fit(codes.astype(np.uint32), names, columns, folds, repeats, self.cv is None, seed)
            # With few rows and many classes, a fold may have no held-out rows; such a fold is left out.
            return [(kept[training], kept[held_out]) for training, held_out in found if len(held_out)]
        if per_row["time"] is not None:
            raise ValueError("time is given, but cv is a splitter, which does not use it: make cv a number of folds")
        if repeats != 1:
            raise ValueError("repeats is given, but cv is a splitter, which defines its own repeats: leave repeats out")
        is_kept = np.zeros(len(labels), dtype=bool)
        is_kept[kept] = True
        rows = np.arange(len(labels))
        splits = [(rows[training], rows[held_out]) for training, held_out in check_cv(self.cv, labels, classifier=True).split(X, labels, **for_split)]
        splits = [(training[is_kept[training]], held_out[is_kept[held_out]]) for training, held_out in splits]
        splits = [split for split in splits if len(split[1])]
        if not splits:
            raise ValueError("cv holds out no row with a weight above 0: use a splitter that holds out other rows")
        return splits

    def _route_arguments(
        self, named: list[tuple[str, Any]], given: dict[str, Any]
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the arguments for the ``fit`` of each classifier, and those for the splitter."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return {name: dict(routed[name].fit) for name, _ in named}, dict(routed.splitter.split)
        if "sample_weight" in given:
            without = [f"{name!r} ({type(estimator).__name__})" for name, estimator in named if not has_fit_parameter(estimator, "sample_weight")]
            if without:
                verb = "does" if len(without) == 1 else "do"
                raise ValueError(
                    f"sample_weight is given, but {', '.join(without)} {verb} not accept it: leave out sample_weight or the estimator; "
                    "a pipeline accepts it with scikit-learn's metadata routing"
                )
        for_fit = {name: {key: value for key, value in given.items() if has_fit_parameter(estimator, key)} for name, estimator in named}
        return for_fit, {key: value for key, value in given.items() if key == "groups"}

    def _checked_features(self, X: Any) -> Any:
        """Return an object with the attributes ``n_features_in_`` and ``feature_names_in_`` of X."""
        found = _Features()
        _validate_features(found, X, reset=True)
        return found

    def _check_features(self, X: Any) -> None:
        """Raise an error if X does not have the same number and names of columns as the table that was passed to ``fit``."""
        _validate_features(self, X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether this ``ScorePool`` has been trained."""
        return "weights_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this ``ScorePool`` accepts the tables that all of its classifiers accept."""
        tags = super().__sklearn_tags__()
        try:
            of_estimators = [get_tags(estimator) for _, estimator in self._named_estimators()]
        except (TypeError, ValueError, AttributeError):  # the estimators are not valid, which `fit` reports
            return tags
        for name in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, name, all(getattr(each.input_tags, name) for each in of_estimators))
        tags.non_deterministic = any(each.non_deterministic for each in of_estimators)
        return tags


class _Features(ScoreEstimator):
    """Holds the attributes that scikit-learn's ``validate_data`` sets, so that the ``ScorePool`` itself is changed only after a successful fit."""


def _validate_features(estimator: Any, X: Any, reset: bool) -> None:
    """Set the number and the names of the columns if ``reset``, otherwise check them against those seen during ``fit``.

    The values of the columns are checked by the classifiers.
    """
    if hasattr(X, "shape") and len(X.shape) != 2:
        raise ValueError(f"Expected a 2-dimensional table, got an array of shape {tuple(X.shape)}. Reshape your data.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _per_row(values: Any, name: str, n_rows: int) -> Array | None:
    """Return ``values`` as an array, which must have one entry for each row; return None if ``values`` is None."""
    if values is None:
        return None
    found = _arrays.one_dimensional_array(values, name)
    if len(found) != n_rows:
        raise ValueError(f"{name} has {len(found)} rows, expected {n_rows}")
    return found


def _fold_column(name: str, values: Array) -> Array | tuple[Array, list[str]]:
    """Convert ``groups`` or ``time``, by which rows are divided into folds, to a column; no value may be missing."""
    column = _arrays.column(values)
    if _arrays.is_missing(column).any():
        raise ValueError(f"{name} has missing values: every row needs a {'group' if name == 'groups' else 'time'}")
    if name == "time":
        if isinstance(column, tuple) or column.dtype == np.int8:
            raise ValueError("time holds neither dates nor numbers")
        return column
    if isinstance(column, tuple):
        return column
    levels, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.uint32), [str(level) for level in levels.tolist()]


def _fit_and_predict(
    name: str, estimator: Any, X: Any, codes: Array, fit_params: dict[str, Any], n_classes: int, training: Array, held_out: Array
) -> tuple[Any, str, Array]:
    """Train a classifier on the training rows; return the classifier, the name of its prediction method, and its logits for the held-out rows."""
    params = {key: _safe_indexing(value, training) for key, value in fit_params.items()}
    estimator.fit(_safe_indexing(X, training), codes[training], **params)
    return estimator, *_logits(name, estimator, _safe_indexing(X, held_out), n_classes)


def _logits(name: str, estimator: Any, X: Any, n_classes: int) -> tuple[str, Array]:
    """Return the name of the method with which the classifier predicts rows, and its predictions: logits, or values of ``decision_function``.

    The predictions have one column for two classes, otherwise one column for each class. In logits, a class that the classifier was not trained on
    has probability 0.
    """
    method = next((method for method in ("predict_proba", "decision_function") if hasattr(estimator, method)), None)
    if method is None:
        raise ValueError(f"{name!r} ({type(estimator).__name__}) has neither predict_proba nor decision_function, so there is nothing to average")
    known = np.asarray(estimator.classes_).astype(np.int64)
    if n_classes == 2 and len(known) != 2:
        raise ValueError(f"the classifier {name!r} was trained on rows of only one class: use fewer folds, or a stratified splitter")
    values = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"the classifier {name!r} predicted a number that is not finite")
    if method == "decision_function":
        values = values[:, None] if values.ndim == 1 else values
        if values.shape[1] != (1 if n_classes == 2 else n_classes):
            raise ValueError(
                f"the decision_function of {name!r} must return {1 if n_classes == 2 else n_classes} columns for {n_classes} classes, "
                f"not {values.shape[1]}; the classifier was trained on rows of {len(known)} classes"
            )
        return method, values
    outputs = 1 if n_classes == 2 else n_classes
    if outputs == 1:
        probabilities = values[:, 1:]
    else:
        probabilities = np.zeros((len(values), n_classes))
        probabilities[:, known] = values
    return method, _scorewise.pool_logits(np.ascontiguousarray(probabilities).ravel(), outputs).reshape(-1, outputs)


def _columns(probabilities: Array, n_classes: int) -> Array:
    """Convert the probabilities from the native module to a matrix with one column for each class."""
    return np.column_stack([1.0 - probabilities, probabilities]) if n_classes == 2 else probabilities.reshape(-1, n_classes)
