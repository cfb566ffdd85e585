"""A scikit-learn classifier that is trained for a score by the native module."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _arrays, _checks, _scorewise
from ._arrays import Array, Column
from ._files import write_safely
from ._estimator import ScoreEstimator
from ._measures import Document
from ._report import Report


#: The name of the column of groups that is added to the caller's columns. It contains private-use characters of Unicode, so that no column of the
#: caller has the same name.
_GROUPS = "\ue000groups\ue000"


class ScoreClassifier(ScoreEstimator):
    """Classifier that is trained, in Rust, for the score it is evaluated by: a pool of neural networks, boosted trees and linear models.

    Accepts pandas, polars and pyarrow tables with numbers, categories, times and missing values (NaN, None). NumPy arrays are tables of numbers.
    By default the model is that of the command ``scorewise train``: for each of five folds, three networks, four ensembles of boosted trees and
    a linear model are trained on the other folds. The weights of the three types of models in the mean, and the threshold, are chosen on the
    predictions for rows that a model was not trained on. ``recipe="quick"`` trains one network, in a fraction of the time. With two classes,
    ``classes_[1]`` is the positive class; it is predicted if its probability is above ``threshold_``.

    Parameters
    ----------
    score : str, default="f1"
        The score to optimise, by name (see :func:`scorewise.scores`) or as a formula. With more than two classes it is ``accuracy``, ``mcc``,
        ``hss``, ``peirce``, ``gerrity``, or an average of a score of two classes: ``macro(…)``, ``weighted(…)``, ``micro(…)``. A score of two
        classes without an average, such as ``f1``, is macro-averaged. ``cost_matrix(0, 1, 5; 1, 0, 2; 10, 3, 0)`` is the mean cost. It has a
        row of costs for each true class, and in each row a cost for each predicted class, in the order of ``classes_``. The class with the lowest
        expected cost is predicted.
    prior : str, default=None
        The distribution of the threshold in the loss, such as ``"cosine:0.5,0.1"``. None uses the recipe's prior.
    loss : {"sol", "exact", "ce", "weighted-ce"}, default="sol"
        The training loss: 1 − the score of the expected confusion matrix ("sol"), 1 − the exact expected score ("exact"), cross-entropy ("ce"), or
        cross-entropy with balanced classes ("weighted-ce").
    recipe : {"default", "quick", "paper", "strong"}, default="default"
        A set of defaults for the training parameters that are None: a pool with the best scores ("default"), one network in a fraction of the time
        ("quick"), the settings of Marchetti et al. (2022) ("paper"), or settings for rare events in time series ("strong").
    learners : sequence of {"networks", "trees", "linear"}, default=None
        The types of models to train. Several types are combined by a weighted mean of their logits, with weights chosen for the score on out-of-fold
        predictions. None trains the types of the recipe: all three for the recipe "default", and networks for the other recipes. But if a
        parameter is given that only networks have, None trains networks only. These parameters are ``hidden``, ``batch``, ``learning_rate``,
        ``weight_decay``, ``epochs``, ``patience``, ``optimiser``, ``keep_weights`` and ``no_cure``.
    hidden : sequence of int, default=None
        The widths of the hidden layers; () gives an additive model, or with ``bins=0`` a logistic regression.
    batch : int, "auto" or "full", default=None
        The number of rows per optimisation step; "auto" takes a 64th of the training rows, but at least 32 and at most 256.
    learning_rate : float, default=None
        The learning rate of the optimiser.
    weight_decay : float, default=None
        The weight decay, decoupled from the gradient as in AdamW.
    epochs, patience : int, default=None
        The maximum number of epochs with each loss, and the number of epochs without a lower validation loss after which training stops.
    cross_fit : int, default=None
        The number of folds of the cross-fitting; 0 uses one set of validation rows instead.
    validation : float, default=None
        Without cross-fitting: the fraction of the rows, drawn at random from each class, that is used for early stopping and for choosing the
        threshold.
    bins : int, default=None
        The maximum number of intervals into which the values of a numeric column are divided; 0 only standardises numeric columns.
    ensemble : int, default=None
        The number of networks that are averaged; with cross-fitting, this many networks are trained for each fold. Both kinds of
        trees are trained twice for each fold, and linear models once.
    cross_entropy_first : bool, default=None
        Whether to train with cross-entropy before training with the loss of the score.
    threshold : {"auto", "tuned", "centre"} or float, default=None
        How the threshold is chosen: the best one on the validation rows, or with cross-fitting the one that is best on average over nearby
        thresholds ("tuned"); the centre of the prior ("centre"); the better of these two ("auto"); or a fixed number, on the scale of
        ``raw_predictions``.
    temporal : str, optional
        For a time series whose rows are in the order of time: weight errors by their timing, ``"value"``, ``"maximum"`` or ``"sum"``, also with
        numbers, as in ``"sum:0.5,0.25"``; see :func:`scorewise.temporal_sweep`. Networks and linear models are trained for the score of the weighted
        counts, and the threshold is chosen by it; trees are trained for the score of the unweighted counts. Folds are blocks of time.
    multiclass : {"simplex", "one-versus-rest"}, default="simplex"
        How more than two classes are trained: as one decision among all classes ("simplex"), or as each class against the rest.
    optimiser : {"adam", "sgd"}, default=None
        Adam with decoupled weight decay ("adam"), or stochastic gradient descent with momentum 0.9 ("sgd"). None is "adam".
    keep_weights : {"best", "last"}, default=None
        Which weights of a network are kept: those of the epoch with the lowest validation loss ("best"), or those of the last epoch ("last"). None
        is "best".
    no_cure : bool, default=False
        Train exactly as Marchetti et al. (2022): do not move the initial predictions into the support of the prior, and do not restart a training
        run that failed to learn.
    random_state : int, RandomState or None, default=0
        The seed. The same integer gives bit-identical results for any ``n_jobs``.
    n_jobs : int, default=None
        The number of threads: the members of the pool are trained in parallel, and a single network splits large batches. -1 uses all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; with two classes, the second is the positive one.
    threshold_ : float or None
        The decision threshold on the scale of ``predict_proba``; None with more than two classes.
    raw_threshold_ : float or None
        The decision threshold on the scale of ``raw_predictions``, as in the parameter ``threshold``; None with more than two classes.
    calibration_ : str or None
        How ``predict_proba`` is calibrated, ``"beta"`` or ``"isotonic"``. None if the predictions are used as they are: with more than two classes,
        or if no calibration lowers the log-loss of predictions for rows that were not used in training.
    best_score_ : float or None
        The score of the predictions for the validation rows; None when it is undefined, or when the model comes from ``load`` and has more than
        two classes.
    n_iter_ : int
        The number of epochs, or of boosting rounds, of the member that was trained longest, including epochs with cross-entropy. Not available
        after ``load``.
    loss_curve_, validation_curve_ : ndarray of shape (n_epochs,) or (n_epochs, n_members)
        The loss on the training rows and on the validation rows after each epoch or boosting round. If a network is first trained with cross-entropy
        and then with the loss of the score, only the epochs with the loss of the score are included. Several members
        have one column each, with NaN after the member has stopped. Not available after ``load``.
    notes_ : list of str
        Notes on how columns were read and encoded, and on the training run.
    model_bytes_ : bytes
        The content of the model file.
    n_features_in_ : int
        The number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns seen during ``fit``, if X has column names that are all strings.

    Notes
    -----
    Rows of weight 0 are ignored. ``score(X, y)`` is the chosen score, transformed so that greater is better; a grid search without
    ``scoring`` therefore optimises it. Infinite numbers are refused.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> model = ScoreClassifier("f1", epochs=50).fit(X, y)
    >>> model.predict_proba(X).shape, model.predict(X).shape
    ((600, 2), (600,))
    """

    threshold_: float | None
    raw_threshold_: float | None
    calibration_: str | None
    best_score_: float | None
    n_iter_: int
    loss_curve_: Array
    validation_curve_: Array
    notes_: list[str]
    n_features_in_: int

    def __init__(
        self,
        score: str = "f1",
        prior: str | None = None,
        *,
        loss: str = "sol",
        recipe: str = "default",
        learners: Sequence[str] | None = None,
        hidden: Sequence[int] | None = None,
        batch: int | str | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        cross_fit: int | None = None,
        validation: float | None = None,
        bins: int | None = None,
        ensemble: int | None = None,
        cross_entropy_first: bool | None = None,
        threshold: str | float | None = None,
        multiclass: str = "simplex",
        temporal: str | None = None,
        optimiser: str | None = None,
        keep_weights: str | None = None,
        no_cure: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.score = score
        self.prior = prior
        self.loss = loss
        self.recipe = recipe
        self.learners = learners
        self.hidden = hidden
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.cross_fit = cross_fit
        self.validation = validation
        self.bins = bins
        self.ensemble = ensemble
        self.cross_entropy_first = cross_entropy_first
        self.threshold = threshold
        self.multiclass = multiclass
        self.temporal = temporal
        self.optimiser = optimiser
        self.keep_weights = keep_weights
        self.no_cure = no_cure
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, series: Any = None) -> ScoreClassifier:
        """Train on a table and the class of each row.

        If errors are weighted by their timing (``temporal``), the rows must be in the order of time, or X must have a column of dates. ``series``
        then holds one value for each row, which tells several time series apart, such as the station.
        """
        settings = self._settings()
        if series is not None and self.temporal is None:
            raise ValueError('series is given, but the parameter temporal is not set: set temporal="value", or leave out series')
        columns = self._columns(X, reset=True)
        n_rows = _n_rows(columns)
        labels = _checks.labels(y, n_rows)
        weights = _checks.weights(sample_weight, n_rows)
        codes_of_series = None if series is None else _arrays.codes(series, "series")
        if codes_of_series is not None and len(codes_of_series) != n_rows:
            raise ValueError(f"series has {len(codes_of_series)} values, but X has {n_rows} rows")
        # With `temporal`, rows of weight 0 are kept, because their neighbours in the time series would otherwise become consecutive.
        if weights is not None and not weights.all() and self.temporal is None:
            kept = weights > 0
            columns = [(name, _select_rows(values, kept)) for name, values in columns]
            labels, weights = labels[kept], weights[kept]
        classes, codes = np.unique(labels, return_inverse=True)
        _checks.check_classes(classes, sample_weight is not None)
        names = [str(name) for name in classes.tolist()]
        settings["score"] = _with_costs_in_order_of_names(settings["score"], names)
        model, facts = _scorewise.train(columns, codes.astype(np.uint32), names, weights, codes_of_series, json.dumps(settings), effective_n_jobs(self.n_jobs))
        self.classes_ = classes
        self._set_model(model)
        self._set_training_results(json.loads(facts))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, as an array of shape (n_rows, n_classes); with two classes they are calibrated."""
        raw = self._probabilities(X)
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - raw, raw])
        return raw.reshape(-1, len(self.classes_))[:, self._places]

    def raw_predictions(self, X: Any) -> Array:
        """Return the predictions before the calibration.

        With two classes there is one number between 0 and 1 for each row; the calibration never reverses the order of two rows. The positive class is
        predicted if the number is above ``raw_threshold_``. With more classes there is one column for each class.
        """
        raw = self._probabilities(X, raw=True)
        return raw if len(self.classes_) == 2 else raw.reshape(-1, len(self.classes_))[:, self._places]

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each row; with two classes, the positive class if its probability is above the threshold."""
        raw = self._probabilities(X, raw=True)
        found: Array = self.classes_[np.argsort(self._places)[self._model.labels(raw)]]
        return found

    def decision_function(self, X: Any) -> Array:
        """Return the confidence in each class.

        With two classes, this is the probability of the positive class minus the threshold, which is above 0 if that class is predicted. With
        more classes, there is one column for each class, and the predicted class has the greatest value.
        """
        p = self.predict_proba(X)
        if self.threshold_ is not None:
            return np.asarray(p[:, 1] - self.threshold_)
        rule = json.loads(self._model.description())["decision"]
        if "thresholds" in rule:
            return np.asarray(p - np.array(rule["thresholds"])[self._places])
        if "factors" in rule:
            return np.asarray(p * np.array(rule["factors"])[self._places])
        if "costs" in rule:
            return np.asarray(-p @ np.array(rule["costs"])[np.ix_(self._places, self._places)])
        if "centres" in rule:
            centres = np.array(rule["centres"])[self._places]
            return np.asarray(p * np.exp(centres.min() - centres))
        return p

    @property
    def model_bytes_(self) -> bytes:
        """The model as the bytes of a model file."""
        check_is_fitted(self, "_model")
        return bytes(self._model.to_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which the command ``scorewise predict`` can read.

        An existing model file is replaced atomically; a file of another kind is not overwritten.
        """
        write_safely(path, self.model_bytes_, "model")

    def report(self, X: Any, y: Any, sample_weight: Any = None, *, replicates: int = 1000, block: int | str | None = None, groups: Any = None) -> Report:
        """Return a report on this classifier, which must have two classes: its scores at all thresholds, and its training.

        The scores are computed on ``X`` and ``y``, which should not be rows that the classifier was trained on.
        """
        check_is_fitted(self, "_model")
        if self.threshold_ is None:
            raise ValueError(f"a report needs two classes, but the model has {len(self.classes_)} classes")
        return self._report(
            y,
            self.predict_proba(X)[:, 1],
            sample_weight,
            threshold=self.threshold_,
            chosen="the model's own",
            # The prior of the threshold is on the scale of raw predictions.
            prior=json.loads(self._model.description())["prior"] if self.calibration_ is None else None,
            subject_to=None,
            training=getattr(self, "_training", None),
            replicates=replicates,
            block=block,
            groups=groups,
        )

    def explain(self, X: Any, y: Any, sample_weight: Any = None, *, permutations: int = 10, rows: int = 10_000, random_state: Any = 0) -> Document:
        """Measure how much each column helps the model's score, and how the predictions depend on the most important columns.

        The importance of a column is the score at the model's own decision rule minus the mean score after the values of the column were shuffled
        among the rows, oriented so that a column that helps has a positive importance.

        Parameters
        ----------
        X, y
            Rows that the model was not trained on, with their classes.
        sample_weight : array-like, optional
            The weights of the rows in the score.
        permutations : int, default=10
            The number of times that each column is shuffled.
        rows : int, default=10_000
            If X has more rows, this many are drawn.
        random_state : int, RandomState or None, default=0
            The seed. The same integer gives bit-identical results for any number of threads.

        Returns
        -------
        Document
            A dictionary with the keys of ``scorewise explain --json``: ``importance`` is a list of dictionaries with the keys ``column``,
            ``value``, ``low`` and ``high`` (a 95 % interval over rows and permutations), the most important column first, and ``gain``, the
            share of the column in the total gain of all splits, if the model has trees;
            ``partial_dependence`` is a list with the mean predictions for values of the four most important columns, with classes in the order
            of ``classes``. ``pandas.DataFrame(found["importance"])`` is a table.
        """
        check_is_fitted(self, "_model")
        permutations, rows = _checks.whole("permutations", permutations, 1), _checks.whole("rows", rows, 1)
        columns = self._columns(X, reset=False)
        n_rows = _n_rows(columns)
        labels, weights = self._known_labels(y, n_rows), _checks.weights(sample_weight, n_rows)
        # `searchsorted` needs sorted classes, but `classes_` need not be sorted. The native model may list the classes in yet another order.
        order = np.argsort(self.classes_)
        codes = self._places[order[np.searchsorted(self.classes_, labels, sorter=order)]].astype(np.uint32)
        return Document(json.loads(self._model.explain(columns, codes, weights, permutations, rows, _checks.seed(random_state))))

    def monitor(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        time: Any = None,
        every: str | int | None = None,
        at_least: float | None = None,
        block: int | str | None = None,
        groups: Any = None,
        replicates: int = 1000,
        random_state: Any = 0,
    ) -> Report:
        """Check whether the model is still good on rows that came after its training. There must be two classes.

        Parameters
        ----------
        X
            New rows, with the columns of the training rows.
        y : array-like, optional
            The classes of the rows. Without them only the inputs, the share of alarms and the predictions are compared.
        sample_weight : array-like, optional
            The weights of the rows in the score; they need y.
        time : array-like, optional
            The time of each row, which divides the rows into periods. By default, each period consists of consecutive rows of X.
        every : {"day", "week", "month"} or int, optional
            The length of a period; an integer is a number of rows.
        at_least : float, optional
            The least acceptable score (the greatest, if lower values are better); it needs y.
        block : int or "auto", optional
            Rows follow each other in time, and blocks of this length are resampled for the intervals.
        groups : array-like, optional
            The group of each row; whole groups are resampled for the intervals.
        replicates : int, default=1000
            The number of bootstrap replicates.
        random_state : int, RandomState or None, default=0
            The seed. The same integer gives bit-identical results for any number of threads.

        Returns
        -------
        Report
            A report with a page and a figure. ``document["result"]`` is a dictionary with the keys of ``scorewise monitor --json``: ``change`` is
            ``"none"``, ``"worse"``, ``"better"`` or ``"unknown"``; ``value``, ``base_rate`` and ``alarm_rate`` have the keys ``then``, ``now`` and
            ``difference``, each with a 95 % interval; ``periods`` has the score over time, ``tune`` the best threshold, and ``predictions`` and
            ``columns`` the shift of the predictions and of each column.
        """
        check_is_fitted(self, "_model")
        replicates = _checks.whole("replicates", replicates, 1)
        columns = list(self._columns(X, reset=False))
        n_rows = _n_rows(columns)
        codes, weights = None, None
        if y is not None:
            labels, weights = self._known_labels(y, n_rows), _checks.weights(sample_weight, n_rows)
            order = np.argsort(self.classes_)
            codes = self._places[order[np.searchsorted(self.classes_, labels, sorter=order)]].astype(np.uint32)
        elif sample_weight is not None:
            raise ValueError("sample_weight needs y, because weights count in the score only")
        resample = None
        dependent = _arrays.dependence(block, groups)
        if isinstance(dependent, np.ndarray):
            columns.append((_GROUPS, dependent.astype(np.float64)))
            resample = f"group:{_GROUPS}"
        elif dependent is not None:
            resample = "blocks" if dependent == "auto" else f"blocks:{dependent}"
        time_name = None
        if time is not None:
            time_name = "time" if all(name != "time" for name, _ in columns) else "time of the row"
            columns.append((time_name, _arrays.columns(np.asarray(time).reshape(-1, 1))[0][1]))
        if any(_n_rows([column]) != n_rows for column in columns):
            raise ValueError("X, time and groups must have the same number of rows")
        length = None if every is None else str(every)
        limit = None if at_least is None else float(at_least)
        seed = _checks.seed(random_state)
        return Report(self._model.monitor(columns, codes, weights, time_name, length, resample, limit, replicates, seed))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ScoreClassifier:
        """Read a model file written by :meth:`save` or by the command ``scorewise train``.

        The columns of the model are ``feature_names_in_``; from a larger table, pass ``X[list(model.feature_names_in_)]``. A model file stores
        classes as strings; they become numbers if all of them look like numbers, and booleans if all are ``True`` or ``False``. With two classes, the
        second class is positive.
        """
        with open(path, "rb") as file:
            content = file.read()
        try:
            native = _scorewise.Model.from_bytes(content)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {str(error).removeprefix('model: ')}") from None
        facts = json.loads(native.description())
        model = cls(**_parameters(json.loads(native.options())))
        classes = _class_values(native.classes)
        model.classes_ = classes if len(classes) == 2 else np.sort(classes)
        columns = native.columns
        model.n_features_in_ = len(columns)
        if columns != [str(at) for at in range(len(columns))]:
            model.feature_names_in_ = np.array(columns, dtype=object)
        model.best_score_ = facts["decision"].get("value")
        model.notes_ = []
        model._set_model(native)
        return model

    def _set_model(self, model: Any) -> None:
        """Store a native model, its thresholds and its calibration, and the index of each class of ``classes_`` in the native list of classes."""
        self._model = model
        self.threshold_ = model.threshold
        self.raw_threshold_ = model.raw_threshold
        self.calibration_ = model.calibration
        position_of = {name: at for at, name in enumerate(model.classes)}
        self._places = np.array([position_of[str(name)] for name in self.classes_.tolist()])

    def _set_training_results(self, facts: dict[str, Any]) -> None:
        """Set the fitted attributes that describe the training run, from the summary that the native module returns."""
        members = facts["members"]
        self.n_iter_ = max(member["epochs"] for member in members)
        self.loss_curve_ = _curves([member["training"] for member in members])
        self.validation_curve_ = _curves([member["validation"] for member in members])
        self.notes_ = facts["notes"]
        self.best_score_ = facts["value"]
        self._training = facts["report"]

    def _probabilities(self, X: Any, raw: bool = False) -> Array:
        """Return the probabilities of the native model as a flat array, row by row; they are not calibrated if ``raw``.

        With two classes there is one number for each row, the probability of the second class, otherwise one number for each row and class.
        """
        check_is_fitted(self, "_model")
        found: Array = self._model.probabilities(self._columns(X, reset=False), raw)
        return found

    def _columns(self, X: Any, reset: bool) -> list[Column]:
        """Return the columns of X, named as during ``fit``."""
        if reset:
            self.__dict__.pop("feature_names_in_", None)
        if hasattr(X, "collect") and not hasattr(X, "shape"):
            raise ValueError("X is a lazy table: pass `X.collect()`")
        if type(X).__name__ == "RecordBatch":  # scikit-learn reads column names from a Table only
            X = importlib.import_module("pyarrow").Table.from_batches([X])
        if _is_table(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            if isinstance(X, (list, tuple)):
                X = _array_of_rows(X)
            X = validate_data(self, _arrays.unmasked(X), reset=reset, dtype=None, ensure_all_finite="allow-nan")
        columns = _arrays.columns(X)
        if not columns or _n_rows(columns) == 0:
            raise ValueError("X has no columns" if not columns else "X has no rows")
        names = getattr(self, "feature_names_in_", range(len(columns)))
        columns = [(str(name), values) for name, (_, values) in zip(names, columns, strict=True)]
        # scikit-learn has already refused infinite numbers in numeric arrays, so only other tables are checked here.
        is_checked = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
        for name, values in [] if is_checked else columns:
            if not isinstance(values, tuple) and values.dtype.kind == "f" and np.isinf(values).any():
                raise ValueError(f"X, column `{name}`: holds an infinite number: make it a missing value, or remove its row")
        return columns

    def _settings(self) -> dict[str, Any]:
        """Check the types of the parameters and return them as training options for the native module."""
        hidden = [self.hidden] if isinstance(self.hidden, Integral) else self.hidden
        if hidden is not None and (isinstance(hidden, str) or not isinstance(hidden, Iterable)):
            raise ValueError(f"hidden must be the widths of the hidden layers, such as (64, 32), not {self.hidden!r}")

        learners = self.learners
        if learners is not None:
            if isinstance(learners, str) or not isinstance(learners, Iterable):
                raise ValueError(f'learners must be a list of names, such as ("networks", "trees"), not {self.learners!r}')
            learners = [_checks.text("learners", name) for name in learners]

        def whole(name: str, least: int) -> int | None:
            """Return the parameter with this name, which must be None or an integer that is at least ``least``."""
            value = getattr(self, name)
            return None if value is None else _checks.whole(name, value, least)

        def number(name: str, most: float) -> float | None:
            """Return the parameter with this name, which must be a number from 0 to ``most``, or None."""
            value = getattr(self, name)
            return None if value is None else _checks.number(name, value, 0, most)

        chosen: Any = self.threshold
        if not (chosen is None or isinstance(chosen, str)):
            chosen = _checks.number("threshold", chosen, 0, 1)
        first = self.cross_entropy_first
        if not (first is None or isinstance(first, (bool, np.bool_))):
            raise ValueError(f"cross_entropy_first must be True, False or None, not {first!r}")
        return {
            "score": self._score(),
            "prior": None if self.prior is None else _checks.text("prior", self.prior),
            "loss": _checks.text("loss", self.loss),
            "recipe": _checks.text("recipe", self.recipe),
            "learners": learners,
            "hidden": None if hidden is None else [_checks.whole("hidden", width, 1) for width in hidden],
            "batch": self.batch if self.batch is None or isinstance(self.batch, str) else _checks.whole("batch", self.batch, 1),
            "learning_rate": number("learning_rate", math.inf),
            "weight_decay": number("weight_decay", math.inf),
            "epochs": whole("epochs", 1),
            "patience": whole("patience", 1),
            "cross_fit": whole("cross_fit", 0),
            "validation": number("validation", 1),
            "bins": whole("bins", 0),
            "ensemble": whole("ensemble", 1),
            "warm_start": None if first is None else bool(first),
            "threshold": chosen,
            "multiclass": _checks.text("multiclass", self.multiclass),
            "temporal": None if self.temporal is None else _checks.text("temporal", self.temporal),
            "optimiser": None if self.optimiser is None else _checks.text("optimiser", self.optimiser),
            "keep_weights": None if self.keep_weights is None else _checks.text("keep_weights", self.keep_weights),
            "no_cure": _checks.flag("no_cure", self.no_cure),
            "seed": _checks.seed(self.random_state),
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling; the native model becomes the bytes of a model file."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = bytes(state["_model"].to_bytes())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state after unpickling; the native model is read from the bytes of a model file."""
        state = dict(state)
        if "_model" in state:
            state["_model"] = _scorewise.Model.from_bytes(state["_model"])
        super().__setstate__(state)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the classifier has been trained."""
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that tables may have missing values, strings and categories."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _is_table(X: Any) -> bool:
    """Return whether X looks like a pandas, polars or pyarrow table."""
    return (hasattr(X, "column_names") and hasattr(X, "column")) or (hasattr(X, "columns") and hasattr(X, "__getitem__"))


def _array_of_rows(X: Sequence[Any]) -> Any:
    """Convert a list of rows to an array; if any value is a string, to an array of objects, because NumPy would convert all numbers to strings."""
    try:
        found = np.asarray(X)
    except ValueError:  # rows of different lengths, for which scikit-learn raises the error
        return X
    return np.asarray(X, dtype=object) if found.dtype.kind in "US" else found


def _with_costs_in_order_of_names(score: Any, names: list[str]) -> Any:
    """Reorder the costs of a cost matrix from the order of ``names``, in which users give them, to their alphabetical order, which the model uses.

    Other scores are returned unchanged, and so is a matrix of the wrong size, which training refuses.
    """
    text = score.strip() if isinstance(score, str) else ""
    if not (text.startswith("cost_matrix(") and text.endswith(")")):
        return score
    rows = [row.split(",") for row in text[len("cost_matrix(") : -1].split(";")]
    if any(len(row) != len(names) for row in rows) or len(rows) != len(names):
        return score
    order = sorted(range(len(names)), key=names.__getitem__)
    return "cost_matrix(" + "; ".join(", ".join(rows[true][predicted].strip() for predicted in order) for true in order) + ")"


def _n_rows(columns: list[Column]) -> int:
    """Return the number of rows of a table, given its columns."""
    values = columns[0][1]
    return len(values[0] if isinstance(values, tuple) else values)


def _select_rows(values: Array | tuple[Array, list[str]], kept: Array) -> Array | tuple[Array, list[str]]:
    """Return a column with only the rows ``kept``; a column of categories keeps its whole list of categories."""
    return (values[0][kept], values[1]) if isinstance(values, tuple) else values[kept]


def _curves(members: list[list[float]]) -> Array:
    """Return a single curve as a vector, or several curves as the columns of a matrix, in which shorter curves are filled up with NaN."""
    if len(members) == 1:
        return np.array(members[0])
    found = np.full((max(map(len, members)), len(members)), np.nan)
    for at, curve in enumerate(members):
        found[: len(curve), at] = curve
    return found


def _class_values(texts: list[str]) -> Array:
    """Convert the classes of a model file, which are strings, to booleans or numbers if every string has that form."""
    if set(texts) <= {"False", "True"}:
        return np.array([text == "True" for text in texts])
    for number_type in (int, float):
        with contextlib.suppress(ValueError):
            if all(repr(number_type(text)) == text for text in texts):
                return np.array([number_type(text) for text in texts])
    return np.array(texts, dtype=object)


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Convert the training options of a model file to parameters of the classifier."""
    found = {_PARAMETERS.get(name, name): value for name, value in options.items() if value is not None}
    if "hidden" in found:
        found["hidden"] = tuple(found["hidden"])
    if "learners" in found:
        found["learners"] = tuple(found["learners"])
    return found


_PARAMETERS = {"warm_start": "cross_entropy_first", "seed": "random_state"}
"""Training options whose parameter has another name: scikit-learn calls the seed ``random_state``, and uses ``warm_start`` for something else."""
