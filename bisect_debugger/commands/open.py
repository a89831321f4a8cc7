"""`open A B`: the terminal UI."""

import argparse
import sys
from itertools import combinations
from pathlib import Path

from bisect_debugger.errors import UsageError

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="recorded runs, two or more")
    parser.add_argument("--ascii", action="store_true", help="plain ASCII symbols")
    parser.add_argument("--light", action="store_true", help="colours for a light terminal")


def run(arguments: argparse.Namespace) -> int:
    """Open the UI; what is plainly no pair of runs is refused before the screen is touched."""
    _refuse(arguments.runs)
    # Textual draws on stderr, reads from stdin, and asks stdout for its size.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(
            "The terminal UI needs a terminal; use `bisect-debugger compare -v` to print the same."
        )
    from bisect_debugger.tui import show

    show(*arguments.runs, ascii_only=arguments.ascii, light=arguments.light)
    return 0


def _refuse(runs: list[str]) -> None:
    """Refuse what can be told without the libraries that read runs, which take their time.

    Raises:
        BisectError: the same as opening the runs would.
    """
    if len(runs) < 2:
        raise UsageError("One run cannot be compared; name at least two.")
    if all(map(_may_be_a_run, runs)) and not _same_file(runs):
        return
    from bisect_debugger.runs import open_run
    from bisect_debugger.twins import open_pair

    for path in runs:
        open_run(path).close()
    for a, b in combinations(runs, 2):
        if Path(a).samefile(b):
            open_pair(a, b).close()


def _may_be_a_run(path: str) -> bool:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(_HDF5_SIGNATURE)) == _HDF5_SIGNATURE
    except (OSError, ValueError):
        return False


def _same_file(runs: list[str]) -> bool:
    identities = []
    for path in runs:
        found = Path(path).stat()
        identities.append((found.st_dev, found.st_ino))
    return len(set(identities)) < len(identities)
