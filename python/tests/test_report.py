"""Tests that reports made in Python have the same data, pages and figures as those of the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scorewise as sw

COMMAND = os.environ.get("SCOREWISE")


@pytest.fixture(scope="module")
def forecast() -> tuple[Any, Any]:
    """Return labels and probabilities."""
    random = np.random.default_rng(7)
    labels = random.random(2000) < 0.08
    probability = np.clip(np.round(random.normal(0.25 + 0.35 * labels, 0.15), 3), 0, 1)
    return labels.astype(int), probability


def write_csv(forecast: tuple[Any, Any], folder: Path) -> Path:
    """Write labels and probabilities to a file that the command can read."""
    table = folder / "p.csv"
    rows = [f"{label},{probability!r}" for label, probability in zip(*(column.tolist() for column in forecast), strict=True)]
    table.write_text("label,probability\n" + "\n".join(rows) + "\n")
    return table


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["tune", "--score", "csi", "--subject-to", "precision >= 0.3"], {"score": "csi", "subject_to": "precision >= 0.3"}),
        (["tune", "--score", "f1", "--block", "50", "--seed", "3"], {"score": "f1", "block": 50, "seed": 3}),
        (["score", "--score", "hss", "--threshold", "0.31"], {"score": "hss", "threshold": 0.31}),
    ],
)
def test_report_equals_the_report_of_the_command_line(
    forecast: tuple[Any, Any], tmp_path: Path, arguments: list[str], options: dict[str, Any]
) -> None:
    command = COMMAND or pytest.fail("the environment variable SCOREWISE must be the path of the command")
    table, results = write_csv(forecast, tmp_path), tmp_path / "results.json"
    line = [command, arguments[0], str(table), *arguments[1:], "--replicates", "50", "--report", str(results)]
    subprocess.run(line, check=True, capture_output=True)
    expected = json.loads(results.read_text())["forecast"]
    report = sw.report(*forecast, replicates=50, **options).document["forecast"]
    if arguments[0] == "score":
        # The command computes intervals only for the scores that it was given; the Python function computes them for all scores.
        report["intervals"] = [interval for interval in report["intervals"] if interval["score"] == options["score"]]
    assert report == expected
    data = json.loads(results.read_text())["provenance"]["data"]
    array_data = sw.report(*forecast, replicates=2).document["provenance"]["data"]
    assert array_data[0]["fingerprint"] == data[0]["fingerprint"], "a file and arrays with the same rows must have the same fingerprint"


def test_command_line_renders_the_same_page_from_a_saved_report(forecast: tuple[Any, Any], tmp_path: Path) -> None:
    command = COMMAND or pytest.fail("the environment variable SCOREWISE must be the path of the command")
    report = sw.sweep(*forecast).report("tss", prior="cosine:0.5,0.1", replicates=20)
    report.save(tmp_path / "page.html")
    report.save(tmp_path / "data.json")
    subprocess.run([command, "report", str(tmp_path / "data.json"), "-o", str(tmp_path / "rendered.html")], check=True, capture_output=True)
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "rendered.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.json", "page.html", "rendered.html"], "the folder must contain no other files"


def test_plots_writes_all_figures_as_svg_and_png(forecast: tuple[Any, Any], tmp_path: Path) -> None:
    report = sw.report(*forecast, "f1", replicates=5)
    paths = report.plots(tmp_path / "new" / "folder")
    assert {path.name for path in paths} == {f"{name}.{suffix}" for name in report.figures for suffix in ("svg", "png")}
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".svg":
            assert content.decode() == report.figures[path.stem].svg
        else:
            width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
            size = re.match(r'<svg width="(\d+)" height="(\d+)"', report.figures[path.stem].svg)
            assert content[:8] == b"\x89PNG\r\n\x1a\n" and size and (width, height) == (2 * int(size[1]), 2 * int(size[2]))


def test_notebooks_display_the_figures_of_a_report(forecast: tuple[Any, Any]) -> None:
    report = sw.report(*forecast, "f1", replicates=5)
    html = report._repr_html_()
    for figure in report.figures.values():
        body = figure.svg.split(">", 1)[1]
        assert body in html and figure._repr_svg_() == figure.svg
    undefined = sw.sweep([0, 0], [0.1, 0.2]).curve(["tss"])
    assert "undefined at every threshold" in undefined._repr_html_()
    sweep = sw.sweep(*forecast)
    curve = sweep.curve(["f1", "tss"])
    assert curve._repr_html_().startswith("<svg") and ">f1<" in re.sub(r"\s", "", curve._repr_html_())
    assert "<svg" in sweep._repr_html_() and "2000" in sweep._repr_html_()


def test_reports_of_estimators_describe_the_given_rows() -> None:
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, y = make_classification(900, weights=[0.8], random_state=1)
    names = np.array(["calm", "storm"])[y]
    model = sw.ScoreClassifier("f1", recipe="paper", epochs=15, ensemble=2).fit(X[:600], names[:600])
    document = model.report(X[600:], names[600:], replicates=20).document
    confusion = sw.sweep(names[600:], model.predict_proba(X[600:])[:, 1], positive="storm").at(model.threshold_)
    assert document["result"]["confusion"] == {name: int(count) for name, count in zip(confusion._fields, confusion, strict=True)}
    assert document["forecast"]["classes"] == ["calm", "storm"] and document["forecast"]["threshold"] == model.threshold_
    assert [len(member["warm_up"]) + len(member["epochs"]) for member in document["training"]["members"]] == [15, 15]
    # The prior is a distribution of the threshold of raw predictions. This model is calibrated, so its report has no section about the prior.
    assert model.calibration_ is not None and "theory" not in document

    tuned = sw.ScoreThreshold(LogisticRegression(), "csi").fit(X[:600], names[:600])
    forecast = tuned.report(X[600:], names[600:], replicates=20).document["forecast"]
    assert forecast["threshold"] == tuned.threshold_ and forecast["chosen"] == "best csi in cross-validation"
    with pytest.raises(ValueError, match="probabilities"):
        sw.ScoreThreshold(LinearSVC(), "csi").fit(X, y).report(X, y)
    with pytest.raises(ValueError, match="y holds 0, which is not a class of the model; its classes are 'calm', 'storm'"):
        model.report(X, y)
    three_classes = sw.ScoreClassifier("f1", epochs=3).fit(X, np.arange(900) % 3)
    with pytest.raises(ValueError, match="3 classes"):
        three_classes.report(X, np.arange(900) % 3)


def test_invalid_arguments_raise_a_clear_error(forecast: tuple[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        sw.report(*forecast, threshold=1.5)
    with pytest.raises(ValueError, match="two names"):
        sw.report(*forecast, classes=["a"])
    with pytest.raises(ValueError, match="no threshold satisfies `precision > 2`"):
        sw.report(*forecast, subject_to="precision > 2")
    with pytest.raises(FileNotFoundError):
        sw.report(*forecast, replicates=2).save(tmp_path / "none" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_report_does_not_overwrite_files_of_another_kind(forecast: tuple[Any, Any], tmp_path: Path) -> None:
    report = sw.report(*forecast, replicates=2)
    notes = tmp_path / "notes.html"
    notes.write_text("three weeks of notes", encoding="utf-8")
    with pytest.raises(ValueError, match="already exists and is not a scorewise report"):
        report.save(notes)
    assert notes.read_text(encoding="utf-8") == "three weeks of notes"
    with pytest.raises(ValueError, match="cannot have this file extension"):
        report.save(tmp_path / "page.pdf")
    report.save(tmp_path / "page.html")
    report.save(tmp_path / "page.html")
