"""`note A B`: the markdown note for a pull request."""

import argparse
import sys
from pathlib import Path

from bisect_debugger.commands.named_runs import named_runs
from bisect_debugger.commands.output import check_target, in_columns, write
from bisect_debugger.commands.tree_option import add_tree_option, use_trees
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.errors import OneRunOnly
from bisect_debugger.history.entries import PATH, read
from bisect_debugger.note import render_note
from bisect_debugger.note.history import render_history
from bisect_debugger.twins import open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="recorded runs, two or more, or a folder of twin's"
    )
    parser.add_argument(
        "-o", "--output", default="-", metavar="F", help="file (default: -, which is stdout)"
    )
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
    runs = named_runs(arguments.runs)
    if len(runs) < 2:
        raise OneRunOnly
    check_target(arguments.output, force=arguments.force, inputs=runs)
    use_trees(arguments)
    history = read(Path(arguments.history)) if arguments.history is not None else None
    diagnosis = diagnose(runs)
    with open_pair(diagnosis.runs[0].path, diagnosis.runs[1].path) as pair:
        note = render_note(diagnosis, pair)
        if history is not None:
            note += f"\n{render_history(history)}\n"
        write(arguments.output, note, force=arguments.force)
    print(in_columns(diagnosis.sentence, sys.stderr), file=sys.stderr)
    return 0
