"""`note A B -o F`: the markdown note for a pull request."""

import argparse
import sys
from pathlib import Path

from bisect_debugger.commands.output import check_target, write
from bisect_debugger.commands.tree_option import add_tree_option, use_trees
from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.history.entries import PATH, read
from bisect_debugger.note import render_note
from bisect_debugger.note.history import render_history
from bisect_debugger.twins import open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("a", metavar="A", help="first run")
    parser.add_argument("b", metavar="B", help="second run")
    parser.add_argument("-o", "--output", required=True, metavar="F", help="file, or - for stdout")
    parser.add_argument(
        "--history",
        nargs="?",
        const=str(PATH),
        metavar="F",
        help=f"also the history of the investigation (default: {PATH})",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    add_tree_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the note; returns 0 whatever the verdict, because the note is what was asked for."""
    inputs = (arguments.a, arguments.b)
    check_target(arguments.output, force=arguments.force, inputs=inputs)
    use_trees(arguments)
    history = read(Path(arguments.history)) if arguments.history is not None else None
    with open_pair(*inputs) as pair:
        diagnosis = diagnose_pair(pair)
        note = render_note(diagnosis, pair)
        if history is not None:
            note += f"\n{render_history(history)}\n"
        write(arguments.output, note, force=arguments.force)
    print(diagnosis.sentence, file=sys.stderr)
    return 0
