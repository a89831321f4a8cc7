"""`compare A B [C ...]`: the verdict in text, JSON or as a note; exit code 1 if diverged.

Also for checkpoints, by named tensor; see `checkpoint_pairs`.
"""

import argparse
import sys
from dataclasses import replace

from bisect_debugger.checkpoints.kinds import is_checkpoint
from bisect_debugger.commands.named_runs import named_runs
from bisect_debugger.commands.output import check_target, in_columns, say, write
from bisect_debugger.commands.tree_option import add_tree_option, use_trees
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.as_json import as_json
from bisect_debugger.errors import OneRunOnly, UsageError, printable
from bisect_debugger.report.exhaustive import ROWS_SHOWN, render_exhaustive
from bisect_debugger.report.text import render_diagnosis
from bisect_debugger.twins import open_pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="recorded runs or checkpoints, two or more, or a folder of twin's",
    )
    parser.add_argument("--json", metavar="F", help="write the diagnosis as JSON (- for stdout)")
    parser.add_argument("--note", metavar="F", help="write the markdown note (- for stdout)")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="X",
        help="largest relFro that still counts as the same run",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="compare every event and value to the end, not only what the verdict needs",
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="everything that the UI shows, as text"
    )
    add_tree_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare and report; returns the exit code of the diagnosis."""
    arguments.runs = named_runs(arguments.runs)
    targets = (arguments.json, arguments.note)
    _check(arguments.runs, targets, force=arguments.force)
    use_trees(arguments)
    if _asks_for_checkpoints(arguments.runs):
        from bisect_debugger.commands.checkpoint_pairs import run_checkpoints

        return run_checkpoints(arguments)
    diagnosis = diagnose(arguments.runs, arguments.tolerance)
    if arguments.everything:
        from bisect_debugger.twins.exhaustive import compare_all

        with open_pair(diagnosis.runs[0].path, diagnosis.runs[1].path) as pair:
            diagnosis = replace(diagnosis, exhaustive=compare_all(pair))
    if arguments.json is not None:
        write(arguments.json, as_json(diagnosis) + "\n", force=arguments.force)
    text = render_diagnosis(diagnosis, trail=arguments.verbose)
    if diagnosis.exhaustive is not None:
        most = len(diagnosis.exhaustive.components) if arguments.verbose else ROWS_SHOWN
        text += "\n\nEvery event\n" + render_exhaustive(diagnosis.exhaustive, most)
    if arguments.note is not None or arguments.verbose:
        with open_pair(diagnosis.runs[0].path, diagnosis.runs[1].path) as pair:
            if arguments.note is not None:
                from bisect_debugger.note import render_note

                write(arguments.note, render_note(diagnosis, pair), force=arguments.force)
            if arguments.verbose:
                from bisect_debugger.views.everything import render_everything

                text += "\n" + render_everything(pair, diagnosis)
    if "-" not in targets:
        say(in_columns(text, sys.stdout))
    else:
        # stdout holds the data that was asked for; what a person reads goes beside it.
        words = text if arguments.verbose else diagnosis.sentence
        print(in_columns(words, sys.stderr), file=sys.stderr)
    return diagnosis.exit_code


def _check(runs: list[str], targets: tuple[str | None, str | None], *, force: bool) -> None:
    """Refuse at once what could only fail after the work."""
    if len(runs) < 2:
        raise OneRunOnly
    if targets[0] is not None and targets[0] == targets[1]:
        raise UsageError("JSON and note cannot go to the same place; name two.")
    for target in targets:
        check_target(target, force=force, inputs=runs)


def _asks_for_checkpoints(paths: list[str]) -> bool:
    """Whether the files are checkpoints.

    Raises:
        UsageError: some are and some are not.
    """
    found = [path for path in paths if is_checkpoint(path)]
    if found and len(found) < len(paths):
        other = next(path for path in paths if path not in found)
        raise UsageError(
            f"{printable(found[0])} is a checkpoint and {printable(other)} is none; compare runs "
            "with runs and checkpoints with checkpoints."
        )
    return bool(found)


def tolerance(text: str) -> float:
    """A relFro that may be asked for.

    Raises:
        ArgumentTypeError: it is no finite number of at least 0.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return value
