"""`open A B`: the terminal UI."""

import argparse
import sys

from bisect_debugger.errors import UsageError
from bisect_debugger.twins import open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("a", metavar="A", help="first run")
    parser.add_argument("b", metavar="B", help="second run")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII symbols")


def run(arguments: argparse.Namespace) -> int:
    """Open the UI; bad files are refused before the screen is touched."""
    with open_pair(arguments.a, arguments.b):
        pass
    # Textual draws on stderr, reads from stdin, and asks stdout for its size.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "The terminal UI needs a terminal; use `bisect-debugger compare -v` to print the same."
        )
    from bisect_debugger.tui import show

    show(arguments.a, arguments.b, ascii_only=arguments.ascii)
    return 0
