"""`twin -- CMD`: run a command several times and say where the runs diverge."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from bisect_debugger.commands.command_line import add_command, duration, positive
from bisect_debugger.commands.compare import tolerance
from bisect_debugger.commands.named_runs import named_runs
from bisect_debugger.commands.output import check_target, in_columns, say, write
from bisect_debugger.commands.terminal import is_ascii_only, opens_ui
from bisect_debugger.commands.tree_option import add_tree_option, use_trees
from bisect_debugger.diagnosis.as_json import as_json
from bisect_debugger.driver.narration import narrate, pass_on
from bisect_debugger.driver.plan import Plan, TwinResult
from bisect_debugger.driver.reporting import Watch
from bisect_debugger.driver.twins import run_twins
from bisect_debugger.errors import UsageError, printable
from bisect_debugger.note import render_note
from bisect_debugger.progress import Listener, Stop
from bisect_debugger.report.text import render_diagnosis
from bisect_debugger.twins import open_pair
from bisect_debugger.views.everything import render_everything

TAKES_A_COMMAND = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("--runs", type=int, default=2, metavar="N", help="number of runs (default: 2)")
    add("--control", metavar="CMD", help="a command with another seed, which has to diverge")
    add("--max-steps", type=positive, metavar="N", help="end every run after N optimizer steps")
    add(
        "--stop-after",
        type=positive,
        default=2,
        metavar="K",
        help="steps that a run goes on after the first difference (default: 2)",
    )
    add("--no-values", action="store_true", help="do not run again for values of what differs")
    add("--explain", action="store_true", help="prove the cause by changing one condition a run")
    add(
        "--budget",
        type=duration,
        default=600.0,
        metavar="T",
        help="time for experiments, e.g. 90s, 5m or 1h (default: 10m)",
    )
    add("--repro", metavar="DIR", help="new folder for a script that executes the culprit alone")
    add("--level", choices=("coarse", "digest"), default="digest", help="of the first pass")
    for name in ("include", "exclude"):
        add(f"--{name}", action="append", default=[], metavar="GLOB", help=f"buffers to {name}")
    add("--tolerance", type=tolerance, metavar="X", help="largest relFro that still counts as same")
    add("-o", "--out", metavar="DIR", help="new folder for the runs")
    add("--json", metavar="F", help="write the diagnosis as JSON (- for stdout)")
    add("--note", metavar="F", help="write the markdown note there (default: into the folder)")
    add("--force", action="store_true", help="replace files that exist")
    add("--no-tui", action="store_true", help="do not open the terminal UI")
    add("--ascii", action="store_true", help="plain ASCII symbols in the terminal UI")
    add("--light", action="store_true", help="colours of the terminal UI for a light terminal")
    add("-v", "--verbose", action="store_true", help="print all that the UI shows, as text")
    add_tree_option(parser)
    add_command(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the twins and report.

    Returns:
        The exit code of the diagnosis, or 1 where the control did not diverge.
    """
    _check_targets(arguments)
    use_trees(arguments)
    plan = _plan(arguments)
    if not arguments.no_tui and opens_ui(sys.stdin, sys.stdout, sys.stderr):
        result = _watched(plan, arguments)
    else:
        result = run_twins(plan)
        _write(result, arguments)
    _say(result, arguments)
    control = result.diagnosis.control
    if control is not None and not control.seed_changes_the_run:
        return max(result.diagnosis.exit_code, 1)
    return result.diagnosis.exit_code


def _watched(plan: Plan, arguments: argparse.Namespace) -> TwinResult:
    """Run the twins under the eyes of the live UI, and tell what stands on stderr without one.

    Raises:
        BaseException: whatever ended the driver, once the terminal is as it was.
    """
    from bisect_debugger.tui.live import Found, watch

    results: list[TwinResult] = []

    def drive(listener: Listener, stop: Stop) -> Found:
        result = run_twins(plan, Watch(listener, stop))
        # At once, so that nothing that happens to the UI can lose it.
        _write(result, arguments)
        results.append(result)
        return Found(result.diagnosis, result.files)

    left = watch(
        drive, ascii_only=arguments.ascii or is_ascii_only(sys.stderr), light=arguments.light
    )
    if left.error is not None and not isinstance(left.error, KeyboardInterrupt):
        pass_on(left.output)
    for line in left.narration:
        narrate(f"{in_columns(line, sys.stderr)}\n")
    if left.error is not None:
        raise left.error
    if not results:
        # A driver that hangs in the system was told to end, and is not waited for any longer.
        raise KeyboardInterrupt
    return results[0]


def _note_target(result: TwinResult, arguments: argparse.Namespace) -> str:
    return arguments.note or str(result.folder / "note.md")


def _write(result: TwinResult, arguments: argparse.Namespace) -> None:
    """Write note and JSON, where they go to files."""
    note = _note_target(result, arguments)
    if note != "-":
        write(note, _note(result), force=arguments.force)
    if arguments.json not in (None, "-"):
        write(arguments.json, as_json(result.diagnosis) + "\n", force=arguments.force)


def _note(result: TwinResult) -> str:
    with open_pair(*result.files) as pair:
        return render_note(result.diagnosis, pair)


def _say(result: TwinResult, arguments: argparse.Namespace) -> None:
    """Print the verdict, or what was asked for on stdout; say where everything is."""
    diagnosis, note = result.diagnosis, _note_target(result, arguments)
    if note == "-":
        say(_note(result), end="")
    if arguments.json == "-":
        say(as_json(diagnosis))
    if "-" in (arguments.json, note):
        narrate(f"{in_columns(diagnosis.sentence, sys.stderr)}\n")
    else:
        say(in_columns(render_diagnosis(diagnosis, trail=arguments.verbose), sys.stdout))
        if arguments.verbose:
            with open_pair(*result.files) as pair:
                say(render_everything(pair, diagnosis))
    opening = shlex.join(["bisect-debugger", "open", *_opened_by(result)])
    narrate(f"bisect-debugger: note: {printable(note)}\n")
    narrate(f"bisect-debugger: browse it with: {printable(opening, 1000)}\n")
    if diagnosis.origins and not arguments.explain:
        proving = shlex.join(["bisect-debugger", "twin", "--explain", "--", *arguments.command])
        narrate(f"bisect-debugger: prove the cause with: {printable(proving, 1000)}\n")


def _opened_by(result: TwinResult) -> list[str]:
    """What to call to see the two runs: their folder, which is short, where it stands for them."""
    files, folder = [*map(str, result.files)], str(result.folder)
    return [folder] if named_runs([folder]) == files else files


def _check_targets(arguments: argparse.Namespace) -> None:
    """Refuse what could not be written in the end, before hours of training.

    Raises:
        UsageError: it exists, cannot be written, or two results would go to one place.
    """
    targets = [target for target in (arguments.json, arguments.note) if target is not None]
    for target in targets:
        check_target(target, force=arguments.force)
    if arguments.repro and Path(arguments.repro).exists():
        raise UsageError(f"{printable(arguments.repro)} exists already; name a new folder.")
    wanted = [os.path.realpath(target) for target in targets if target != "-"]
    wanted += [os.path.realpath(arguments.out)] if arguments.out else []
    if len({*wanted}) < len(wanted) or targets == ["-", "-"]:
        raise UsageError("--json, --note and -o name the same place; name different ones.")


def _plan(arguments: argparse.Namespace) -> Plan:
    try:
        control = tuple(shlex.split(arguments.control or ""))
    except ValueError as error:
        raise UsageError(f"--control cannot be split into words ({error}).") from error
    if arguments.control is not None and not control:
        raise UsageError("--control is empty; name a command with another seed, or leave it out.")
    return Plan(
        command=tuple(arguments.command),
        runs=arguments.runs,
        control=control,
        folder=Path(arguments.out) if arguments.out else None,
        level=arguments.level,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        max_steps=arguments.max_steps,
        stop_after=arguments.stop_after,
        second_pass=not arguments.no_values,
        tolerance=arguments.tolerance,
        explain=arguments.explain,
        budget=arguments.budget,
        repro=Path(arguments.repro) if arguments.repro else None,
    )
