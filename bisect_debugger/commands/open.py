"""`open A B`: the terminal UI."""

import argparse
import re
import sys
from itertools import combinations
from pathlib import Path

from bisect_debugger.commands.named_runs import named_runs
from bisect_debugger.commands.output import check_target, write
from bisect_debugger.commands.terminal import is_ascii_only, opens_ui
from bisect_debugger.commands.tree_option import add_tree_option, use_trees
from bisect_debugger.errors import OneRunOnly, UsageError, printable

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="recorded runs, two or more, or a folder of twin's"
    )
    parser.add_argument("--ascii", action="store_true", help="plain ASCII symbols")
    parser.add_argument("--light", action="store_true", help="colours for a light terminal")
    parser.add_argument(
        "--screenshot", metavar="F", help="paint one screen into F.svg or F.txt, without a terminal"
    )
    parser.add_argument("--screen", metavar="NAME", help="of the screenshot (default: verdict)")
    parser.add_argument(
        "--size", type=size, metavar="WxH", help="columns and lines of it (default: 80x24)"
    )
    parser.add_argument("--force", action="store_true", help="replace a screenshot that exists")
    add_tree_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Open the UI; what is plainly no pair of runs is refused before the screen is touched."""
    arguments.runs = named_runs(arguments.runs)
    _refuse(arguments.runs)
    use_trees(arguments)
    if arguments.screenshot is not None:
        return _screenshot(arguments)
    for option in ("screen", "size"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} is for a picture: add --screenshot F.svg.")
    if not opens_ui(sys.stdin, sys.stdout, sys.stderr):
        raise UsageError(
            "The terminal UI needs a terminal, and one that TERM does not call dumb; use "
            "`bisect-debugger compare -v` to print the same."
        )
    from bisect_debugger.tui import show

    show(
        *arguments.runs,
        ascii_only=arguments.ascii or is_ascii_only(sys.stderr),
        light=arguments.light,
    )
    return 0


def _screenshot(arguments: argparse.Namespace) -> int:
    target = arguments.screenshot
    suffix = Path(target).suffix
    if suffix not in (".svg", ".txt"):
        raise UsageError(
            f"{printable(target)} is neither .svg nor .txt; give the screenshot one of those names."
        )
    check_target(target, force=arguments.force, inputs=arguments.runs)
    from bisect_debugger.tui.screenshot import DEFAULT_SIZE, screenshot

    content = screenshot(
        tuple(arguments.runs),
        arguments.screen or "verdict",
        arguments.size or DEFAULT_SIZE,
        as_text=suffix == ".txt",
        ascii_only=arguments.ascii,
        light=arguments.light,
    )
    write(target, content, force=arguments.force)
    return 0


def size(text: str) -> tuple[int, int]:
    """Columns and lines, ``120x40``.

    Raises:
        ArgumentTypeError: it is no size, or one that no terminal has.
    """
    found = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text, re.ASCII)
    columns, lines = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (20 <= columns <= 500 and 5 <= lines <= 500):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size of a terminal; write columns x lines, e.g. 120x40, from 20x5 to "
            "500x500"
        )
    return columns, lines


def _refuse(runs: list[str]) -> None:
    """Refuse what can be told without the libraries that read runs, which take their time.

    Raises:
        BisectError: the same as opening the runs would.
    """
    if len(runs) < 2:
        raise OneRunOnly
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
