"""The exact best threshold around any classifier of scikit-learn."""

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
from ._judged import Judged
from ._measures import Confusion
from ._report import Report


def _has(method: str) -> Callable[[Any], bool]:
    """Whether the estimator within has a method; scikit-learn then shows it outside too."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class ScoreThreshold(MetaEstimatorMixin, Judged):  # type: ignore[misc] # scikit-learn has no types
    """The exact best threshold of a score around any classifier of two classes.

    Every row is answered by a classifier that has not learnt from it (cross-validation); one sort of all these answers finds the
    threshold, with none left out: no grid, no mean over the folds. The classifier then learns from all rows.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``.
    score : str, default="f1"
        What the threshold is to be best for, by name (``scorewise.scores()``) or formula.
    subject_to : str or sequence of str, default=None
        Conditions that it must satisfy, such as ``"precision >= 0.3"``. Where no threshold does, ``fit`` raises a ValueError.
    cv : int, float, splitter, iterable of splits or "prefit", default=5
        Folds (stratified), the share of a single held-out part, or any splitter of scikit-learn; rows that it holds out several times
        count as often. "prefit" takes the estimator as it is and all rows of ``fit`` to choose the threshold by: they should be others
        than it has learnt from.
    method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Where the answers come from. Those of ``decision_function`` are swept by their ranks, which loses nothing: threshold and interval
        are exact on its own scale.
    refit : bool, default=True
        Whether the estimator learns from all rows in the end. False keeps that of the only split and needs a ``cv`` that has one.
        Without meaning for "prefit".
    random_state : int, RandomState or None, default=None
        Which rows are held out where ``cv`` is a share.
    n_jobs : int, default=None
        Folds that run side by side.

    Attributes
    ----------
    threshold_ : float
        Positive is what is strictly above.
    interval_ : tuple of two floats
        All thresholds from the first up to but not including the second are as good on these rows.
    best_score_ : float
        The score of the held-out answers at the threshold.
    confusion_ : Confusion
        Their confusion matrix there: tn, fp, fn, tp, weights counted.
    method_ : str
        Where the answers came from.
    estimator_, classes_, n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    ``sample_weight`` weighs rows of the sweep, and of the trainings where the estimator takes weights; further arguments of ``fit`` go to
    the estimator's, those with one entry a row by fold, and ``groups`` to the splitter. With metadata routing on, requests decide.
    ``score(X, y)`` is the chosen score, turned so that greater is better.

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

    def __init__(
        self,
        estimator: Any,
        score: str = "f1",
        *,
        subject_to: str | Sequence[str] | None = None,
        cv: Any = 5,
        method: str = "auto",
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.subject_to = subject_to
        self.cv = cv
        self.method = method
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> ScoreThreshold:
        """Finds the threshold by cross-validation and lets the estimator learn from all rows."""
        score = self._score()
        if self.method not in ("auto", "predict_proba", "decision_function"):
            raise ValueError(f"method must be 'auto', 'predict_proba' or 'decision_function', not {self.method!r}")
        known = _checks.labels(y, None)
        X, known = indexable(X, known)
        kind = type_of_target(known, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        weights = _checks.weights(sample_weight, len(known))
        classes = np.unique(known if weights is None else known[weights > 0])
        _checks.check_classes(classes, weights is not None)
        for_fit, for_split = self._routed(weights, fit_params)

        if isinstance(self.cv, str) and self.cv == "prefit":
            self._check_prefit()
            self.estimator_ = self.estimator
            rows = np.arange(len(known))
            method, answers = _answers(self.estimator_, X, self.method, classes)
        else:
            splits = list(self._splitter(known).split(X, known, **for_split))
            if not self.refit and len(splits) != 1:
                count = len(splits)
                raise ValueError(f"refit=False keeps the estimator of the only split, and cv makes {count}: give cv=0.2, or refit=True")
            folds = Parallel(n_jobs=self.n_jobs)(
                delayed(_fold)(clone(self.estimator), X, known, for_fit, self.method, classes, *split) for split in splits
            )
            rows = np.concatenate([np.asarray(held_out) for _, held_out in splits])
            method = folds[0][1]
            answers = np.concatenate([found for _, _, found in folds])
            self.estimator_ = folds[0][0] if not self.refit else clone(self.estimator).fit(X, known, **for_fit)

        positive = known[rows] == classes[1]
        of_rows = None if weights is None else weights[rows]
        place: Callable[[float], float] = float
        if method == "decision_function":
            answers, place = _ranked(answers)
        best = _measures.sweep(positive, answers, of_rows).best(score, self.subject_to)
        self.interval_ = (place(best.interval[0]), place(best.interval[1]))
        self.threshold_ = best.threshold if method == "predict_proba" else _between(*self.interval_)
        self.best_score_ = best.value
        self.confusion_ = best.confusion
        self.method_ = method
        self.classes_ = classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Array:
        """The class of each row: the positive one where the estimator's answer is above the threshold."""
        is_positive = self._answer(X) > self.threshold_
        found: Array = self.classes_[is_positive.astype(np.intp)]
        return found

    def decision_function(self, X: Any) -> Array:
        """How far the estimator's answer is above the threshold: above 0 where the positive class is predicted."""
        return np.asarray(self._answer(X) - self.threshold_)

    def report(self, X: Any, y: Any, sample_weight: Any = None, *, replicates: int = 1000, block: int | None = None) -> Report:
        """How good the estimator is on these rows, over all thresholds: a page and its figures. Give rows that it has not learnt from."""
        check_is_fitted(self, "threshold_")
        if self.method_ != "predict_proba":
            raise ValueError("a report is about probabilities, and the estimator has none: its answers come from decision_function")
        if isinstance(self.cv, str):
            where = "on the rows that it was given"
        else:
            where = "in cross-validation" if self.refit else "on held-out rows"
        return self._reported(
            y,
            self._answer(X),
            sample_weight,
            threshold=self.threshold_,
            chosen=f"best {self._score()} {where}",
            prior=None,
            subject_to=self.subject_to,
            training=None,
            replicates=replicates,
            block=block,
        )

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The estimator's probabilities."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the estimator's probabilities."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_log_proba(X)

    def get_metadata_routing(self) -> Any:
        """Which arguments of ``fit`` go where, with metadata routing on."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _answer(self, X: Any) -> Array:
        check_is_fitted(self, "threshold_")
        return _answers(self.estimator_, X, self.method_, self.classes_)[1]

    def _splitter(self, known: Array) -> Any:
        if isinstance(self.cv, Real) and not isinstance(self.cv, Integral):
            share = _checks.number("cv", self.cv, 0, 1)
            return StratifiedShuffleSplit(n_splits=1, test_size=share, random_state=self.random_state)
        return check_cv(self.cv, known, classifier=True)

    def _check_prefit(self) -> None:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError("cv='prefit' takes the estimator as it is, and it is not fitted: fit it first") from error

    def _routed(self, weights: Array | None, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What goes to the estimator's fit and what to the splitter."""
        if get_config()["enable_metadata_routing"]:
            given = fit_params if weights is None else {"sample_weight": weights, **fit_params}
            routed = process_routing(self, "fit", **given)
            return dict(routed.estimator.fit), dict(routed.splitter.split)
        for_fit = dict(fit_params)
        groups = for_fit.pop("groups", None)
        if weights is not None:
            if has_fit_parameter(self.estimator, "sample_weight"):
                for_fit["sample_weight"] = weights
            else:
                name = type(self.estimator).__name__
                warnings.warn(f"{name} does not take sample_weight: the weights count for the threshold only", UserWarning, stacklevel=3)
        return for_fit, {} if groups is None else {"groups": groups}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


def _fold(
    estimator: Any, X: Any, y: Array, fit_params: dict[str, Any], method: str, classes: Array, training: Any, held_out: Any
) -> tuple[Any, str, Array]:
    """An estimator of the training rows, and its answers for those held out."""
    n_rows = len(y)
    params = {name: _safe_indexing(value, training) if _is_by_row(value, n_rows) else value for name, value in fit_params.items()}
    estimator.fit(_safe_indexing(X, training), _safe_indexing(y, training), **params)
    return estimator, *_answers(estimator, _safe_indexing(X, held_out), method, classes)


def _is_by_row(value: Any, n_rows: int) -> bool:
    is_list = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, dict))
    return is_list and len(value) == n_rows


def _answers(estimator: Any, X: Any, method: str, classes: Array) -> tuple[str, Array]:
    """The method that was used, and for each row how much speaks for the second class, in float64: a float32 beside a threshold would
    round the threshold."""
    wanted = ("predict_proba", "decision_function") if method == "auto" else (method,)
    used = next((name for name in wanted if hasattr(estimator, name)), None)
    if used is None:
        raise ValueError(f"{type(estimator).__name__} has no {' and no '.join(wanted)}: a threshold needs one to stand on")
    if len(estimator.classes_) != 2:
        raise ValueError("the rows that the estimator learnt from hold one class only: give cv fewer folds, or a stratified splitter")
    if not np.array_equal(estimator.classes_, classes):
        raise ValueError(f"the estimator knows the classes {list(estimator.classes_)}, and y holds {list(classes)}")
    found = np.asarray(getattr(estimator, used)(X), dtype=np.float64)
    return used, np.ascontiguousarray(found[:, 1] if found.ndim == 2 else found)


def _ranked(answers: Array) -> tuple[Array, Callable[[float], float]]:
    """Answers of any scale as numbers between 0 and 1 in the same order, equal ones equal; and the way back."""
    if not np.isfinite(answers).all():
        raise ValueError("decision_function gave a number that is not finite")
    levels, places = np.unique(answers, return_inverse=True)
    steps = len(levels) + 1

    def back(end: float) -> float:
        at = round(end * steps) - 1
        return -math.inf if at < 0 else math.inf if at >= len(levels) else float(levels[at])

    return (places + 1) / steps, back


def _between(low: float, high: float) -> float:
    """The middle of an interval, or what is as good where it has no end."""
    if math.isinf(low):
        return math.nextafter(high, -math.inf) if math.isinf(high - 1) or high - 1 == high else high - 1
    if math.isinf(high):
        return low
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
