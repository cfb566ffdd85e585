"""Run all code blocks of Markdown files that are marked `python`; the blocks of a file share a namespace."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main(file: str) -> None:
    """Run the Python code blocks of a Markdown file."""
    text = Path(file).read_text()
    blocks = [(text[: match.start()].count("\n") + 2, match[1]) for match in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)]
    names: dict[str, object] = {"__name__": "__main__"}
    for line, block in blocks:
        # The block is padded with empty lines, so that tracebacks show the line numbers of the Markdown file.
        exec(compile("\n" * (line - 1) + block, file, "exec"), names)
    print(f"ran {len(blocks)} snippets from {Path(file).name}")
    if not blocks:
        sys.exit(f"{file} has no Python code blocks")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        main(file)
