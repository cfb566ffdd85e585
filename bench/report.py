"""The report of ten million predictions: how long it takes beyond the scores themselves, how large it is, how fast its threshold moves.

    python bench/report.py [ROWS]          needs the command built: cargo build --release, and Chromium for the last part

Ours is the whole page (sweep, best threshold of all scores, a thousand steps, seven figures); theirs are four figures of the same rows by
scikit-learn and matplotlib (ROC, precision and recall, calibration, histogram by class), saved as SVG. Ours with and without the page in
turn, medians of five rounds; theirs the shorter of two.
"""

from __future__ import annotations

import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

COMMAND = os.environ.get("SCOREWISE", str(Path(__file__).parent.parent / "target/release/scorewise"))
ROUNDS = 5
MOVES = 300


def predictions(rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    truth = random.random(rows) < 0.02
    logits = random.normal(-3 + 2.5 * truth, 1.2)
    return truth, (1 / (1 + np.exp(-logits))).astype(np.float32)


def write(folder: Path, truth: np.ndarray, probability: np.ndarray) -> Path:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"label": truth.astype(np.int8), "probability": probability})
    pyarrow.parquet.write_table(table, folder / "predictions.parquet")
    return folder / "predictions.parquet"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def their_figures(truth: np.ndarray, probability: np.ndarray) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from sklearn.calibration import CalibrationDisplay
    from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

    for draw in (
        lambda ax: RocCurveDisplay.from_predictions(truth, probability, ax=ax),
        lambda ax: PrecisionRecallDisplay.from_predictions(truth, probability, ax=ax),
        lambda ax: CalibrationDisplay.from_predictions(truth, probability, n_bins=10, ax=ax),
        lambda ax: [ax.hist(probability[truth == kind], bins=50, density=True, histtype="step") for kind in (False, True)],
    ):
        figure, ax = plt.subplots()
        draw(ax)
        figure.savefig(io.BytesIO(), format="svg")
        plt.close(figure)


def moves(page: Path) -> list[float]:
    """Milliseconds of script for each of many random moves of the threshold."""
    from playwright.sync_api import sync_playwright

    browser_path = os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        tab = browser.new_page()
        tab.goto(page.as_uri())
        found: list[float] = tab.evaluate(
            """(count) => {
                const slider = document.getElementById("threshold");
                const times = [];
                for (let move = 0; move < count; move += 1) {
                    slider.value = String(((move * 7919) % 1000) / 1000);
                    const start = performance.now();
                    slider.dispatchEvent(new Event("input"));
                    times.push(performance.now() - start);
                }
                return times;
            }""",
            MOVES,
        )
        browser.close()
    return found


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    truth, probability = predictions(rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, page = write(folder, truth, probability), folder / "page.html"
        asked = [COMMAND, "score", str(table), "--json", "--replicates", "100"]
        run = lambda more: subprocess.run(asked + more, check=True, capture_output=True)  # noqa: E731
        plain, shown, theirs = [], [], []
        for _ in range(ROUNDS):
            plain.append(seconds(lambda: run([])))
            shown.append(seconds(lambda: run(["--report", str(page)])))
        for _ in range(2):
            theirs.append(seconds(lambda: their_figures(truth, probability)))
        ours = statistics.median(shown) - statistics.median(plain)
        print(f"{rows} predictions")
        print(f"scores alone          {statistics.median(plain):.2f} s ({min(plain):.2f} to {max(plain):.2f})")
        print(f"scores and page       {statistics.median(shown):.2f} s ({min(shown):.2f} to {max(shown):.2f})")
        print(f"so the page, its sweep included, {ours:.2f} s (at most 3 s after the sweep), {page.stat().st_size} bytes (below 1500000)")
        print(f"scikit-learn and matplotlib, four figures {min(theirs):.2f} s: {min(theirs) / ours:.0f} ×")
        if os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium"):
            found = sorted(moves(page))
            print(
                f"a move of the threshold: {statistics.median(found):.2f} ms of script, "
                f"95 % below {found[len(found) * 95 // 100]:.2f} ms, at most {found[-1]:.2f} ms (at most 16 ms)"
            )


if __name__ == "__main__":
    main()
