"""A scikit-learn meta-estimator that chooses the exact best threshold of any binary classifier, or a smoothed one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from . import _checks, _measures
from ._arrays import Array
from ._estimator import ScoreEstimator
from ._measures import Confusion
from ._report import Report


def _estimator_has(method: str) -> Callable[[Any], bool]:
    """Return a function for ``available_if`` that checks whether the wrapped estimator has a method."""

    def estimator_has_method(self: Any) -> bool:
        """Return True, or raise an AttributeError if the estimator does not have the method."""
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return estimator_has_method


class ScoreThreshold(MetaEstimatorMixin, ScoreEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Binary classifier with the exact best decision threshold of a score.

    By cross-validation, every row is predicted by a classifier that was not trained on it. The best threshold is then found exactly from all
    these predictions together, instead of on a grid or as a mean over the folds. Finally the classifier is trained on all rows.

    Parameters
    ----------
    estimator : classifier
        A binary classifier with ``predict_proba`` or ``decision_function``.
    score : str, default="f1"
        The score to optimise, by name (see :func:`scorewise.scores`) or as a formula.
    subject_to : str or sequence of str, default=None
        Conditions that the threshold must satisfy, such as ``"precision >= 0.3"``. A condition such as ``"precision >= 0.3 with 95%"`` must hold
        for future rows with this confidence (see :meth:`scorewise.Sweep.best`). If no threshold satisfies them, ``fit`` raises a ValueError. Rows
        with equal ``groups``, and repeated predictions of the same row, are treated as dependent.
    smooth : float, default=None
        A width from 0.001 to below 0.5, usually 0.2: use the threshold that is best on average over nearby thresholds, which depends less on
        single rows than the exactly best one (see :meth:`scorewise.Sweep.best`). It needs ``predict_proba`` and cannot be combined with
        ``subject_to``. None uses the exactly best threshold.
    cv : int, float, splitter, iterable of splits or "prefit", default=5
        The number of stratified folds (int), the fraction of rows in a single held-out set (float), or any scikit-learn splitter; a row that is
        held out several times is counted every time. With "prefit" the estimator is not trained again, and the threshold is chosen on all
        rows passed to ``fit``; they should not be rows that the estimator was trained on.
    method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The method of the estimator whose values are compared with the threshold. Values of ``decision_function`` are replaced by their ranks for
        the search; the threshold and the interval are exact on the original scale.
    refit : bool, default=True
        Whether to train the estimator on all rows in the end. If False, the estimator of the only split is kept, so ``cv`` must define
        exactly one split. Ignored with "prefit".
    random_state : int, RandomState or None, default=None
        The seed for choosing the held-out rows if ``cv`` is a fraction.
    n_jobs : int, default=None
        The number of folds that run in parallel.

    Attributes
    ----------
    threshold_ : float
        Rows with a value strictly above this threshold are predicted positive.
    interval_ : tuple of float
        All thresholds from the first number up to, but not including, the second give the same score on the held-out rows.
    best_score_ : float
        The score of the held-out predictions at the threshold.
    confusion_ : Confusion
        The weighted confusion matrix of the held-out predictions at the threshold: tn, fp, fn, tp.
    guarantee_ : Document or None
        How conditions with a confidence were tested; None if no condition has one.
    method_ : str
        The method of the estimator whose values are compared with the threshold.
    estimator_ : classifier
        The fitted estimator.
    classes_ : ndarray of shape (2,)
        The classes; the second one is positive.
    n_features_in_, feature_names_in_
        The number and the names of the columns, as in the fitted estimator.

    Notes
    -----
    ``sample_weight`` is used for choosing the threshold, and for training if the estimator accepts weights. Other arguments of ``fit`` are
    passed to the estimator's ``fit``, split by fold if they have one entry per row, and ``groups`` is passed to the splitter. If metadata
    routing is enabled, scikit-learn's metadata requests decide which arguments are passed on. ``score(X, y)`` is the chosen score,
    transformed so that greater is better.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> model = ScoreThreshold(LogisticRegression(), "tss", subject_to="precision >= 0.3").fit(X, y)
    >>> model.interval_[0] <= model.threshold_ < model.interval_[1]
    True
    """

    threshold_: float
    interval_: tuple[float, float]
    best_score_: float
    confusion_: Confusion
    guarantee_: _measures.Document | None

    def __init__(
        self,
        estimator: Any,
        score: str = "f1",
        *,
        subject_to: str | Sequence[str] | None = None,
        smooth: float | None = None,
        cv: Any = 5,
        method: str = "auto",
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.subject_to = subject_to
        self.smooth = smooth
        self.cv = cv
        self.method = method
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> ScoreThreshold:
        """Choose the threshold by cross-validation and train the estimator on all rows."""
        score = self._score()
        smooth = None if self.smooth is None else _measures.check_smooth(self.smooth, self.subject_to)
        if self.method not in ("auto", "predict_proba", "decision_function"):
            raise ValueError(f"method must be 'auto', 'predict_proba' or 'decision_function', not {self.method!r}")
        labels = _checks.labels(y, None)
        X, labels = indexable(X, labels)
        target_type = type_of_target(labels, input_name="y", raise_unknown=True)
        if target_type != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {target_type}.")
        weights = _checks.weights(sample_weight, len(labels))
        classes = np.unique(labels if weights is None else labels[weights > 0])
        _checks.check_classes(classes, weights is not None)
        for_fit, for_split = self._route_arguments(weights, fit_params)

        if isinstance(self.cv, str) and self.cv == "prefit":
            self._check_prefit()
            self.estimator_ = self.estimator
            rows = np.arange(len(labels))
            method, values = _predicted_values(self.estimator_, X, self.method, classes)
        else:
            splits = list(self._splitter(labels).split(X, labels, **for_split))
            if not self.refit and len(splits) != 1:
                count = len(splits)
                raise ValueError(f"refit=False keeps the estimator of the only split, but cv defines {count} splits: use cv=0.2, or refit=True")
            folds = Parallel(n_jobs=self.n_jobs)(
                delayed(_fit_fold)(clone(self.estimator), X, labels, for_fit, self.method, classes, *split) for split in splits
            )
            rows = np.concatenate([np.asarray(held_out) for _, held_out in splits])
            method = folds[0][1]
            values = np.concatenate([fold_values for _, _, fold_values in folds])
            self.estimator_ = folds[0][0] if not self.refit else clone(self.estimator).fit(X, labels, **for_fit)

        positive = labels[rows] == classes[1]
        row_weights = None if weights is None else weights[rows]
        to_original_scale: Callable[[float], float] = float
        if method == "decision_function":
            if smooth is not None:
                raise ValueError(
                    "smooth needs probabilities, but the estimator has values of decision_function, whose scale is not known: "
                    "omit smooth, or use an estimator with predict_proba"
                )
            values, to_original_scale = _ranks(values)
        # The test of a condition with a confidence assumes that only rows of the same group depend on each other. Without ``groups``, all predictions
        # of the same row form a group.
        groups = fit_params.get("groups")
        if groups is not None:
            groups = np.asarray(groups)[rows]
        elif len(np.unique(rows)) < len(rows):
            groups = rows
        best = _measures.sweep(positive, values, row_weights).best(score, self.subject_to, smooth=smooth, groups=groups)
        self.interval_ = (to_original_scale(best.interval[0]), to_original_scale(best.interval[1]))
        self.threshold_ = best.threshold if method == "predict_proba" else _midpoint(*self.interval_)
        self.best_score_ = best.value
        self.confusion_ = best.confusion
        self.guarantee_ = best.guarantee
        self.method_ = method
        self.classes_ = classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each row: the positive class if the value of the estimator is above the threshold."""
        is_positive = self._values_to_compare(X) > self.threshold_
        predicted: Array = self.classes_[is_positive.astype(np.intp)]
        return predicted

    def decision_function(self, X: Any) -> Array:
        """Return the value of the estimator minus the threshold; this is above 0 if the positive class is predicted."""
        return np.asarray(self._values_to_compare(X) - self.threshold_)

    def report(self, X: Any, y: Any, sample_weight: Any = None, *, replicates: int = 1000, block: int | str | None = None, groups: Any = None) -> Report:
        """Return a report on the fitted estimator, with its scores at all thresholds.

        The scores are computed on ``X`` and ``y``, which should not be rows that the estimator was trained on.
        """
        check_is_fitted(self, "threshold_")
        if self.method_ != "predict_proba":
            raise ValueError("a report needs probabilities, but this threshold was chosen for the values of decision_function")
        if isinstance(self.cv, str):
            where = "on the rows passed to fit"
        else:
            where = "in cross-validation" if self.refit else "on held-out rows"
        return self._report(
            y,
            self._values_to_compare(X),
            sample_weight,
            threshold=self.threshold_,
            chosen=f"best {self._score()} {where}{'' if self.smooth is None else ', averaged over nearby thresholds'}",
            prior=None,
            subject_to=self.subject_to,
            training=None,
            replicates=replicates,
            block=block,
            groups=groups,
        )

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the estimator."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities of the estimator."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_log_proba(X)

    def get_metadata_routing(self) -> Any:
        """Return which arguments of ``fit`` are passed to the estimator and to the splitter when metadata routing is enabled."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _values_to_compare(self, X: Any) -> Array:
        """Return the values of the fitted estimator that are compared with the threshold."""
        check_is_fitted(self, "threshold_")
        return _predicted_values(self.estimator_, X, self.method_, self.classes_)[1]

    def _splitter(self, labels: Array) -> Any:
        """Return the scikit-learn splitter for the parameter ``cv``."""
        if isinstance(self.cv, Real) and not isinstance(self.cv, Integral):
            fraction = _checks.number("cv", self.cv, 0, 1)
            return StratifiedShuffleSplit(n_splits=1, test_size=fraction, random_state=self.random_state)
        return check_cv(self.cv, labels, classifier=True)

    def _check_prefit(self) -> None:
        """Raise an error unless the estimator is already fitted."""
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError("cv='prefit' uses a fitted estimator, but this estimator is not fitted: fit it first") from error

    def _route_arguments(self, weights: Array | None, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Divide the arguments of ``fit`` into those for the ``fit`` of the wrapped estimator and those for the splitter."""
        if get_config()["enable_metadata_routing"]:
            arguments = fit_params if weights is None else {"sample_weight": weights, **fit_params}
            routed = process_routing(self, "fit", **arguments)
            return dict(routed.estimator.fit), dict(routed.splitter.split)
        for_fit = dict(fit_params)
        groups = for_fit.pop("groups", None)
        if weights is not None:
            if has_fit_parameter(self.estimator, "sample_weight"):
                for_fit["sample_weight"] = weights
            else:
                name = type(self.estimator).__name__
                warnings.warn(f"{name} does not accept sample_weight: the weights are used for the threshold only", UserWarning, stacklevel=3)
        return for_fit, {} if groups is None else {"groups": groups}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that only two classes are supported, and which tables the wrapped estimator accepts."""
        tags = super().__sklearn_tags__()
        wrapped = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags = wrapped.input_tags
        tags.non_deterministic = wrapped.non_deterministic
        return tags


def _fit_fold(
    estimator: Any, X: Any, y: Array, fit_params: dict[str, Any], method: str, classes: Array, training: Any, held_out: Any
) -> tuple[Any, str, Array]:
    """Train an estimator on the training rows; return the estimator, the method used, and its values for the held-out rows."""
    n_rows = len(y)
    params = {name: _safe_indexing(value, training) if _has_entry_per_row(value, n_rows) else value for name, value in fit_params.items()}
    estimator.fit(_safe_indexing(X, training), _safe_indexing(y, training), **params)
    return estimator, *_predicted_values(estimator, _safe_indexing(X, held_out), method, classes)


def _has_entry_per_row(value: Any, n_rows: int) -> bool:
    """Return whether an argument of ``fit`` is a sequence with one entry for each row."""
    is_list = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, dict))
    return is_list and len(value) == n_rows


def _predicted_values(estimator: Any, X: Any, method: str, classes: Array) -> tuple[str, Array]:
    """Return the name of the method that was used, and the values of the estimator for the positive class.

    The values are float64, because comparing a float32 with the threshold would round the threshold.
    """
    methods = ("predict_proba", "decision_function") if method == "auto" else (method,)
    used = next((name for name in methods if hasattr(estimator, name)), None)
    if used is None:
        raise ValueError(f"{type(estimator).__name__} has no {' and no '.join(methods)}, so there are no values to compare with a threshold")
    if len(estimator.classes_) != 2:
        raise ValueError("the estimator was trained on rows of only one class: use fewer folds, or a stratified splitter")
    if not np.array_equal(estimator.classes_, classes):
        raise ValueError(f"the estimator was trained on the classes {list(estimator.classes_)}, but y holds {list(classes)}")
    values = np.asarray(getattr(estimator, used)(X), dtype=np.float64)
    return used, np.ascontiguousarray(values[:, 1] if values.ndim == 2 else values)


def _ranks(values: Array) -> tuple[Array, Callable[[float], float]]:
    """Replace values of any scale by numbers between 0 and 1, which keep the order and the ties; also return the function that reverses this."""
    if not np.isfinite(values).all():
        raise ValueError("decision_function returned a number that is not finite")
    levels, ranks = np.unique(values, return_inverse=True)
    steps = len(levels) + 1

    def to_original_scale(rank: float) -> float:
        """Return the value at a rank scaled to [0, 1]: −∞ below the rank of the least value, and ∞ above the rank of the greatest value."""
        at = round(rank * steps) - 1
        return -math.inf if at < 0 else math.inf if at >= len(levels) else float(levels[at])

    return (ranks + 1) / steps, to_original_scale


def _midpoint(low: float, high: float) -> float:
    """Return the midpoint of the interval [low, high), or another number inside it if an end is infinite."""
    if math.isinf(low):
        return math.nextafter(high, -math.inf) if math.isinf(high - 1) or high - 1 == high else high - 1
    if math.isinf(high):
        return low
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
