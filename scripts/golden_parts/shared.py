"""Helpers for all golden files: arithmetic that raises an exception for undefined values, records of provenance, and functions that write files."""

import csv
import datetime
import json
import sys
from importlib.metadata import version
from pathlib import Path

import mpmath
from mpmath import mp

GOLDEN_FOLDER = Path(__file__).resolve().parents[2] / "crates" / "scorewise" / "tests" / "golden"
TOLERANCE = 1e-12  # largest allowed relative difference between another tool and the formula
UNDEFINED = "undefined"

# The precision is set here, because the other modules import this one first, and some of them compute constants with 50 digits on import.
mp.dps = 50


class Undefined(Exception):
    """A division by zero, the logarithm of a number that is not positive, or the root of a negative number."""


def ratio(numerator, denominator):
    """Return the quotient; raises Undefined for a denominator of 0."""
    if denominator == 0:
        raise Undefined
    return numerator / denominator


def ln(x):
    """Return the natural logarithm; raises Undefined for a number that is not positive."""
    # mpmath.log would return −inf at 0 and a complex number below 0.
    if x <= 0:
        raise Undefined
    return mpmath.log(x)


def square_root(x):
    """Return the square root; raises Undefined for a negative number."""
    if x < 0:
        raise Undefined
    return mpmath.sqrt(x)


def value_or_undefined(formula, *arguments):
    """Return the value of a formula rounded to the nearest double, or the string `undefined`."""
    try:
        return float(formula(*arguments))
    except Undefined:
        return UNDEFINED


def agrees(value, exact):
    """Return whether the relative difference between a value and the exact value is at most TOLERANCE."""
    return abs(value - exact) <= TOLERANCE * abs(exact)


def format_value(value):
    """Return the number as the shortest string from which exactly the same double can be read (at most 17 digits); return a string unchanged."""
    return value if isinstance(value, str) else repr(float(value))


def provenance_record(what, tools):
    """Return a record of how a golden file was made: the command, the date, and the versions of Python and the tools.

    `what` is the name of the file on the command line, such as `scores`.
    """
    return {
        "what": what,
        "command": f"python scripts/golden.py {what}",
        "date": datetime.date.today().isoformat(),
        "python": sys.version.split()[0],
        "tools": {tool: version(tool) for tool in tools},
    }


def write_csv(name, provenance, notes, header, rows):
    """Write a golden file as CSV, with the provenance and the notes as comments above the header."""
    GOLDEN_FOLDER.mkdir(parents=True, exist_ok=True)
    with open(GOLDEN_FOLDER / name, "w", newline="", encoding="utf-8") as file:
        file.write(f"# Golden values, made by `{provenance['command']}` on {provenance['date']}, Python {provenance['python']}.\n")
        file.write("# Tools: " + ", ".join(f"{tool} {number}" for tool, number in provenance["tools"].items()) + ".\n")
        for note in notes:
            file.write(f"# {note}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"{name}: {len(rows)} rows", file=sys.stderr)


def write_json(name, document):
    """Write a golden file as JSON."""
    GOLDEN_FOLDER.mkdir(parents=True, exist_ok=True)
    with open(GOLDEN_FOLDER / name, "w", encoding="utf-8") as file:
        # One case per line, so that a changed case is one line of a diff.
        file.write("{\n")
        parts = []
        for key, value in document.items():
            if key == "cases":
                lines = ",\n".join("  " + json.dumps(case, allow_nan=False) for case in value)
                parts.append(f'"{key}": [\n{lines}\n]')
            else:
                parts.append(f'"{key}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}')
        file.write(",\n".join(parts))
        file.write("\n}\n")
    print(f"{name}: {len(document['cases'])} cases", file=sys.stderr)
