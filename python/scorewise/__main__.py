"""Entry point of the command ``scorewise`` that the wheel installs; it behaves like the binary built by cargo."""

from __future__ import annotations

import signal
import sys

from ._scorewise import command


def main() -> int:
    """Run the command with the arguments of this process and return its exit code."""
    # The command handles Ctrl-C itself; Python's handler would raise KeyboardInterrupt only after the command has returned.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["scorewise", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
