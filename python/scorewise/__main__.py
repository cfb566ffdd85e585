"""Entry point of the command ``scorewise`` that the wheel installs; it behaves like the binary built by cargo."""

from __future__ import annotations

import signal
import sys

from ._scorewise import command


def main() -> int:
    """Run the command with the arguments of this process and return its exit code."""
    # Python's handler of Ctrl-C is removed, because it would raise KeyboardInterrupt only after the command has returned. The command handles Ctrl-C
    # itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["scorewise", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
