"""Checks the dependencies of a workspace against its deny.toml where cargo-deny is not installed.

    python scripts/dependencies.py [FOLDER ...]        folders with Cargo.toml, Cargo.lock and deny.toml; the root and bridges/burn by default

Checked: licences of everything that is built, for all features and platforms; sources (crates.io only, with a checksum); packages that are
present in several versions; wildcard requirements. For bridges/burn, a workspace of its own, also: settings that its Cargo.toml repeats from the
Cargo.toml of the root have the same values there.
Not checked, because it needs a database from the network: security advisories and yanked versions (`cargo deny check advisories`).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def load_toml(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    return tomllib.loads(path.read_text())


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Return whether the allowed licences satisfy an SPDX licence expression, in which `/` is the old spelling of OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def parse_or() -> bool:
        """Parse expressions joined by OR; return whether at least one of them is satisfied."""
        satisfied = parse_and()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            satisfied = parse_and() or satisfied
        return satisfied

    def parse_and() -> bool:
        """Parse expressions joined by AND; return whether all of them are satisfied."""
        satisfied = parse_licence()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            satisfied = parse_licence() and satisfied
        return satisfied

    def parse_licence() -> bool:
        """Parse one licence or an expression in brackets; return whether it is satisfied."""
        token = tokens.pop(0)
        if token == "(":
            satisfied = parse_or()
            tokens.pop(0)
            return satisfied
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token = f"{token} WITH {tokens.pop(0)}"
        return token in allowed

    return bool(tokens) and parse_or() and not tokens


def built_packages(folder: Path) -> dict[tuple[str, str], str]:
    """Return the name and version of every package that is built for some feature or platform, with its licence expression.

    `cargo metadata` would also list optional packages that no feature enables.
    """
    command = ["cargo", "tree", "--workspace", "--all-features", "--target", "all", "--edges", "normal,build,dev"]
    command += ["--prefix", "none", "--format", "{p}|{l}", "--locked"]
    lines = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()
    packages = {}
    for line in filter(None, lines):
        package, licence = line.removesuffix(" (*)").rsplit("|", 1)
        name, version = package.split()[:2]
        packages[name, version.removeprefix("v")] = licence
    return packages


def licence_faults(packages: dict[tuple[str, str], str], settings: dict[str, Any]) -> list[str]:
    """Return an error for each package whose licence is not allowed, and for each exception in deny.toml whose package is not built."""
    exceptions = {entry["crate"]: set(entry["allow"]) for entry in settings.get("exceptions", [])}
    faults = []
    for (name, version), licence in sorted(packages.items()):
        if not is_allowed(licence, set(settings["allow"]) | exceptions.get(name, set())):
            faults.append(f"{name} {version}: licence `{licence}` is not allowed by deny.toml")
    built = {name for name, _ in packages}
    faults += [f"deny.toml: there is no package {name}; remove its exception" for name in exceptions if name not in built]
    return faults


def source_faults(lock: dict[str, Any]) -> list[str]:
    """Return an error for each external package in Cargo.lock that does not come from crates.io with a checksum."""
    faults = []
    for package in lock["package"]:
        # In Cargo.lock, packages of this repository have no source.
        if "source" in package and (package["source"] != CRATES_IO or "checksum" not in package):
            faults.append(f"{package['name']} {package['version']}: source `{package['source']}`, expected crates.io with a checksum")
    return faults


def duplicate_faults(packages: dict[tuple[str, str], str], settings: dict[str, Any]) -> list[str]:
    """Return an error for each package with more than one version that `skip` in deny.toml does not list, and for each unneeded entry of `skip`."""
    if settings["multiple-versions"] == "allow":
        return []
    known = {entry["crate"] for entry in settings.get("skip", [])}
    versions = defaultdict(list)
    for name, version in sorted(packages):
        versions[name].append(version)
    several = {f"{name}@{version}" for name, found in versions.items() if len(found) > 1 for version in found}
    faults = []
    for name, found in versions.items():
        unlisted = [version for version in found if f"{name}@{version}" not in known]
        if len(unlisted) > 1:
            faults.append(f"{name}: versions {', '.join(found)}; list all versions but one under `skip` in deny.toml, with the reason")
    faults += [f"deny.toml: {entry} is not one of several versions of a package; remove it from `skip`" for entry in sorted(known - several)]
    return faults


def wildcard_faults(folder: Path) -> list[str]:
    """Return an error for each dependency without a version, or with `*` in its version.

    Dependencies given by a path need a version too, because the crate could not be published without it.
    """
    faults = []
    for manifest in [folder / "Cargo.toml", *sorted(folder.glob("crates/*/Cargo.toml"))]:
        content = load_toml(manifest)
        tables = [content, content.get("workspace", {}), *content.get("target", {}).values()]
        for table in tables:
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, requirement in table.get(kind, {}).items():
                    if isinstance(requirement, str):
                        requirement = {"version": requirement}
                    if not requirement.get("workspace") and "*" in requirement.get("version", "*"):
                        faults.append(f"{manifest.relative_to(ROOT)}: {name} needs a version")
    return faults


def repetition_faults(folder: Path) -> list[str]:
    """Return an error for each setting that the Cargo.toml in `folder` repeats from the Cargo.toml of the root, but with a different value."""
    workspace, bridge = load_toml(ROOT / "Cargo.toml")["workspace"], load_toml(folder / "Cargo.toml")
    pairs = [(f"package.{key}", bridge["package"].get(key), workspace["package"][key]) for key in ("version", "edition", "license", "authors")]
    pairs.append(("lints", bridge["lints"], workspace["lints"]))
    for kind in ("dependencies", "dev-dependencies"):
        for name, requirement in bridge[kind].items():
            version = lambda entry: entry if isinstance(entry, str) else entry["version"]  # noqa: E731
            if name in workspace["dependencies"]:
                pairs.append((f"{kind}.{name}", version(requirement), version(workspace["dependencies"][name])))
    file = (folder / "Cargo.toml").relative_to(ROOT)
    return [f"{file}: {key} is {got!r}, but {expected!r} in the Cargo.toml of the root" for key, got, expected in pairs if got != expected]


def main() -> None:
    """Check the workspaces named on the command line, or both workspaces of this repository, and print the faults."""
    folders = [Path(folder).resolve() for folder in sys.argv[1:]] or [ROOT, ROOT / "bridges" / "burn"]
    faults = []
    for folder in folders:
        settings, lock, packages = load_toml(folder / "deny.toml"), load_toml(folder / "Cargo.lock"), built_packages(folder)
        found = licence_faults(packages, settings["licenses"])
        found += source_faults(lock)
        found += duplicate_faults(packages, settings["bans"])
        found += wildcard_faults(folder)
        if folder != ROOT:
            found += repetition_faults(folder)
        name = folder.relative_to(ROOT)
        print(f"{name}: {len(packages)} packages built, {len(lock['package'])} locked, faults: {len(found)}")
        faults += found
    print("not checked here: security advisories and yanked versions (cargo deny check advisories)")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
