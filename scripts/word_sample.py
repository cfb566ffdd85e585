"""Draws a random sample of comments, names and messages from the source tree, to be judged by a reader who has not seen the repository.

    python3 scripts/word_sample.py SEED [COUNT]

Each item is what a reader meets at once: a comment with the line of code below it, a name in its declaration, a message or help text as a whole
string. Items are numbered and carry no path, because a sentence should be clear when it is taken out of its file. The three kinds are drawn in
proportion to how often they occur in all tracked Rust and Python sources.
"""

import ast
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |async )*(?:fn|struct|enum|trait|type|const|static|def|class) \w+")
RUST_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def comments(lines: list[str], marks: tuple[str, ...]) -> list[str]:
    """Return whole comment blocks, each with the line of code that follows it."""
    found, block = [], []
    for line in [*lines, ""]:
        text = line.strip()
        if text.startswith(marks) and not text.startswith("#!"):
            block.append(text)
        elif not (block and text.startswith(("#[", "@"))):
            if block and any(len(row.split()) > 3 for row in block):
                found.append("\n".join([*block, text]).rstrip())
            block = []
    return found


def docstrings(text: str) -> list[str]:
    """Return the docstrings of Python, each with the line of the declaration above it."""
    lines = text.splitlines()
    declarations = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    documented = [(node, ast.get_docstring(node)) for node in declarations if ast.get_docstring(node)]
    return [f"{lines[node.lineno - 1].strip()}\n    {docstring}" for node, docstring in documented]


def names(lines: list[str]) -> list[str]:
    """Return the lines that declare a function, type or constant."""
    return [line.strip().rstrip("{").strip() for line in lines if DECLARATION.match(line)]


def messages(text: str) -> list[str]:
    """Return the strings that read as a message: those with at least four words."""
    without_comments = re.sub(r"^\s*(//|#).*$", "", text, flags=re.M)
    strings = [re.sub(r"\\\n\s*", "", match[1]) for match in RUST_STRING.finditer(without_comments)]
    return [text for text in strings if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4 and " " in text and "\n" not in text]


def main() -> None:
    seed = int(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    paths = subprocess.run(["git", "ls-files", "*.rs", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    items = []
    for path in sorted(paths):
        text = (ROOT / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        is_rust = path.endswith(".rs")
        items += [("comment", item) for item in comments(lines, ("//",) if is_rust else ("#",))]
        items += [] if is_rust else [("comment", item) for item in docstrings(text)]
        items += [("name", item) for item in names(lines)]
        items += [("message", item) for item in messages(text)]
    for number, (kind, item) in enumerate(random.Random(seed).sample(items, count), start=1):
        print(f"--- {number} ({kind})\n{item}")


if __name__ == "__main__":
    main()
