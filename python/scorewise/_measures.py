"""Scores, thresholds and losses of arrays, computed by the native module."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _scorewise
from ._arrays import Array
from ._report import Report, report


class Confusion(NamedTuple):
    """A confusion matrix: the weights of true negatives, false positives, false negatives and true positives."""

    tn: float
    fp: float
    fn: float
    tp: float

    def _repr_html_(self) -> str:
        rows = [["label 0", self.tn, self.fp], ["label 1", self.fn, self.tp]]
        return _html_table(["", "predicted 0", "predicted 1"], rows)


class Document(dict[str, Any]):
    """A result with the keys of the command line's ``--json`` output.

    Keys are also available as attributes. Notebooks display the result as a table.
    """

    def __getattr__(self, name: str) -> Any:
        """Return the value of the key ``name``, so that keys can be read as attributes."""
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"there is no key {name!r}; the keys are {', '.join(self)}") from None
        return Document(value) if type(value) is dict else value

    def _repr_html_(self) -> str:
        def table_row(name: str, value: Any) -> list[Any]:
            """Return the cells of a row: a name, a value, and the ends of its interval if it has one."""
            if isinstance(value, dict) and "value" in value:
                return [name, value["value"], value.get("low"), value.get("high")]
            return [name, value, None, None]

        rows: list[list[Any]] = []
        for name, value in self.items():
            if name == "scores" and isinstance(value, dict):
                rows.extend(table_row(inner, item) for inner, item in value.items())
            elif name == "importance" and isinstance(value, list):
                rows.extend(table_row(f"importance of {item['column']}", item) for item in value)
            elif name == "groups" and isinstance(value, list):
                rows.extend(table_row(f"{inner}, {group['group']}", item) for group in value for inner, item in group["scores"].items())
            elif name == "partial_dependence":  # lists of numbers for each column, which do not fit into the table
                continue
            elif isinstance(value, dict) and "value" not in value:
                rows.extend(table_row(f"{name} {inner}", item) for inner, item in value.items())
            else:
                rows.append(table_row(name, value))
        return _html_table(["", "value", "low", "high"], rows)


class Best(NamedTuple):
    """The best threshold of a score.

    Attributes
    ----------
    score : str
        The name of the score.
    threshold : float
        The best threshold, inside ``interval``.
    interval : tuple of float
        All thresholds from the first number up to, but not including, the second give the same score.
    value : float
        The score at the threshold; NaN if the score is undefined at a smoothed threshold.
    confusion : Confusion
        The confusion matrix at the threshold.
    subject_to : tuple of str
        The conditions that the threshold satisfies.
    smooth : float or None
        The width of the smoothing; None for the exactly best threshold.
    expected_value : float or None
        The score of the expected confusion matrix under the prior of the smoothing, which is best at the smoothed threshold; None without
        smoothing.
    guarantee : Document or None
        How conditions with a confidence were tested (``conditions``), and the ``thresholds`` at which they were shown to hold; None if no condition
        has a confidence.
    """

    score: str
    threshold: float
    interval: tuple[float, float]
    value: float
    confusion: Confusion
    subject_to: tuple[str, ...] = ()
    smooth: float | None = None
    expected_value: float | None = None
    guarantee: Document | None = None

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows: list[list[Any]] = [["threshold", self.threshold], ["interval", f"{low:.6g} up to {high:.6g}"], [self.score, self.value]]
        if self.smooth is not None:
            rows += [["smooth", self.smooth], [f"expected {self.score}", self.expected_value]]
        rows += [["subject to", condition] for condition in self.subject_to]
        if self.guarantee is not None:
            rows += [["shown by", tested["test"]] for tested in self.guarantee["conditions"]]
        return _html_table(["", "best"], rows) + self.confusion._repr_html_()


class Curve(NamedTuple):
    """Scores as functions of the threshold, at a limited number of thresholds that include the best threshold of each score.

    Attributes
    ----------
    threshold : ndarray of shape (n_points,)
        Increasing thresholds; the matrix and the scores of a point are valid from its threshold up to the threshold of the next point.
    confusion : ndarray of shape (n_points, 4)
        The confusion matrix of each point: tn, fp, fn, tp.
    scores : dict of str to ndarray of shape (n_points,)
        The scores by name, NaN where a score is undefined.
    """

    threshold: Array
    confusion: Array
    scores: dict[str, Array]

    def plot(self, ax: Any = None) -> Any:
        """Plot the scores with matplotlib, with a dot at the best value of each, and return the axes; ``ax`` defaults to the current axes."""
        from ._optional import import_optional

        ax = import_optional("matplotlib.pyplot").gca() if ax is None else ax
        for name, values in self.scores.items():
            ax.step(self.threshold, values, where="post", label=name)
            if np.isfinite(values).any():
                ideal = _scorewise.score_facts(name)[2]  # +∞ if higher is better, −∞ if lower is better
                distance = np.abs(values - ideal) if np.isfinite(ideal) else -np.sign(ideal) * values
                at = int(np.nanargmin(distance))
                ax.plot(self.threshold[at], values[at], "o", color=ax.lines[-1].get_color(), markersize=4)
        ax.set_xlabel("threshold")
        ax.set_ylabel("score")
        ax.set_xlim(0, 1)
        ax.legend(frameon=False)
        return ax

    def _repr_html_(self) -> str:
        curves = [np.ascontiguousarray(values) for values in self.scores.values()]
        svg = _scorewise.curves_svg(list(self.scores), np.ascontiguousarray(self.threshold), curves)
        return svg or f"<p>{html.escape(', '.join(self.scores))}: undefined at every threshold</p>"


class Sweep:
    """The confusion matrices of a set of predictions at all thresholds; made by :func:`sweep`.

    The predictions are sorted once, and all methods use the sorted rows.
    """

    def __init__(self, labels: Any, probabilities: Any, weights: Any = None, *, positive: Any = None) -> None:
        self._rows = _arrays.row_arrays(labels, probabilities, weights, positive, name="probabilities")
        self._sweep = _scorewise.Sweep(self._rows)

    def __len__(self) -> int:
        """Return the number of predictions."""
        return self._sweep.rows

    def __repr__(self) -> str:
        positives, negatives = self.counts
        return f"<Sweep of {len(self)} rows: {positives:g} positive, {negatives:g} negative>"

    @property
    def counts(self) -> tuple[float, float]:
        """The total weight of the positive rows and of the negative rows."""
        return self._sweep.counts

    def at(self, threshold: float) -> Confusion:
        """Return the confusion matrix at a threshold."""
        return Confusion(*self._sweep.at(threshold))

    def best(
        self,
        score: str,
        subject_to: str | Sequence[str] | None = None,
        *,
        smooth: float | None = None,
        replicates: int = 1000,
        seed: int = 0,
        block: int | str | None = None,
        groups: Any = None,
    ) -> Best:
        """Return the exact best threshold of a score, or one that is best on average over nearby thresholds.

        Parameters
        ----------
        score : str
            The name of a registered score, or a formula.
        subject_to : str or sequence of str, optional
            Conditions that the threshold must satisfy on these rows, such as ``"precision >= 0.3"`` or ``"alarms <= 50 per 1000"``; not possible
            with ``smooth``. With a confidence, as in ``"precision >= 0.3 with 95%"``, the condition must also hold for future rows: only thresholds
            at which a statistical test shows this are used. If there is none, the error says how many more events would be needed.
        smooth : float, optional
            A width from 0.001 to below 0.5, usually 0.2: return the smoothed threshold, which depends less on single rows than the exactly best
            one. It is best on average over the thresholds near it, judged by the score of the expected confusion matrix; at a threshold of
            0.5 the average is from ``0.5 - smooth`` to ``0.5 + smooth``.
        replicates, seed, block, groups
            The settings of the tests of conditions with a confidence, as in :meth:`bootstrap`: ``block`` or ``groups`` if rows depend on each other.
        """
        if smooth is not None:
            result = json.loads(self._sweep.smooth_best(score, check_smooth(smooth, subject_to)))
            low, high = result["interval"]
            value = math.nan if result["value"] is None else result["value"]
            confusion = Confusion(**result["confusion"])
            return Best(result["score"], result["threshold"], (low, high), value, confusion, (), result["width"], result["expected_value"])
        settings = (replicates, seed, _arrays.dependence(block, groups))
        result = json.loads(self._sweep.best(self._rows, score, _arrays.string_list(subject_to), settings))
        guarantee = Document(result["guarantee"]) if "guarantee" in result else None
        low, high = result["interval"]
        confusion = Confusion(**result["confusion"])
        return Best(result["score"], result["threshold"], (low, high), result["value"], confusion, tuple(result["subject_to"]), guarantee=guarantee)

    def curve(self, score: str | Sequence[str], points: int = 400) -> Curve:
        """Return scores at about ``points`` thresholds, which include the best threshold of each score."""
        names = _arrays.string_list(score)
        thresholds, matrices, values = self._sweep.curve(names, points)
        return Curve(thresholds, matrices, {name: values[:, at] for at, name in enumerate(names)})

    def bootstrap(
        self,
        score: str,
        subject_to: str | Sequence[str] | None = None,
        *,
        smooth: float | None = None,
        replicates: int = 1000,
        seed: int = 0,
        block: int | str | None = None,
        groups: Any = None,
    ) -> Document:
        """Return 95 % bootstrap intervals of the best threshold and of its score.

        Parameters
        ----------
        score : str
            The name of a registered score, or a formula.
        subject_to : str or sequence of str, optional
            Conditions that the threshold must satisfy.
        smooth : float, optional
            The width of the smoothing, as in :meth:`best`: return the intervals of the smoothed threshold, from the same replicates.
        replicates : int, default=1000
            The number of bootstrap replicates.
        seed : int, default=0
            The seed of the random numbers.
        block : int or "auto", optional
            For time series, whose neighbouring rows depend on each other: the length of the blocks of consecutive rows that are drawn together; with
            "auto" it is chosen from the rows.
        groups : array-like, optional
            The group of each row, if rows of the same group depend on each other: a patient, a station, a storm. Whole groups are drawn.
        """
        if smooth is not None:
            width = check_smooth(smooth, subject_to)
            return Document(json.loads(self._sweep.smooth_bootstrap(self._rows, score, width, (replicates, seed, _arrays.dependence(block, groups)))))
        result = self._sweep.bootstrap(self._rows, score, _arrays.string_list(subject_to), (replicates, seed, _arrays.dependence(block, groups)))
        return Document(json.loads(result))

    def corrected(
        self,
        score: str,
        subject_to: str | Sequence[str] | None = None,
        *,
        smooth: float | None = None,
        replicates: int = 1000,
        seed: int = 0,
        block: int | str | None = None,
        groups: Any = None,
    ) -> Document | None:
        """Return an estimate of the score that the best threshold has on new rows, with a 95 % interval; None if it cannot be estimated.

        ``best(score).value`` is on average better than the score on new rows, because the threshold was chosen on the same rows. Here every row is
        classified with a threshold that was chosen on other rows. The parameters are those of :meth:`bootstrap`.
        """
        width = None if smooth is None else check_smooth(smooth, subject_to)
        dependence = _arrays.dependence(block, groups)
        found = self._sweep.corrected(self._rows, score, _arrays.string_list(subject_to), width, (replicates, seed, dependence))
        return None if found is None else Document(json.loads(found))

    def report(
        self,
        score: str = "tss",
        *,
        threshold: float | None = None,
        prior: str | None = None,
        subject_to: str | Sequence[str] | None = None,
        replicates: int = 1000,
        seed: int = 0,
        block: int | str | None = None,
        groups: Any = None,
    ) -> Report:
        """Return an HTML report with figures; see :func:`scorewise.report`."""
        labels, probabilities, weights = self._rows
        return report(
            labels,
            probabilities,
            score,
            threshold=threshold,
            prior=prior,
            subject_to=subject_to,
            weights=weights,
            replicates=replicates,
            seed=seed,
            block=block,
            groups=groups,
        )

    def _repr_html_(self) -> str:
        positives, negatives = self.counts
        table = _html_table(["rows", "positives", "negatives"], [[len(self), positives, negatives]])
        return table + self.curve(["tss", "f1", "csi", "precision", "recall"])._repr_html_()


def check_smooth(smooth: Any, subject_to: str | Sequence[str] | None) -> float:
    """Return ``smooth`` as a float. Raise an error if it is out of range, or if ``subject_to`` has conditions."""
    if not isinstance(smooth, Real) or isinstance(smooth, bool) or not 0.001 <= float(smooth) < 0.5:
        raise ValueError(f"smooth must be a number from 0.001 to below 0.5, usually 0.2, not {smooth!r}")
    if _arrays.string_list(subject_to):
        raise ValueError(
            "smooth cannot be combined with subject_to, because nearby thresholds, over which it averages, may violate the conditions: "
            "leave out smooth or subject_to"
        )
    return float(smooth)


def sweep(labels: Any, probabilities: Any, weights: Any = None, *, positive: Any = None) -> Sweep:
    """Evaluate a set of predictions at all thresholds at once.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Labels 0 and 1, or any other labels if ``positive`` is given.
    probabilities : array-like of shape (n_rows,)
        Probabilities of the positive class.
    weights : array-like of shape (n_rows,), optional
        Weights of the rows, 1 by default.
    positive : object, optional
        The label of the positive class.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> best = sweep([0, 0, 1, 0, 1, 1], [0.1, 0.4, 0.6, 0.7, 0.8, 0.9]).best("f1")
    >>> round(best.value, 4), best.interval
    (0.8571, (0.4, 0.6))
    """
    return Sweep(labels, probabilities, weights, positive=positive)


def score(
    labels: Any,
    probabilities: Any,
    threshold: float = 0.5,
    *,
    scores: str | Sequence[str] | None = None,
    weights: Any = None,
    positive: Any = None,
    replicates: int = 1000,
    seed: int = 0,
    block: int | str | None = None,
    groups: Any = None,
    temporal: str | None = None,
    series: Any = None,
) -> Document:
    """Compute scores at a threshold, with 95 % intervals.

    Unless ``temporal`` is given, the result also has the measures of the probabilities, which do not depend on the threshold, under the key
    ``probabilities``: ``brier``, ``log_loss``, ``roc_area`` and ``average_precision``, and the parts of the Brier score.

    Parameters
    ----------
    labels, probabilities, weights, positive
        The rows, as in :func:`sweep`.
    threshold : float, default=0.5
        Rows with a probability above it are predicted positive.
    scores : str or sequence of str, optional
        Names or formulas of the scores; all registered scores by default.
    replicates, seed, block, groups
        The settings of the bootstrap, as in :meth:`Sweep.bootstrap`.
    temporal, series
        For a time series, weight errors by their timing, as in :func:`temporal_sweep`. Blocks of rows are then resampled unless ``block`` or
        ``groups`` is given.
    """
    rows = _arrays.row_arrays(labels, probabilities, weights, positive, name="probabilities")
    names = None if scores is None else _arrays.string_list(scores)
    if temporal is not None:
        settings = (replicates, seed, _time_dependence(block, groups))
        return Document(json.loads(_scorewise.score_series(rows, threshold, names, _series_settings(temporal, series), settings)))
    if series is not None:
        raise ValueError('series is given, but temporal is not: add temporal="value", or leave out series')
    return Document(json.loads(_scorewise.score(rows, threshold, names, (replicates, seed, _arrays.dependence(block, groups)))))


def compare(
    labels: Any,
    first: Any,
    second: Any,
    score: str = "tss",
    *,
    threshold: float | tuple[float, float] = 0.5,
    tuned: bool = False,
    names: tuple[str, str] = ("first", "second"),
    weights: Any = None,
    positive: Any = None,
    replicates: int = 1000,
    seed: int = 0,
    block: int | str | None = None,
    groups: Any = None,
    temporal: str | None = None,
    series: Any = None,
) -> Document:
    """Compare two forecasts of the same rows: a score at a threshold, and the measures of the probabilities, with 95 % intervals of the differences.

    Parameters
    ----------
    labels, weights, positive
        The labels and weights of the rows, as in :func:`sweep`.
    first, second : array-like of shape (n_rows,)
        The probabilities of the two forecasts.
    score : str, default="tss"
        The name or formula of the score.
    threshold : float or tuple of two floats, default=0.5
        One threshold for both forecasts, or one for each.
    tuned : bool, default=False
        Compare each forecast at its own best threshold, which is found again in every bootstrap replicate; ``threshold`` is then ignored.
    names : tuple of two str
        The names of the forecasts in the result.
    replicates, seed, block, groups
        The settings of the bootstrap, as in :meth:`Sweep.bootstrap`. Both forecasts are resampled together.
    temporal, series
        For a time series, weight errors by their timing, as in :func:`temporal_sweep`. Blocks of rows are then resampled unless ``block`` or
        ``groups`` is given, and there are no measures of the probabilities.

    Returns
    -------
    Document
        The keys of ``scorewise compare --json``: ``first`` and ``second`` with their scores, ``difference``, ``better``, the name of the better
        forecast, or None if these rows do not show which one is better, and ``probabilities``.
    """
    flags = np.ascontiguousarray(_arrays.boolean_labels(labels, positive)).view(np.uint8)
    one, other = (
        np.ascontiguousarray(_arrays.float_array(values, name), dtype=np.float64) for values, name in ((first, "first"), (second, "second"))
    )
    timing = None if temporal is None else _series_settings(temporal, series)
    if temporal is None and series is not None:
        raise ValueError('series is given, but temporal is not: add temporal="value", or leave out series')
    dependence = _arrays.dependence(block, groups) if temporal is None else _time_dependence(block, groups)
    thresholds = None if tuned else np.broadcast_to(np.asarray(threshold, np.float64), 2).tolist()
    result = _scorewise.compare(
        flags,
        (one, other),
        _arrays.weight_array(weights, one),
        [str(name) for name in names],
        thresholds,
        score,
        timing,
        (replicates, seed, dependence),
    )
    return Document(json.loads(result))


class TemporalSweep:
    """The time-weighted confusion matrices of a time series at all thresholds; :func:`temporal_sweep` creates one."""

    def __init__(self, labels: Any, probabilities: Any, temporal: str = "value", *, series: Any = None, weights: Any = None, positive: Any = None) -> None:
        self._rows = _arrays.row_arrays(labels, probabilities, weights, positive, name="probabilities")
        self._series = _series_settings(temporal, series)
        self._sweep = _scorewise.TemporalSweep(self._rows, self._series)

    def at(self, threshold: float) -> Confusion:
        """Return the time-weighted confusion matrix at a threshold."""
        return Confusion(*self._sweep.at(threshold))

    def best(self, score: str, subject_to: str | Sequence[str] | None = None) -> Best:
        """Return the exact best threshold of a score of the time-weighted counts; the parameters are those of :meth:`Sweep.best`."""
        result = json.loads(self._sweep.best(score, _arrays.string_list(subject_to)))
        low, high = result["interval"]
        return Best(
            result["score"], result["threshold"], (low, high), result["value"], Confusion(**result["confusion"]), tuple(result["subject_to"])
        )

    def bootstrap(
        self,
        score: str,
        subject_to: str | Sequence[str] | None = None,
        *,
        replicates: int = 1000,
        seed: int = 0,
        block: int | str | None = None,
        groups: Any = None,
    ) -> Document:
        """Return 95 % bootstrap intervals of the best threshold and of its score.

        The parameters are those of :meth:`Sweep.bootstrap`, except that blocks of rows are resampled unless ``block`` or ``groups`` is given.
        """
        settings = (replicates, seed, _time_dependence(block, groups))
        conditions = _arrays.string_list(subject_to)
        return Document(json.loads(_scorewise.TemporalSweep.bootstrap(self._rows, self._series, score, conditions, settings)))


def temporal_sweep(
    labels: Any, probabilities: Any, temporal: str = "value", *, series: Any = None, weights: Any = None, positive: Any = None
) -> TemporalSweep:
    """Evaluate the predictions for a time series at all thresholds, with errors weighted by their timing.

    A false alarm shortly before an event, or a missed event shortly after an alarm, counts less than a full error.

    Parameters
    ----------
    labels, probabilities, weights, positive
        The rows, as in :func:`sweep`, in the order of time.
    temporal : str, default="value"
        ``"value"``: only the nearest event or alarm lowers the weight of an error, and an error far from all events or alarms counts twice;
        ``"maximum"``: the same, but no error counts twice; ``"sum"``: all nearby events or alarms lower the weight. Numbers, as in
        ``"sum:0.5,0.25"``, are subtracted from the weight of an error one row, two rows … away from an event or alarm.
    series : array-like of shape (n_rows,), optional
        Values that tell several time series apart, such as stations. The rows of each series must be together.

    Examples
    --------
    >>> sweep = temporal_sweep([0, 0, 1, 0, 0, 0, 0, 0], [0.1, 0.8, 0.6, 0.1, 0.1, 0.1, 0.1, 0.7])
    >>> sweep.at(0.75).fp
    0.5
    >>> sweep.best("csi").interval
    (0.1, 0.6)
    """
    return TemporalSweep(labels, probabilities, temporal, series=series, weights=weights, positive=positive)


def _series_settings(temporal: Any, series: Any) -> tuple[str, Array | None]:
    """Return the weighting of errors, and for each row the number of its time series, or None if there is only one series."""
    if not isinstance(temporal, str):
        raise ValueError(f'temporal must be a text such as "value" or "sum:0.5,0.25", not {temporal!r}')
    return temporal, None if series is None else _arrays.codes(series, "series")


def _time_dependence(block: int | str | None, groups: Any) -> Any:
    """Do the same as ``dependence``, but resample blocks by default, because neighbouring rows of a time series depend on each other."""
    return _arrays.dependence("auto" if block is None and groups is None else block, groups)


def score_counts(
    tn: Any,
    fp: Any,
    fn: Any,
    tp: Any,
    *,
    scores: str | Sequence[str] | None = None,
    by: Any = None,
    replicates: int = 1000,
    seed: int = 0,
    block: int | str | None = None,
    groups: Any = None,
) -> Document:
    """Compute the scores of the sum of confusion matrices, with 95 % intervals that follow from how much the matrices differ.

    Parameters
    ----------
    tn, fp, fn, tp : array-like of shape (n_rows,)
        Correct negatives, false alarms, misses and hits of each row, for example of each day, station or model run; 0 or above.
    scores : str or sequence of str, optional
        Names or formulas of the scores; all registered scores by default.
    by : array-like of shape (n_rows,), optional
        Values that separate groups of rows, such as stations. The result has the scores of each group under the key ``groups``, besides those of
        all rows.
    replicates : int, default=1000
        The number of bootstrap replicates.
    seed : int, default=0
        The seed of the random numbers.
    block : int or "auto", optional
        For time series, whose neighbouring rows depend on each other: the length of the blocks of consecutive rows that are drawn together; with
        "auto" it is chosen from the rows. By default, rows are drawn independently of each other.
    groups : array-like of shape (n_rows,), optional
        Rows with the same value depend on each other and are resampled together.
    """
    cells = [np.ascontiguousarray(_arrays.float_array(values, name), dtype=np.float64) for name, values in zip(_CELLS, (tn, fp, fn, tp), strict=True)]
    names = None if scores is None else _arrays.string_list(scores)
    codes = None
    if by is not None:
        values, numbers = np.unique(_arrays.one_dimensional_array(by, "by").astype(str), return_inverse=True)
        codes = (np.ascontiguousarray(numbers.reshape(-1), dtype=np.uint32), values.tolist())
    settings = (replicates, seed, _arrays.dependence(block, groups))
    return Document(json.loads(_scorewise.score_counts((cells[0], cells[1], cells[2], cells[3]), names, codes, settings)))


def costs(
    labels: Any,
    probabilities: Any,
    cost_fp: Any,
    cost_fn: Any,
    threshold: float | None = None,
    *,
    subject_to: str | Sequence[str] | None = None,
    weights: Any = None,
    positive: Any = None,
    replicates: int = 1000,
    seed: int = 0,
    block: int | str | None = None,
    groups: Any = None,
) -> Document:
    """Compute the mean cost per row at a threshold, or find the threshold with the lowest cost, if errors cost a different amount in every row.

    Without ``threshold``, the result has the keys of ``scorewise tune --json``: ``threshold``, ``interval``, ``value`` (the mean cost per row),
    ``corrected`` (the mean cost to expect on new rows), ``bootstrap``, ``confusion`` and ``costs``. With ``threshold``, the result has the keys of
    ``costs``: the total costs ``false_alarms``, ``misses`` and ``total``, the mean cost ``per_row`` with its 95 % interval, and the mean costs
    ``always_alarm`` and ``never_alarm`` of the forecasts that always and never give an alarm.

    Parameters
    ----------
    labels, probabilities, weights, positive
        The rows, as in :func:`sweep`.
    cost_fp, cost_fn : float or array-like of shape (n_rows,)
        The cost of a false alarm and of a miss in each row, or one number for all rows. Costs of errors that cannot happen in a row, such as the cost
        of a miss in a negative row, are not read and may be NaN.
    threshold : float, optional
        The threshold at which the costs are computed.
    subject_to : str or sequence of str, optional
        Conditions on the counts that the threshold must satisfy, such as ``"tp + fp <= 50"``; not possible with ``threshold``.
    replicates, seed, block, groups
        The settings of the bootstrap, as in :meth:`Sweep.bootstrap`.

    Examples
    --------
    >>> best = costs([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], 5, [80, np.nan, 300, np.nan])
    >>> best.value, best.interval
    (1.25, [0.1, 0.5])
    """
    if threshold is not None and _arrays.string_list(subject_to):
        raise ValueError("subject_to cannot be combined with threshold: conditions choose the threshold")
    rows = _arrays.row_arrays(labels, probabilities, weights, positive, name="probabilities")
    both = [
        np.full(len(rows[0]), float(values)) if np.ndim(values) == 0 else np.ascontiguousarray(_arrays.float_array(values, name), dtype=np.float64)
        for name, values in (("cost_fp", cost_fp), ("cost_fn", cost_fn))
    ]
    settings = (replicates, seed, _arrays.dependence(block, groups))
    return Document(json.loads(_scorewise.costs(rows, (both[0], both[1]), threshold, _arrays.string_list(subject_to), settings)))


#: The names of the cells of a confusion matrix, in their order.
_CELLS = ("tn", "fp", "fn", "tp")


def expected_confusion(
    labels: Any,
    predictions: Any,
    prior: str = "cosine:0.5,0.1",
    *,
    weights: Any = None,
    positive: Any = None,
    from_logits: bool = False,
) -> Confusion:
    """Compute the expected confusion matrix under a random threshold.

    Parameters
    ----------
    labels, weights, positive
        Labels, weights and positive label of the rows, as in :func:`sweep`.
    predictions : array-like of shape (n_rows,)
        Probabilities of the positive class, or logits.
    prior : str, default="cosine:0.5,0.1"
        The distribution of the threshold; :func:`priors` lists the families.
    from_logits : bool, default=False
        Whether ``predictions`` are logits.
    """
    rows = _arrays.row_arrays(labels, predictions, weights, positive)
    return Confusion(*_scorewise.expected_confusion(rows, prior, from_logits))


def loss(
    labels: Any,
    predictions: Any,
    score: str = "f1",
    prior: str = "cosine:0.5,0.1",
    *,
    weights: Any = None,
    positive: Any = None,
    from_logits: bool = False,
    exact: bool = False,
) -> float:
    """Compute the loss: 1 − the score of the expected confusion matrix, or with ``exact=True`` 1 − the expected score.

    The other parameters are those of :func:`expected_confusion`.
    """
    rows = _arrays.row_arrays(labels, predictions, weights, positive)
    return _scorewise.loss(rows, score, prior, exact, from_logits, False)[0]


def loss_and_gradient(
    labels: Any,
    logits: Any,
    score: str = "f1",
    prior: str = "cosine:0.5,0.1",
    *,
    weights: Any = None,
    positive: Any = None,
    exact: bool = False,
) -> tuple[float, Array]:
    """Compute the loss and its gradient with respect to the logits; the parameters are those of :func:`loss`."""
    rows = _arrays.row_arrays(labels, logits, weights, positive, name="logits")
    value, gradient = _scorewise.loss(rows, score, prior, exact, True, True)
    assert gradient is not None
    return value, gradient


def theory(
    labels: Any,
    predictions: Any,
    score: str = "f1",
    prior: str = "cosine:0.5,0.1",
    *,
    weights: Any = None,
    positive: Any = None,
    from_logits: bool = False,
) -> Document:
    """Describe a score under a random threshold: expected confusion matrix, exact expected score, Jensen gap and bounds.

    The parameters are those of :func:`expected_confusion`.
    """
    rows = _arrays.row_arrays(labels, predictions, weights, positive)
    return Document(json.loads(_scorewise.theory(rows, score, prior, from_logits)))


class Listing(list[dict[str, Any]]):
    """A list of dictionaries that describe scores or priors; notebooks display it as a table."""

    def _repr_html_(self) -> str:
        names = [name for name in ("name", "form", "formula", "cdf", "aliases", "note") if self and name in self[0]]
        return _html_table(names, [[item.get(name) for name in names] for item in self])


def scores() -> Listing:
    """Return the registered scores with their formulas, aliases, ranges and references."""
    return Listing(json.loads(_scorewise.scores()))


def priors() -> Listing:
    """Return the families of threshold distributions (priors)."""
    return Listing(json.loads(_scorewise.priors()))


def _html_table(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as HTML."""

    def cell_text(value: Any) -> str:
        """Return a value as the text of a cell, escaped for HTML."""
        if value is None:
            return ""
        if isinstance(value, (list, tuple)):
            return ", ".join(map(cell_text, value))
        return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))

    head = "".join(f"<th>{html.escape(name)}</th>" for name in heading)
    body = "".join("<tr>" + "".join(f"<td>{cell_text(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
