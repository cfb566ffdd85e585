"""Take the screenshots of reports for the documentation: in light mode, in dark mode and on a phone.

Usage: python scripts/screenshots.py path/to/scorewise [FOLDER]

Trains on the built-in census data, tunes the predictions for its test rows, and opens both reports in Chromium. Writes report-light.png and
report-phone.png (training) and report-dark.png (tuning) into FOLDER, by default docs. Needs playwright and Chromium, either that of the
system or the one in the environment variable SCOREWISE_BROWSER. The same command and browser give the same images.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Maximum size of a screenshot in bytes, so that the documentation loads fast.
MAX_BYTES = 400_000
# File name, page, colour scheme, and width and height in pixels of each screenshot.
SCREENSHOTS = [
    ("report-light.png", "train.html", "light", 1200, 1500),
    ("report-dark.png", "tune.html", "dark", 1200, 1500),
    ("report-phone.png", "train.html", "light", 390, 1400),
]


def make_pages(command: pathlib.Path, folder: pathlib.Path) -> None:
    """Write the report pages into a folder, with a fixed date and time, so that the screenshots are reproducible."""
    for words in (
        "train adult -o adult.scorewise --report train.html",
        "predict adult.scorewise adult-test -o predictions.csv",
        "tune predictions.csv --score csi --report tune.html",
    ):
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run([command, *words.split()], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def take_screenshots(pages: pathlib.Path, folder: pathlib.Path) -> None:
    """Take a screenshot of the top of each page."""
    program = os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium")
    if program is None:
        sys.exit("Chromium was not found: install it (Debian: apt-get install chromium), or set SCOREWISE_BROWSER to its path")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium refuses to start with a sandbox as root.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for name, page_name, scheme, width, height in SCREENSHOTS:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1)
            page.goto((pages / page_name).as_uri())
            page.screenshot(path=folder / name)
            page.close()
            size = (folder / name).stat().st_size
            print(f"{folder / name}: {width} × {height}, {size / 1000:.0f} kB")
            if size > MAX_BYTES:
                sys.exit(f"{name} has more than {MAX_BYTES} bytes: show less of the page")
        browser.close()


def main() -> None:
    """Write the report pages and take the screenshots."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs"
    with tempfile.TemporaryDirectory() as pages:
        make_pages(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(pages))
        take_screenshots(pathlib.Path(pages), folder)


if __name__ == "__main__":
    main()
