"""Recording one run of a command."""

import glob
import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bisect_debugger.driver.addresses import fixed_for
from bisect_debugger.driver.launch import check_command, run_command
from bisect_debugger.driver.outcome import Recorded, outcome_of
from bisect_debugger.driver.patience import Patience
from bisect_debugger.driver.reporting import RunReport
from bisect_debugger.driver.session import Session, Settings, session
from bisect_debugger.errors import UsageError, printable

_LONGEST_NAME = 220
"""Bytes: file systems allow 255, and until its first step a file has a process in its name."""


def record(
    command: Sequence[str],
    settings: Settings,
    *,
    report: RunReport | None = None,
    patience: Patience | None = None,
) -> Recorded:
    """Run a command and record the processes below it that train.

    Args:
        command: program and arguments.
        settings: what is recorded, and where it goes.
        report: tells about the run and takes its output; without it the command uses the streams
            of this process.
        patience: for how long it is waited; to its end by default.

    Raises:
        UsageError: it cannot be started or recorded.
        TrainerFailed: it ended with an error of its own.
        OutOfTime: it was ended because the time was over.
        Stuck: it was ended because it no longer closed any step.
        KeyboardInterrupt: it was interrupted.
    """
    check_command(command)
    asked = settings.out
    check_out(asked)
    settings = replace(settings, out=asked.absolute())
    began = time.monotonic()
    with session(settings) as running, fixed_for(settings.knobs):
        try:
            ended = run_command(
                command,
                running.environment(),
                report.output if report else None,
                lambda: _tick(running, report, patience),
                report.stop if report else None,
            )
        finally:
            _tick(running, report)
            _remove_parts(running)
        found = outcome_of(running, ended, shlex.join(command))
    # Named as they were asked for, and not by the path of a machine.
    files = tuple(asked.with_name(path.name) for path in found.files)
    return replace(found, files=files, seconds=time.monotonic() - began)


def check_out(out: Path) -> None:
    """Refuse a file that cannot be written, before the trainer runs.

    Raises:
        UsageError: it exists, or its folder is missing or cannot be written to.
    """
    shown = printable(str(out))
    if not out.name:
        raise UsageError(f"{shown} is a folder; name a file in it.")
    if len(os.fsencode(out.name)) > _LONGEST_NAME:
        raise UsageError(
            f"The name {shown} is too long: it needs room for a rank and a process, so "
            f"{_LONGEST_NAME} bytes at most."
        )
    try:
        out.absolute()
    except OSError as error:
        raise UsageError(
            f"{shown} cannot be written, because the current directory is gone; change to another."
        ) from error
    others = list(out.parent.glob(f"{glob.escape(out.stem)}.rank*{out.suffix}"))
    taken = next((path for path in (out, *others) if path.exists() or path.is_symlink()), None)
    if taken is not None:
        raise UsageError(
            f"{printable(str(taken))} exists already and a recording never overwrites one; name "
            "another file or remove it."
        )
    if not out.parent.is_dir():
        raise UsageError(f"{shown} cannot be written (no such directory); make it first.")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"{shown} cannot be written (permission denied); name a file in a folder that you can "
            "write to."
        )


def _tick(running: Session, report: RunReport | None, patience: Patience | None = None) -> None:
    news = running.news()
    if report is not None:
        report.take(news)
    if patience is not None:
        patience.hear(news)


def _remove_parts(running: Session) -> None:
    """Files of processes that were killed before their first step: there is nothing in them.

    Only what this command's processes made: another recording, or another program, may have files
    of such names beside.
    """
    for note in running.of_kind("makes"):
        Path(note["path"]).unlink(missing_ok=True)
