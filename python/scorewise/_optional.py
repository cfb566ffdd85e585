"""Import of optional dependencies."""

from __future__ import annotations

import importlib
from typing import Any


def import_optional(module: str, extra: str | None = None) -> Any:
    """Import a module that is not a required dependency of scorewise.

    Parameters
    ----------
    module : str
        The name of the module.
    extra : str, optional
        The extra of the scorewise package that installs the module.

    Raises
    ------
    ImportError
        If the module is missing; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        command = f'pip install "scorewise[{extra}]"' if extra else f"pip install {module}"
        raise ImportError(f"{module} is not installed; install it with: {command}") from error
