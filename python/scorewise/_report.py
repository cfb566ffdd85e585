"""HTML reports on the quality of a forecast at all thresholds, in the same form as those of ``--report`` on the command line."""

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
    """One figure of a report; notebooks display it."""

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
    """A report made by :func:`report`. Notebooks display its figures; :meth:`save` writes the HTML page."""

    def __init__(self, document: str) -> None:
        self._document = document

    @property
    def document(self) -> dict[str, Any]:
        """The data of the report; ``document["result"]`` has the form of the command line's ``--json`` output."""
        document: dict[str, Any] = json.loads(self._document)
        return document

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the report, by name."""
        return {name: Figure(name, title, caption, svg) for name, title, caption, svg in _scorewise.figures(self._document)}

    def page(self) -> str:
        """Return the report as a self-contained HTML page."""
        return _scorewise.page(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: as JSON for ``scorewise report`` if the file name ends in ``.json``, otherwise as HTML."""
        target = Path(path)
        if target.suffix.lower() == ".json":
            write_safely(target, self._document.encode(), "results")
        else:
            write_safely(target, self.page().encode(), "page")

    def plots(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every figure as SVG and PNG into a folder, and return the paths of the files."""
        target, written = Path(folder), []
        target.mkdir(parents=True, exist_ok=True)
        for name, figure in self.figures.items():
            for suffix, content in (("svg", figure.svg.encode()), ("png", _scorewise.figure_png(self._document, name))):
                written.append(target / f"{name}.{suffix}")
                write_safely(written[-1], content, suffix)
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
    block: int | str | None = None,
    groups: Any = None,
) -> Report:
    """Report the quality of a forecast at all thresholds, as an HTML page with figures.

    Parameters
    ----------
    labels, probabilities, weights, positive
        The rows, as in :func:`scorewise.sweep`.
    score : str, default="tss"
        The score, by name or as a formula.
    threshold : float, optional
        The threshold to report on; by default the best threshold for the score.
    prior : str, optional
        A distribution of the threshold; if given, the report also shows the expected score and its bounds.
    subject_to : str or sequence of str, optional
        Conditions that the best threshold must satisfy.
    classes : sequence of two str, default=("no event", "event")
        The names of the negative and the positive class.
    replicates, seed, block, groups
        The settings of the bootstrap, as in :meth:`scorewise.Sweep.bootstrap`.

    Returns
    -------
    Report

    Examples
    --------
    >>> import scorewise as sw
    >>> report = sw.report([0, 0, 1, 0, 1, 1], [0.1, 0.4, 0.6, 0.7, 0.8, 0.9], "f1", replicates=10)
    >>> sorted(report.figures)[:3]
    ['decision', 'performance', 'precision-recall']
    """
    return make_report(
        labels,
        probabilities,
        score,
        threshold=threshold,
        chosen="set by the user",
        prior=prior,
        subject_to=subject_to,
        weights=weights,
        positive=positive,
        classes=classes,
        training=None,
        replicates=replicates,
        seed=seed,
        block=block,
        groups=groups,
    )


def make_report(
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
    block: int | str | None,
    groups: Any,
) -> Report:
    """Make a report on a model or on predictions; ``chosen`` says how the threshold was chosen, ``training`` how the model was trained."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be between 0 and 1, not {threshold}")
    rows = _arrays.row_arrays(labels, probabilities, weights, positive, name="probabilities")
    names = [str(name) for name in classes]
    if len(names) != 2:
        raise ValueError(f"classes must be two names, the negative class first, not {len(names)} names")
    # The environment variable SOURCE_DATE_EPOCH, if it is set, replaces the current time: https://reproducible-builds.org/specs/source-date-epoch/
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch else datetime.now(timezone.utc)
    provenance = {"command": "scorewise.report in Python", "time": f"{now:%Y-%m-%d %H:%M:%S} UTC", "seed": seed, "data": []}
    facts = {"chosen": chosen, "classes": names, "training": training, "provenance": provenance}
    subject_to = _arrays.string_list(subject_to)
    return Report(_scorewise.report(rows, score, threshold, prior, subject_to, (replicates, seed, _arrays.dependence(block, groups)), json.dumps(facts)))
