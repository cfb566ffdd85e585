"""Scores, thresholds and losses of arrays. Rust computes; here are names, defaults and tables to look at."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _scorewise
from ._arrays import Array
from ._report import Report, report


class Confusion(NamedTuple):
    """The confusion matrix, in the order of all files here."""

    tn: float
    fp: float
    fn: float
    tp: float

    def _repr_html_(self) -> str:
        rows = [["truth 0", self.tn, self.fp], ["truth 1", self.fn, self.tp]]
        return _html_table(["", "forecast 0", "forecast 1"], rows)


class Document(dict[str, Any]):
    """What the command line prints with ``--json``, by the same names; fields are attributes too. A notebook shows it as a table."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}") from None
        return Document(value) if type(value) is dict else value

    def _repr_html_(self) -> str:
        def row(name: str, value: Any) -> list[Any]:
            if isinstance(value, dict) and "value" in value:
                return [name, value["value"], value.get("low"), value.get("high")]
            return [name, value, None, None]

        rows: list[list[Any]] = []
        for name, value in self.items():
            if name == "scores" and isinstance(value, dict):
                rows.extend(row(inner, found) for inner, found in value.items())
            elif isinstance(value, dict) and "value" not in value:
                rows.extend(row(f"{name} {inner}", found) for inner, found in value.items())
            else:
                rows.append(row(name, value))
        return _html_table(["", "value", "low", "high"], rows)


class Best(NamedTuple):
    """The best threshold of a score: every threshold of ``interval``, its end not included, is as good."""

    score: str
    threshold: float
    interval: tuple[float, float]
    value: float
    confusion: Confusion
    subject_to: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows: list[list[Any]] = [["threshold", self.threshold], ["interval", f"{low:.6g} up to {high:.6g}"], [self.score, self.value]]
        rows += [["subject to", condition] for condition in self.subject_to]
        return _html_table(["", "best"], rows) + self.confusion._repr_html_()


class Curve(NamedTuple):
    """Scores over the threshold: where each value begins to hold, the confusion matrices (tn, fp, fn, tp), and the scores, NaN where
    one is undefined. Thinned to a few hundred points; the optimum of each score is among them."""

    threshold: Array
    confusion: Array
    scores: dict[str, Array]

    def plot(self, ax: Any = None) -> Any:
        """Draws it with matplotlib and returns the axes."""
        from ._needs import need

        ax = need("matplotlib.pyplot").gca() if ax is None else ax
        for name, values in self.scores.items():
            ax.step(self.threshold, values, where="post", label=name)
            if np.isfinite(values).any():
                at = int(np.nanargmax(values))
                ax.plot(self.threshold[at], values[at], "o", color=ax.lines[-1].get_color(), markersize=4)
        ax.set_xlabel("threshold")
        ax.set_ylabel("score")
        ax.set_xlim(0, 1)
        ax.legend(frameon=False)
        return ax

    def _repr_html_(self) -> str:
        lines = [np.ascontiguousarray(values) for values in self.scores.values()]
        picture = _scorewise.curves_svg(list(self.scores), np.ascontiguousarray(self.threshold), lines)
        return picture or f"<p>{html.escape(', '.join(self.scores))}: undefined at every threshold</p>"


class Sweep:
    """All thresholds of a set of predictions at once: sorted once, asked anything. Made by :func:`sweep`."""

    def __init__(self, labels: Any, probabilities: Any, weights: Any = None, *, positive: Any = None) -> None:
        self._labels = _arrays.labels(labels, positive)
        self._probabilities = _arrays.numbers(probabilities, "probabilities")
        self._weights = _arrays.weights(weights, self._probabilities)
        self._sweep = _scorewise.Sweep(self._labels, self._probabilities, self._weights)

    def __len__(self) -> int:
        return self._sweep.rows

    def __repr__(self) -> str:
        positives, negatives = self.counts
        return f"<Sweep of {len(self)} rows: {positives:g} positive, {negatives:g} negative>"

    @property
    def counts(self) -> tuple[float, float]:
        """The weight of the positives and of the negatives."""
        return self._sweep.counts

    def at(self, threshold: float) -> Confusion:
        """The confusion matrix at a threshold."""
        return Confusion(*self._sweep.at(threshold))

    def best(self, score: str, subject_to: str | Sequence[str] | None = None) -> Best:
        """The exact best threshold of a score, by name or formula, among those that satisfy the conditions."""
        found = json.loads(self._sweep.best(score, _arrays.texts(subject_to)))
        low, high = found["interval"]
        return Best(
            found["score"], found["threshold"], (low, high), found["value"], Confusion(**found["confusion"]), tuple(found["subject_to"])
        )

    def curve(self, score: str | Sequence[str], points: int = 400) -> Curve:
        """Scores over the threshold, thinned to about so many points without losing an optimum."""
        names = _arrays.texts(score)
        thresholds, cells, values = self._sweep.curve(names, points)
        return Curve(thresholds, cells, {name: values[:, at] for at, name in enumerate(names)})

    def bootstrap(
        self,
        score: str,
        subject_to: str | Sequence[str] | None = None,
        *,
        replicates: int = 1000,
        seed: int = 0,
        block: int | None = None,
    ) -> Document:
        """How sure the best threshold is: 95 % intervals of the threshold and of its value, from the rows drawn anew. ``block`` rows are
        drawn together, for time series whose rows are not independent."""
        found = self._sweep.bootstrap(
            self._labels, self._probabilities, self._weights, score, _arrays.texts(subject_to), replicates, seed, block
        )
        return Document(json.loads(found))

    def report(
        self,
        score: str = "tss",
        *,
        threshold: float | None = None,
        prior: str | None = None,
        subject_to: str | Sequence[str] | None = None,
        replicates: int = 1000,
        seed: int = 0,
        block: int | None = None,
    ) -> Report:
        """A page to look at, and figures: see :func:`scorewise.report`."""
        return report(
            self._labels,
            self._probabilities,
            score,
            threshold=threshold,
            prior=prior,
            subject_to=subject_to,
            weights=self._weights,
            replicates=replicates,
            seed=seed,
            block=block,
        )

    def _repr_html_(self) -> str:
        positives, negatives = self.counts
        table = _html_table(["rows", "positives", "negatives"], [[len(self), positives, negatives]])
        return table + self.curve(["tss", "f1", "csi", "precision", "recall"])._repr_html_()


def sweep(labels: Any, probabilities: Any, weights: Any = None, *, positive: Any = None) -> Sweep:
    """All thresholds at once, exactly, from one sort.

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
    block: int | None = None,
) -> Document:
    """Scores at a threshold with 95 % bootstrap intervals: all registered ones, or those that are named."""
    p = _arrays.numbers(probabilities, "probabilities")
    named = None if scores is None else _arrays.texts(scores)
    found = _scorewise.score(
        _arrays.labels(labels, positive), p, _arrays.weights(weights, p), threshold, named, replicates, seed, block
    )
    return Document(json.loads(found))


def expected_confusion(
    labels: Any,
    predictions: Any,
    prior: str = "cosine:0.5,0.1",
    *,
    weights: Any = None,
    positive: Any = None,
    from_logits: bool = False,
) -> Confusion:
    """The confusion matrix in expectation over a random threshold."""
    p = _arrays.numbers(predictions, "predictions")
    found = _scorewise.expected_confusion(
        _arrays.labels(labels, positive), p, _arrays.weights(weights, p), prior, from_logits
    )
    return Confusion(*found)


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
    """1 − the score of the expected confusion matrix (``exact``: 1 − the expected score)."""
    p = _arrays.numbers(predictions, "predictions")
    return _scorewise.loss(
        _arrays.labels(labels, positive), p, _arrays.weights(weights, p), score, prior, exact, from_logits, False
    )[0]


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
    """The loss, and its gradient with respect to the logits."""
    z = _arrays.numbers(logits, "logits")
    value, gradient = _scorewise.loss(
        _arrays.labels(labels, positive), z, _arrays.weights(weights, z), score, prior, exact, True, True
    )
    assert gradient is not None, "it was asked for"
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
    """A score under a random threshold, exactly: expected matrix, expected score, Jensen gap, bounds."""
    p = _arrays.numbers(predictions, "predictions")
    found = _scorewise.theory(
        _arrays.labels(labels, positive), p, _arrays.weights(weights, p), score, prior, from_logits
    )
    return Document(json.loads(found))


class Listing(list[dict[str, Any]]):
    """A list of descriptions; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        names = [name for name in ("name", "form", "formula", "cdf", "aliases", "note") if self and name in self[0]]
        return _html_table(names, [[item.get(name) for name in names] for item in self])


def scores() -> Listing:
    """The registered scores: names, formulas, aliases, ranges, references."""
    return Listing(json.loads(_scorewise.scores()))


def priors() -> Listing:
    """The families of priors of the threshold."""
    return Listing(json.loads(_scorewise.priors()))


def _html_table(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    def cell(value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, (list, tuple)):
            return ", ".join(map(cell, value))
        return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))

    head = "".join(f"<th>{html.escape(name)}</th>" for name in heading)
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
