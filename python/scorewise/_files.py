"""Files that are never half-written."""

from __future__ import annotations

import contextlib
import os
import secrets


def write_safely(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes beside, then renames: a file that is there already is replaced at the end, in one step."""
    target = os.path.abspath(os.fspath(path))
    beside = f"{target}.{secrets.token_hex(4)}"
    try:
        with open(beside, "xb") as file:
            file.write(content)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
