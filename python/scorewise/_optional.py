"""What to say where a framework is not there."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str | None = None) -> Any:
    """The module, or an ImportError that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what = f'pip install "scorewise[{extra}]"' if extra else f"pip install {module}"
        raise ImportError(f"{module} is not installed; install it with: {what}") from error
