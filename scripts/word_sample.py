"""Draws a random sample of comments, names and messages from the source tree, to be judged by a reader who has not seen the repository.

    python3 scripts/word_sample.py SEED [COUNT]
    python3 scripts/word_sample.py --all PATH ...      every item of these files or folders, with its file and line

Each item is what a reader meets at once: a comment with the line of code below it; a name in its declaration, with its documentation and the type
or class that it belongs to; a message or help text as a whole string. The items of a sample are numbered and carry no path, because a sentence should
be clear when it is taken out of its file. The three kinds are drawn in proportion to how often they occur in all tracked Rust and Python sources.
"""

import ast
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |async )*(?:fn|struct|enum|trait|type|const|static|def|class) \w+")
CONTAINER = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:unsafe )?(?:impl|trait|struct|enum|mod|class)\b")
# Matches string literals of Rust; group 1 is the text. It also matches character literals, without group 1: '"' contains a quotation mark.
RUST_STRING = re.compile(r"""'(?:[^'\\]|\\.)'|"((?:[^"\\]|\\[\s\S])*)\"""")


# Comments, names or messages of a file, each as (line number, text).
Items = list[tuple[int, str]]


def comments(lines: list[str], marks: tuple[str, ...]) -> Items:
    """Return whole comment blocks, each with the line of code below it. A doc comment also has the first line of the type around it."""
    found: Items = []
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if text.startswith(marks) and not text.startswith("#!"):
            block.append(text)
        elif not (block and text.startswith(("#[", "@"))):
            if block and any(len(row.split()) > 3 for row in block):
                above = container(lines, number - 1) if block[0].startswith("///") and text else []
                found.append((number - len(block), "\n".join([*above, *block, text]).rstrip()))
            block = []
    return found


def docstrings(text: str) -> Items:
    """Return the docstrings of Python, each with the line of the declaration above it."""
    lines = text.splitlines()
    declarations = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    documented = [(node, ast.get_docstring(node)) for node in declarations if ast.get_docstring(node)]
    return [(node.lineno, f"{lines[node.lineno - 1].strip()}\n    {docstring}") for node, docstring in documented]


def container(lines: list[str], index: int) -> list[str]:
    """Return the line that opens the type, implementation or class around a declaration, if there is one."""
    indent = len(lines[index]) - len(lines[index].lstrip())
    for line in reversed(lines[:index]):
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth < indent:
            return [line.strip().rstrip("{").strip()] if CONTAINER.match(line) else []
    return []


def documentation(lines: list[str], index: int) -> list[str]:
    """Return the doc comment directly above a Rust declaration, or the first line of the docstring directly below a Python declaration."""
    above = index
    while above > 0 and lines[above - 1].strip().startswith(("///", "#[")):
        above -= 1
    rows = [line.strip() for line in lines[above:index] if line.strip().startswith("///")]
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return rows or ([below] if below.startswith('"""') else [])


def names(lines: list[str]) -> Items:
    """Return the declarations of functions, types and constants, each with its documentation and the first line of the type around it."""
    found: Items = []
    for index, line in enumerate(lines):
        if DECLARATION.match(line):
            rows = [*container(lines, index), *documentation(lines, index), line.strip().rstrip("{").strip()]
            found.append((index + 1, "\n".join(rows)))
    return found


def is_message(string: str) -> bool:
    """Return whether a string reads as a message: it has at least four words, and it is not a regular expression."""
    return len(re.findall(r"[A-Za-z]{2,}", string)) >= 4 and " " in string and "\n" not in string and "(?:" not in string


def rust_messages(text: str) -> Items:
    """Return the string literals in Rust source text that `is_message` accepts."""
    without_comments = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    found: Items = []
    for match in RUST_STRING.finditer(without_comments):
        string = re.sub(r"\\\n\s*", "", match[1] or "")
        if is_message(string):
            found.append((without_comments.count("\n", 0, match.start()) + 1, string))
    return found


def python_messages(text: str) -> Items:
    """Return the string literals in Python source text that `is_message` accepts, without docstrings."""
    tree = ast.parse(text)
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    found: Items = []
    for node in ast.walk(tree):
        if node in docstrings or node in parts or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        constant = node.value if isinstance(node, ast.Constant) else ast.unparse(node)[2:-1]
        if isinstance(constant, str) and is_message(constant):
            found.append((node.lineno, constant))
    return found


def items_of(path: str) -> list[tuple[str, int, str]]:
    """Return each comment, name and message of a file as (kind, line number, text)."""
    text = (ROOT / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    is_rust = path.endswith(".rs")
    kinds = {
        "comment": comments(lines, ("//",) if is_rust else ("#",)) + ([] if is_rust else docstrings(text)),
        "name": names(lines),
        "message": rust_messages(text) if is_rust else python_messages(text),
    }
    return [(kind, line, item) for kind, found in kinds.items() for line, item in found]


def main() -> None:
    """Print a random sample of comments, names and messages, or all of them in the given files."""
    arguments = sys.argv[1:]
    every = arguments[0] == "--all"
    folders = arguments[1:] if every else ["."]
    tracked = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    paths = [path for path in tracked if path.endswith((".rs", ".py"))]
    if every:
        for path in sorted(paths):
            for kind, line, item in sorted(items_of(path), key=lambda one: one[1]):
                print(f"--- {path}:{line} ({kind})\n{item}")
        return
    items = [(kind, item) for path in sorted(paths) for kind, _, item in items_of(path)]
    count = int(arguments[1]) if len(arguments) > 1 else 150
    for number, (kind, item) in enumerate(random.Random(int(arguments[0])).sample(items, count), start=1):
        print(f"--- {number} ({kind})\n{item}")


if __name__ == "__main__":
    main()
