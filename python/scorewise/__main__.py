"""The command `scorewise`, carried by the wheel: the same as the one that cargo builds."""

from __future__ import annotations

import signal
import sys

from ._scorewise import command


def main() -> int:
    """Runs it with the arguments of this process and returns its exit code."""
    # Python would only note Ctrl-C and raise it when the command is over; the command has its own way to end well.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["scorewise", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
