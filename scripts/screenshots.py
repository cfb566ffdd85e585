"""Takes the pictures of a report that the documentation shows: in the light, in the dark, and on a phone.

Usage: python scripts/screenshots.py path/to/scorewise [FOLDER]

Trains on the built-in census data, tunes the predictions of its test rows, and looks at both pages in Chromium. Writes report-light.png and
report-phone.png (the training) and report-dark.png (the tuning) into FOLDER, by default docs. Needs playwright, and Chromium: the system's, or
the one that the variable SCOREWISE_BROWSER names. With the same command and browser the pictures are the same again.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A page of documentation is not to wait for its pictures.
MOST_BYTES = 400_000
# The picture, its page, the colours, and how wide and high it is.
PICTURES = [
    ("report-light.png", "train.html", "light", 1200, 1500),
    ("report-dark.png", "tune.html", "dark", 1200, 1500),
    ("report-phone.png", "train.html", "light", 390, 1400),
]


def make_pages(command: pathlib.Path, folder: pathlib.Path) -> None:
    """The pages, as a user would make them. The time on them is fixed, so that it does not change the pictures."""
    for words in (
        "train adult -o adult.scorewise --report train.html",
        "predict adult.scorewise adult-test -o predictions.csv",
        "tune predictions.csv --score csi --report tune.html",
    ):
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run([command, *words.split()], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def take_pictures(pages: pathlib.Path, folder: pathlib.Path) -> None:
    """The tops of the pages, one picture each."""
    program = os.environ.get("SCOREWISE_BROWSER") or shutil.which("chromium")
    if program is None:
        sys.exit("no Chromium: install it (Debian: apt-get install chromium), or name it in SCOREWISE_BROWSER")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root, and says so by not starting.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for name, page_name, scheme, width, height in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1)
            page.goto((pages / page_name).as_uri())
            page.screenshot(path=folder / name)
            page.close()
            size = (folder / name).stat().st_size
            print(f"{folder / name}: {width} × {height}, {size / 1000:.0f} kB")
            if size > MOST_BYTES:
                sys.exit(f"{name} has more than {MOST_BYTES} bytes: show less of the page")
        browser.close()


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs"
    with tempfile.TemporaryDirectory() as pages:
        make_pages(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(pages))
        take_pictures(pathlib.Path(pages), folder)


if __name__ == "__main__":
    main()
