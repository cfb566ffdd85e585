"""Reports: a forecast over all thresholds, as a page, as figures, as data. The same as the command's ``--report``."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from . import _arrays, _scorewise
from ._files import write_safely


class Figure(NamedTuple):
    """One figure of a report. A notebook shows it."""

    name: str
    title: str
    caption: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        label = html.escape(f"{self.title}. {self.caption}", quote=True)
        picture = self.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" style="max-width:100%;height:auto" ', 1)
        return f'<figure style="margin:0">{picture}<figcaption><b>{html.escape(self.title)}.</b> {html.escape(self.caption)}</figcaption></figure>'


class Report:
    """A forecast over all thresholds. Made by :func:`report`; a notebook shows its figures, :meth:`save` writes the page."""

    def __init__(self, document: str) -> None:
        self._document = document

    @property
    def document(self) -> dict[str, Any]:
        """The data behind the page; its ``result`` is what the command prints with ``--json``."""
        found: dict[str, Any] = json.loads(self._document)
        return found

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by name."""
        return {name: Figure(name, title, caption, svg) for name, title, caption, svg in _scorewise.figures(self._document)}

    def page(self) -> str:
        """The whole page: one HTML text that needs nothing else."""
        return _scorewise.page(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; named ``.json``, the data behind it, from which ``scorewise report`` draws the page again."""
        target = Path(path)
        if target.suffix.lower() == ".json":
            write_safely(target, self._document.encode(), "results")
        else:
            write_safely(target, self.page().encode(), "page")

    def plots(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes every figure as SVG and PNG into a folder, and returns their paths."""
        where, written = Path(folder), []
        where.mkdir(parents=True, exist_ok=True)
        for name, figure in self.figures.items():
            for ending, content in (("svg", figure.svg.encode()), ("png", _scorewise.figure_png(self._document, name))):
                written.append(where / f"{name}.{ending}")
                write_safely(written[-1], content, ending)
        return written

    def __repr__(self) -> str:
        forecast = self.document["forecast"]
        return f"<Report: {forecast['score']} at threshold {forecast['threshold']:.6g}>"

    def _repr_html_(self) -> str:
        forecast = self.document["forecast"]
        head = f"<p><b>{html.escape(forecast['score'])}</b> at threshold <b>{forecast['threshold']:.6g}</b> ({html.escape(forecast['chosen'])})</p>"
        cells = "".join(figure._repr_html_() for figure in self.figures.values())
        return f'{head}<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));gap:1rem">{cells}</div>'


def report(
    labels: Any,
    probabilities: Any,
    score: str = "tss",
    *,
    threshold: float | None = None,
    prior: str | None = None,
    subject_to: str | Sequence[str] | None = None,
    weights: Any = None,
    positive: Any = None,
    classes: Sequence[str] = ("no event", "event"),
    replicates: int = 1000,
    seed: int = 0,
    block: int | None = None,
) -> Report:
    """A forecast over all thresholds: a page to look at, figures for a paper.

    Without a ``threshold`` the best one for the score is found, among those that satisfy ``subject_to``. With a ``prior`` the report also
    says what the theory says of the score under a random threshold.

    >>> import scorewise as sw
    >>> found = sw.report([0, 0, 1, 0, 1, 1], [0.1, 0.4, 0.6, 0.7, 0.8, 0.9], "f1", replicates=10)
    >>> sorted(found.figures)[:3]
    ['decision', 'performance', 'precision-recall']
    """
    return report_of(
        labels,
        probabilities,
        score,
        threshold=threshold,
        chosen="as given",
        prior=prior,
        subject_to=subject_to,
        weights=weights,
        positive=positive,
        classes=classes,
        training=None,
        replicates=replicates,
        seed=seed,
        block=block,
    )


def report_of(
    labels: Any,
    probabilities: Any,
    score: str,
    *,
    threshold: float | None,
    chosen: str,
    prior: str | None,
    subject_to: str | Sequence[str] | None,
    weights: Any,
    positive: Any,
    classes: Sequence[str],
    training: Mapping[str, Any] | None,
    replicates: int,
    seed: int,
    block: int | None,
) -> Report:
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"a threshold is a number between 0 and 1, not {threshold}")
    truth, p = _arrays.labels(labels, positive), _arrays.numbers(probabilities, "probabilities")
    names = [str(name) for name in classes]
    if len(names) != 2:
        raise ValueError(f"classes are two names, the negative and the positive one, not {len(names)}")
    given = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(given), timezone.utc) if given else datetime.now(timezone.utc)
    provenance = {"command": "scorewise.report in Python", "time": f"{now:%Y-%m-%d %H:%M:%S} UTC", "seed": seed, "data": []}
    facts = {"chosen": chosen, "classes": names, "training": training, "provenance": provenance}
    found = _scorewise.report(
        truth,
        p,
        _arrays.weights(weights, p),
        score,
        threshold,
        prior,
        _arrays.texts(subject_to),
        replicates,
        seed,
        block,
        json.dumps(facts),
    )
    return Report(found)
