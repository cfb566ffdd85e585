"""Measure the report of ten million predictions: its time in addition to the scores, its size, and the speed of moving the threshold.

    python bench/report.py [ROWS]          requires the command (cargo build --release), and Chromium for the last measurement

For scorewise, the whole page is timed: sweep, best threshold of all scores, a thousand thresholds, seven figures. For comparison, scikit-learn
and matplotlib make four figures of the same rows (ROC, precision-recall, calibration, histogram by class), saved as SVG. Runs with and without
the page alternate. Printed are medians of five rounds; for scikit-learn, the shorter of two runs.
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


def random_predictions(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, of which about 2 % are positive, and predicted probabilities."""
    random = np.random.default_rng(0)
    labels = random.random(rows) < 0.02
    logits = random.normal(-3 + 2.5 * labels, 1.2)
    return labels, (1 / (1 + np.exp(-logits))).astype(np.float32)


def write_parquet(folder: Path, labels: np.ndarray, probability: np.ndarray) -> Path:
    """Write labels and predicted probabilities to predictions.parquet in the folder; return the path of the file."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"label": labels.astype(np.int8), "probability": probability})
    pyarrow.parquet.write_table(table, folder / "predictions.parquet")
    return folder / "predictions.parquet"


def measure_seconds(work: Callable[[], object]) -> float:
    """Call `work` and return the elapsed seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sklearn_figures(labels: np.ndarray, probability: np.ndarray) -> None:
    """Make four figures with scikit-learn and matplotlib: ROC curve, precision-recall curve, calibration curve and histogram."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from sklearn.calibration import CalibrationDisplay
    from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

    for draw in (
        lambda ax: RocCurveDisplay.from_predictions(labels, probability, ax=ax),
        lambda ax: PrecisionRecallDisplay.from_predictions(labels, probability, ax=ax),
        lambda ax: CalibrationDisplay.from_predictions(labels, probability, n_bins=10, ax=ax),
        lambda ax: [ax.hist(probability[labels == kind], bins=50, density=True, histtype="step") for kind in (False, True)],
    ):
        figure, ax = plt.subplots()
        draw(ax)
        figure.savefig(io.BytesIO(), format="svg")
        plt.close(figure)


def time_threshold_moves(page: Path) -> tuple[list[float], list[float]]:
    """Move the threshold of a report page many times; return the milliseconds of each move for the script alone, and for script and layout."""
    from playwright.sync_api import sync_playwright

    browser_path = os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        tab = browser.new_page()
        tab.goto(page.as_uri())
        times: list[tuple[float, float]] = tab.evaluate(
            """(count) => {
                const thresholdSlider = document.getElementById("threshold");
                const millisecondsOfMoves = [];
                for (let move = 0; move < count; move += 1) {
                    thresholdSlider.value = String(((move * 7919) % 1000) / 1000);
                    const startOfMove = performance.now();
                    thresholdSlider.dispatchEvent(new Event("input"));
                    const endOfScript = performance.now();
                    document.body.getBoundingClientRect();
                    millisecondsOfMoves.push([endOfScript - startOfMove, performance.now() - startOfMove]);
                }
                return millisecondsOfMoves;
            }""",
            MOVES,
        )
        browser.close()
    script, with_layout = zip(*times, strict=True)
    return sorted(script), sorted(with_layout)


def main() -> None:
    """Print the times for a report of many predictions, and for four figures made with scikit-learn and matplotlib."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    labels, probability = random_predictions(rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, page = write_parquet(folder, labels, probability), folder / "page.html"
        command = [COMMAND, "score", str(table), "--json", "--replicates", "100"]
        run = lambda options: subprocess.run(command + options, check=True, capture_output=True)  # noqa: E731
        scores_only, with_page, sklearn = [], [], []
        for _ in range(ROUNDS):
            scores_only.append(measure_seconds(lambda: run([])))
            with_page.append(measure_seconds(lambda: run(["--report", str(page)])))
        for _ in range(2):
            sklearn.append(measure_seconds(lambda: sklearn_figures(labels, probability)))
        page_seconds = statistics.median(with_page) - statistics.median(scores_only)
        print(f"{rows} predictions")
        print(f"scores alone          {statistics.median(scores_only):.2f} s ({min(scores_only):.2f} to {max(scores_only):.2f})")
        print(f"scores and page       {statistics.median(with_page):.2f} s ({min(with_page):.2f} to {max(with_page):.2f})")
        print(f"additional time for the page and its sweep: {page_seconds:.2f} s (target for the page without the sweep: 3 s)")
        print(f"size of the page: {page.stat().st_size} bytes (target: below 1500000)")
        print(f"four figures with scikit-learn and matplotlib: {min(sklearn):.2f} s, {min(sklearn) / page_seconds:.0f} times as long as the page")
        if os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium"):
            for name, times in zip(("script", "script and layout"), time_threshold_moves(page), strict=True):
                print(
                    f"moving the threshold, {name}: median {statistics.median(times):.2f} ms, "
                    f"95 % below {times[len(times) * 95 // 100]:.2f} ms, at most {times[-1]:.2f} ms (target: 16 ms)"
                )


if __name__ == "__main__":
    main()
