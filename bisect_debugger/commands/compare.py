"""`compare A B [C ...]`: the verdict in text, JSON or as a note; exit code 1 if diverged."""

import argparse
import sys

from bisect_debugger.commands.output import write
from bisect_debugger.diagnosis import Diagnosis, diagnose
from bisect_debugger.diagnosis.as_json import as_json
from bisect_debugger.errors import UsageError
from bisect_debugger.report import GroupGrid, render_diagnosis, render_grid, render_rows
from bisect_debugger.twins import Pair, open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="recorded runs, two or more")
    parser.add_argument("--json", metavar="F", help="write the diagnosis as JSON (- for stdout)")
    parser.add_argument("--note", metavar="F", help="write the markdown note (- for stdout)")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        metavar="X",
        help="largest relFro that still counts as the same run",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="trail, groups, rows too")


def run(arguments: argparse.Namespace) -> int:
    """Compare and report; returns the exit code of the diagnosis."""
    if len(arguments.runs) < 2:
        raise UsageError("One run cannot be compared; name at least two.")
    if arguments.json == "-" and arguments.note == "-":
        raise UsageError("JSON and note cannot both go to stdout; name a file for one of them.")
    diagnosis = diagnose(arguments.runs, arguments.tolerance)
    if arguments.json is not None:
        write(arguments.json, as_json(diagnosis) + "\n", force=arguments.force)
    if arguments.note is not None or arguments.verbose:
        with open_pair(diagnosis.runs[0].path, diagnosis.runs[1].path) as pair:
            if arguments.note is not None:
                from bisect_debugger.note import render_note

                write(arguments.note, render_note(diagnosis, pair), force=arguments.force)
            if arguments.verbose and "-" not in (arguments.json, arguments.note):
                print(_verbose(diagnosis, pair))
    if not arguments.verbose and "-" not in (arguments.json, arguments.note):
        print(render_diagnosis(diagnosis))
    elif "-" in (arguments.json, arguments.note):
        print(diagnosis.sentence, file=sys.stderr)
    return diagnosis.exit_code


def _verbose(diagnosis: Diagnosis, pair: Pair) -> str:
    parts = [render_diagnosis(diagnosis, trail=True), "", "Groups by step"]
    parts.append(render_grid(GroupGrid.around(pair, diagnosis)))
    row = pair.row_of_step(diagnosis.onset.step) if diagnosis.onset else None
    if row is not None:
        parts += ["", "Events of the onset", render_rows(pair, row)]
    return "\n".join(parts)


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("a tolerance is a number of at least 0")
    return value
