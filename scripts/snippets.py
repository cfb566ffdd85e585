"""Runs the Python of a Markdown file: every block that is marked `python`, in order, in one namespace. What prose shows must work."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main(file: str) -> None:
    text = Path(file).read_text()
    blocks = [(text[: found.start()].count("\n") + 2, found[1]) for found in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)]
    names: dict[str, object] = {"__name__": "__main__"}
    for line, block in blocks:
        # Lines before it are left blank, so that a fault names the line of the file.
        exec(compile("\n" * (line - 1) + block, file, "exec"), names)
    print(f"{len(blocks)} snippets of {Path(file).name} run")
    if not blocks:
        sys.exit(f"{file} has no Python to run")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        main(file)
