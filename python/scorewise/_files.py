"""Atomic writing of output files; a file of another kind is never overwritten."""

from __future__ import annotations

import contextlib
import os
import secrets

from . import _scorewise


def write_safely(path: str | os.PathLike[str], content: bytes, kind: str) -> None:
    """Write a file atomically, through a temporary file in the same folder.

    An existing file of the same ``kind`` (model, page, results, svg or png) is replaced; a file of another kind is not changed, and a
    ValueError is raised.
    """
    target = os.path.abspath(os.fspath(path))
    _scorewise.check_output(target, kind)
    temporary = f"{target}.{secrets.token_hex(4)}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
