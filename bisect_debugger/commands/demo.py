"""`demo`: the main job on the shipped sample, with a real trainer in real processes.

The trainer runs twice, as processes of its own; then its runs are compared like any others.
The sample diverges, which is its point: exit code 0 says that the demo showed both origins.
"""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from bisect_debugger.commands.output import say, write
from bisect_debugger.commands.terminal import is_ascii_only, opens_ui
from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.driver.outcome import TrainerFailed
from bisect_debugger.errors import UsageError, printable
from bisect_debugger.note import render_note
from bisect_debugger.report.text import render_diagnosis
from bisect_debugger.twins import open_pair

_PACKAGE = Path(__file__).resolve().parent.parent
_HOMES = (_PACKAGE / "_sample_runs", _PACKAGE.parent / "sample_runs")
_ORIGINS = {"agent.outcome_head", "agent.iqn_head.tau_sampler"}
"""The components in which the sample's two faults are."""

_LAST_LINES = 5
_LINE_CHARACTERS = 1_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--dir", default=".demo", metavar="D", help="folder for runs and note")
    parser.add_argument("--no-tui", action="store_true", help="do not open the terminal UI")


def run(arguments: argparse.Namespace) -> int:
    """Record twins of the sample, compare them, write the note, open the UI on a terminal.

    Returns:
        0 if both origins of the sample were found, else 1.
    """
    trainer = _trainer()
    folder = _fresh_folder(Path(arguments.dir))
    paths = [folder / "a.h5", folder / "b.h5"]
    for number, path in enumerate(paths, 1):
        _narrate(f"run {number} of 2: {trainer.name} --out {path}")
        _train(trainer, path)
    with open_pair(*paths) as pair:
        diagnosis = diagnose_pair(pair)
        note = folder / "note.md"
        write(str(note), render_note(diagnosis, pair))
    say(f"{render_diagnosis(diagnosis)}\n\nNote: {printable(str(note))}")
    if not arguments.no_tui and opens_ui(sys.stdin, sys.stdout, sys.stderr):
        from bisect_debugger.tui import show

        show(*paths, ascii_only=is_ascii_only(sys.stderr))
    else:
        opening = shlex.join(["bisect-debugger", "open", *map(str, paths)])
        _narrate(f"browse it with: {opening}")
    return _concluded(diagnosis)


def _concluded(diagnosis: Diagnosis) -> int:
    missed = _ORIGINS - {origin.component for origin in diagnosis.origins}
    if missed:
        _narrate(f"the sample should have shown an origin in {' and in '.join(sorted(missed))}")
        return 1
    _narrate("the runs diverged, as this sample should: the demo worked, exit code 0")
    return 0


def _narrate(text: str) -> None:
    print(f"demo: {printable(text, _LINE_CHARACTERS)}", file=sys.stderr, flush=True)


def _trainer() -> Path:
    for home in _HOMES:
        trainer = home / "two_origins" / "train.py"
        if trainer.is_file():
            return trainer
    raise UsageError("The sample trainer is not installed; install bisect-debugger again.")


def _fresh_folder(parent: Path) -> Path:
    """A numbered folder that did not exist: an earlier demo is never overwritten."""
    for number in range(1, 10_000):
        folder = parent / f"{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UsageError(
                f"{printable(str(parent))} cannot be used ({error.strerror}); name a folder that "
                "you can write to with --dir."
            ) from error
        return folder
    raise UsageError(f"{printable(str(parent))} is full of demos; remove some.")


def _train(trainer: Path, out: Path) -> None:
    # The trainer finds its probes where this command found its own package.
    paths = [str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(  # noqa: PLW1510 - the exit code is looked at below
        [sys.executable, str(trainer), "--out", str(out)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )
    if done.returncode:
        last = "\n".join(printable(line) for line in done.stdout.splitlines()[-_LAST_LINES:])
        raise TrainerFailed(f"The trainer ended with exit code {done.returncode}:\n{last}")
