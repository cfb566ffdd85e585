"""Files that are never half-written, and never take the place of a file of another kind."""

from __future__ import annotations

import contextlib
import os
import secrets

from . import _scorewise


def write_safely(path: str | os.PathLike[str], content: bytes, kind: str) -> None:
    """Writes beside, then renames: an older file of the same kind is replaced at the end, in one step. A file of another kind stays."""
    target = os.path.abspath(os.fspath(path))
    _scorewise.check_output(target, kind)
    beside = f"{target}.{secrets.token_hex(4)}"
    try:
        with open(beside, "xb") as file:
            file.write(content)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
