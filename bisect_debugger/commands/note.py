"""`note A B -o F`: the markdown note for a pull request."""

import argparse
import sys

from bisect_debugger.commands.output import check_target, write
from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.note import render_note
from bisect_debugger.twins import open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("a", metavar="A", help="first run")
    parser.add_argument("b", metavar="B", help="second run")
    parser.add_argument("-o", "--output", required=True, metavar="F", help="file, or - for stdout")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def run(arguments: argparse.Namespace) -> int:
    """Write the note; returns 0 whatever the verdict, because the note is what was asked for."""
    inputs = (arguments.a, arguments.b)
    check_target(arguments.output, force=arguments.force, inputs=inputs)
    with open_pair(*inputs) as pair:
        diagnosis = diagnose_pair(pair)
        write(arguments.output, render_note(diagnosis, pair), force=arguments.force)
    print(diagnosis.sentence, file=sys.stderr)
    return 0
