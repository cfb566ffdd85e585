"""Makes the report pages of every command for test_pages.py, by running the command, and serves them to a browser."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import http.server
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("SCOREWISE", ROOT / "target" / "debug" / "scorewise")).resolve()
# A report contains the current time. This variable sets a fixed time, so that the same command writes the same bytes.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}

# Strings that would change a page or run scripts if they were not escaped in HTML.
HOSTILE = "<script>document.title='taken'</script>\"'><img src=x onerror=document.title='taken'>&amp;"
HOSTILE_FILE = "a\"'<script>document.title='taken'<&.csv"


def chromium_path() -> str | None:
    """Return the path of Chromium: the value of the environment variable SCOREWISE_BROWSER, which `./check` sets, or the installed program."""
    names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    return os.environ.get("SCOREWISE_BROWSER") or next(filter(None, map(shutil.which, names)), None)


def browser_flags() -> list[str]:
    """Return the command-line flags for Chromium, which must run without its sandbox if the user is root."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def run_command(folder: pathlib.Path, *arguments: object, standard_input: str | None = None) -> str:
    """Run `scorewise` in a folder, with `standard_input` on standard input, and return its output."""
    words = [COMMAND, *map(str, arguments)]
    process = subprocess.run(words, cwd=folder, env=ENVIRONMENT, input=standard_input, capture_output=True, text=True, encoding="utf-8", check=False)
    assert process.returncode == 0, f"{shlex.join(map(str, words))}\n{process.stderr}"
    return process.stdout


# The following functions format numbers as pages must show them. They implement the rules of crates/scorewise-report/src/number.rs a second time.


def format_number(value: float | None) -> str:
    """Format a number with at most six decimals, or in scientific notation if it is very small."""
    if value is None:
        return "undefined"
    if value != 0 and abs(value) < 0.00005:
        digits, power = f"{value:.3e}".split("e")
        return f"{digits}e{int(power)}"
    return strip_trailing_zeros(f"{value:.6f}")


def format_in_sentence(value: float | None) -> str:
    """Format a number with three decimals, as in the sentences of a page."""
    if value is None:
        return "undefined"
    return format_number(value) if value != 0 and abs(value) < 0.005 else strip_trailing_zeros(f"{value:.3f}")


def format_count(value: float) -> str:
    """Format a number of rows or a sum of weights: an integer with a narrow space between thousands, any other number with decimals."""
    return f"{value:,.0f}".replace(",", "\u202f") if value == int(value) else format_number(value)


def strip_trailing_zeros(text: str) -> str:
    """Remove zeros at the end of a decimal number, and the decimal point if no digit follows it."""
    whole, _, rest = text.partition(".")
    text = f"{whole}.{rest.rstrip('0')}".rstrip(".")
    return "0" if text == "-0" else text


@dataclasses.dataclass
class ReportPage:
    """An HTML report, and the JSON output of the command that wrote it."""

    name: str
    path: pathlib.Path
    # The JSON output of the command that wrote the page.
    result: Any
    # The options with which `score` and `tune` read the same rows as this page.
    rows: tuple[str, ...] = ()

    @property
    def folder(self) -> pathlib.Path:
        """The folder that contains the page."""
        return self.path.parent

    @functools.cached_property
    def html(self) -> str:
        """The content of the page."""
        return self.path.read_text(encoding="utf-8")

    def score(self, threshold: float | str, replicates: int = 1) -> Any:
        """Return the JSON output of the command `score` at a threshold; one bootstrap replicate is enough if the intervals are not used."""
        return json.loads(run_command(self.folder, "score", *self.rows, "--threshold", threshold, "--replicates", replicates, "--json"))

    def format_threshold(self, threshold: float, least: int = 3) -> str:
        """Format a threshold with `least` decimals, or with more if the rounded threshold would give another confusion matrix."""
        exact = self.score(threshold)["confusion"]
        texts = (strip_trailing_zeros(f"{threshold:.{digits}f}") for digits in range(least, 18))
        return next(text for text in texts if self.score(text)["confusion"] == exact)

    def tune(self, score: str, *more: str) -> Any:
        """Return the JSON output of the command `tune` for a score; `more` holds further arguments."""
        return json.loads(run_command(self.folder, "tune", *self.rows, "--score", score, *more, "--replicates", 1, "--json"))


def write_tables(folder: pathlib.Path) -> None:
    """Write forecasts of a rare event, with ties, weights and unusual names, and a table of three classes."""
    random = numpy.random.default_rng(20261115)
    n_rows = 3000
    truth = (random.random(n_rows) < 0.06).astype(int)
    signal = 1.4 * truth + random.normal(size=n_rows) - 2.2
    probability = 1 / (1 + numpy.exp(-signal))
    # Rounding every fifth forecast to two decimals gives ties, and thresholds that are equal to forecasts.
    probability[::5] = probability[::5].round(2)
    other = 1 / (1 + numpy.exp(-(0.8 * truth + random.normal(size=n_rows) - 2.2)))
    weight = random.gamma(2.0, 0.7, n_rows).round(3)
    weight[::50] = 0

    def write_csv(name: str, columns: dict[str, Any]) -> None:
        """Write columns to a CSV file in the folder."""
        lines = [",".join(columns)] + [",".join(map(str, row)) for row in zip(*columns.values())]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    write_csv("p.csv", {"truth": truth, "probability": probability})
    write_csv("b.csv", {"truth": truth, "probability": other})
    write_csv("weighted.csv", {"truth": truth, "probability": probability, "w": weight})
    write_csv("quiet.csv", {"truth": numpy.zeros(200, int), "probability": probability[:200]})
    write_csv("tiny.csv", {"truth": [0, 1, 0], "probability": [0.2, 0.9, 0.3]})
    write_csv(HOSTILE_FILE, {"truth": truth[:400], "probability": probability[:400]})
    inputs = random.normal(size=(600, 2))
    kind = numpy.where(inputs[:, 0] > 0.8, "storm", numpy.where(inputs[:, 1] > 0, "rain", "dry"))
    write_csv("kinds.csv", {"pressure": inputs[:, 0], "wind": inputs[:, 1], "kind": kind})
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    named = numpy.where(inputs[:, 0] + 0.5 * random.normal(size=600) > 0.9, quoted, "no")
    write_csv("named.csv", {"pressure": inputs[:, 0], "wind": inputs[:, 1], "kind": named})


# For each page: the arguments of the command that writes it, and the arguments with which `score` and `tune` read the rows that it describes.
CASES: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "train": (["train", "adult", "-o", "adult.scorewise"], ("test.csv", "--probability", "raw")),
    "score": (["score", "p.csv", "--threshold", "0.31"], ("p.csv",)),
    "tune": (["tune", "p.csv", "--score", "csi", "--subject-to", "precision >= 0.3"], ("p.csv",)),
    "cost": (["tune", "p.csv", "--score", "cost(fp=1, fn=10)"], ("p.csv",)),
    "weighted": (["score", "weighted.csv", "--weight", "w", "--threshold", "0.2"], ("weighted.csv", "--weight", "w")),
    "theory": (["theory", "p.csv", "--score", "f1", "--prior", "cosine:0.5,0.1"], ("p.csv",)),
    "compare": (["compare", "p.csv", "b.csv", "--score", "tss"], ()),
    "reproduce": (["reproduce", "adult", "--repeats", "1", "--priors", "uniform,cosine:0.5,0.1", "--cure", "off", "--out", "table-1"], ()),
    "lead": (["train", "pollution", "--epochs", "5", "--ensemble", "1", "-o", "pollution.scorewise"], ("lead.csv",)),
    "classes": (["train", "kinds.csv", "--target", "kind", "--epochs", "5", "-o", "kinds.scorewise"], ()),
    "explain": (["explain", "kinds.scorewise", "kinds.csv"], ()),
    "names": (["train", "named.csv", "--target", "kind", "--positive", HOSTILE, "--epochs", "20", "-o", "named.scorewise"], ()),
    "file": (["tune", HOSTILE_FILE], (HOSTILE_FILE,)),
    "files": (["compare", HOSTILE_FILE, HOSTILE_FILE, "--replicates", "100"], ()),
    "quiet": (["score", "quiet.csv"], ("quiet.csv",)),
    "tiny": (["tune", "tiny.csv"], ("tiny.csv",)),
    # The page `plain` is made by `scorewise report` from the output of `score --json`.
    "plain": ([], ()),
}
# The pages with a slider for the threshold.
PAGES_WITH_SLIDER = ["train", "score", "tune", "cost", "weighted", "theory", "lead", "names", "file", "quiet", "tiny"]


class PageFolder:
    """A folder of report pages. The command that writes a page is run when the page is first used."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Write the tables from which the pages are made."""
        self.folder = folder
        self.pages: dict[str, ReportPage] = {}
        write_tables(folder)

    def __getitem__(self, name: str) -> ReportPage:
        """Return the page with this name; make it first if it does not exist yet."""
        if name not in self.pages:
            self.pages[name] = self.make_page(name)
        return self.pages[name]

    def make_page(self, name: str) -> ReportPage:
        """Make a page by running the command in `CASES`."""
        words, rows = CASES[name]
        path = self.folder / f"{name}.html"
        if name == "explain":
            self["classes"]  # writes the model
        if name == "plain":
            output = run_command(self.folder, "score", "p.csv", "--json")
            run_command(self.folder, "report", "-", "-o", path.name, standard_input=output)
        else:
            output = run_command(self.folder, *words, "--report", path.name, "--json")
        result = json.loads(output)
        if name == "train":
            run_command(self.folder, "predict", "adult.scorewise", "adult-test", "-o", rows[0])
        if name == "lead":
            self.write_lead_forecasts(result["test"]["rows"])
        return ReportPage(name, path, result, rows)

    def write_lead_forecasts(self, n_rows: int) -> None:
        """Write the model's raw probability, the persistence forecast and the event one hour later for each test row of the pollution data."""
        predictions = csv.DictReader(run_command(self.folder, "predict", "pollution.scorewise", "pollution", "--with", "pm2.5").splitlines())
        rows = [(row.get("raw", row["probability"]), float(row["pm2.5"]) if row["pm2.5"] else None) for row in predictions]
        pairs = [(now, later[1]) for now, later in zip(rows, rows[1:]) if later[1] is not None][-n_rows:]
        lines = [f"{probability},{float(dust is not None and dust > 400)},{int(later > 400)}" for (probability, dust), later in pairs]
        (self.folder / "lead.csv").write_text("\n".join(["probability,persistence,truth", *lines]) + "\n", encoding="utf-8")

    def page_data(self, name: str) -> Any:
        """Run the command of a page with `--report NAME.json`, so that it writes the data of the page as JSON, and return the data."""
        words, _ = CASES[name]
        run_command(self.folder, *words, "--report", f"{name}.json")
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def serve_folder(folder: pathlib.Path) -> Iterator[str]:
    """Serve a folder over HTTP on the local machine and yield its address."""

    class QuietHandler(http.server.SimpleHTTPRequestHandler):
        """Serves files without printing a line for each request."""

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
