"""Checks that the source tree agrees with its documentation.

1. The arrows of the picture in ARCHITECTURE.md are the dependencies between the crates (`cargo metadata`).
2. Every path in backquotes in ARCHITECTURE.md and CONTRIBUTING.md exists.
3. Every file that the documentation names has contents, and every name of code in backquotes (a function, type or constant) occurs in the sources.
4. No type name is declared twice in the crates, so that a name has one meaning.

Usage: python3 scripts/structure.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Every crate may have an `Error` and a `Result` of its own, as is usual in Rust.
USUAL_NAMES = {"Error", "Result"}


def crate_dependencies() -> set[tuple[str, str]]:
    """Return all pairs (a, b) of workspace crates in which b is a normal dependency of a, not only a dev- or build-dependency."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    names = {package["name"] for package in metadata["packages"]}
    return {
        (package["name"], dependency["name"])
        for package in metadata["packages"]
        for dependency in package["dependencies"]
        if dependency["name"] in names and dependency["kind"] is None
    }


def documented_dependencies() -> set[tuple[str, str]]:
    """Return the pairs of crates that the diagram in ARCHITECTURE.md connects by an arrow `a --> b`."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    picture = re.search(r"```mermaid\n(.*?)```", text, re.DOTALL)
    if picture is None:
        return set()
    return {(a, b) for a, b in re.findall(r"^\s*([\w-]+) --> ([\w-]+)$", picture.group(1), re.MULTILINE)}


def missing_paths() -> list[str]:
    """Return the paths that the documentation names but that do not exist or are empty."""
    missing = []
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        folder = ROOT
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            # A heading such as "## `crates/scorewise`" names the folder that contains the paths below it.
            heading = re.match(r"#+ .*`(crates/[\w-]+|python/scorewise)`", line)
            if line.startswith("#"):
                folder = ROOT / heading.group(1) if heading else ROOT
            for path in re.findall(r"`([\w./-]+(?:\.(?:rs|py|md|toml|sh|js|css)|/))`", line):
                candidates = [ROOT / path, folder / path, folder / "src" / path]
                if not any(candidate.is_dir() or candidate.is_file() and candidate.read_text().strip() for candidate in candidates):
                    missing.append(f"{name}:{number}: {path}")
    return missing


def unknown_names() -> list[str]:
    """Return the names of functions, types and variables that the documentation quotes but that occur in no source file."""
    command = ["git", "ls-files", "*.rs", "*.py", "*.js", "*.toml", "check"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join((ROOT / path).read_text() for path in files)))
    unknown = []
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            for quoted in re.findall(r"`([A-Za-z_]\w*(?:::\w+)*!?)`", line):
                unknown += [f"{name}:{number}: {quoted}" for part in quoted.rstrip("!").split("::") if part not in words]
    return unknown


def repeated_types() -> dict[str, list[str]]:
    """Return the type names that are declared more than once outside tests, with their files."""
    declared = defaultdict(list)
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        source = path.read_text().split("#[cfg(test)]\nmod tests")[0]
        for name in re.findall(r"^ *(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)", source, re.MULTILINE):
            declared[name].append(str(path.relative_to(ROOT)))
        for name in re.findall(r"^(?:pub(?:\([^)]*\))? )?type (\w+)", source, re.MULTILINE):
            declared[name].append(str(path.relative_to(ROOT)))
    return {name: files for name, files in sorted(declared.items()) if len(files) > 1 and name not in USUAL_NAMES}


def main() -> int:
    """Print all faults of the documentation and all repeated type names; return 1 if there are any, otherwise 0."""
    problems = []
    actual, documented = crate_dependencies(), documented_dependencies()
    problems += [f"ARCHITECTURE.md has no arrow {a} --> {b}" for a, b in sorted(actual - documented)]
    problems += [f"ARCHITECTURE.md has the arrow {a} --> {b}, but {a} does not depend on {b}" for a, b in sorted(documented - actual)]
    problems += [f"{path} does not exist or is empty" for path in missing_paths()]
    problems += [f"{name} occurs in no source file" for name in unknown_names()]
    problems += [f"the type name {name} is declared {len(files)} times: {', '.join(files)}" for name, files in repeated_types().items()]
    for problem in problems:
        print(problem)
    print(f"{len(actual)} dependencies between crates, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
