"""What came of a recorded command: its run files, or one sentence that says why there are none."""

from dataclasses import dataclass
from pathlib import Path

from bisect_debugger.driver.launch import Ended
from bisect_debugger.driver.session import Session
from bisect_debugger.errors import BisectError, UsageError, printable

_SHOWN_LINES = 12


class TrainerFailed(BisectError):
    """The trainer itself ended with an error."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run that was recorded.

    Attributes:
        files: one for each process that trained, in the order of their names.
        onset: first step that differed from the run it was compared with, or None.
        stopped: why the process was ended early, or empty.
        last_step: the last step that was closed.
        names: what tells the processes apart, and the suffix of each one's file.
        isolated_by: the Python that took the culprit down, or empty.
        not_isolated: why it was not taken down, where that was asked for.
        seconds: that the command took.
    """

    files: tuple[Path, ...]
    onset: int | None
    stopped: str
    last_step: int
    names: tuple[tuple[str, str], ...] = ()
    isolated_by: str = ""
    not_isolated: str = ""
    seconds: float = 0.0


def outcome_of(session: Session, ended: Ended, command: str) -> Recorded:
    """Judge a run.

    Args:
        session: of the command, all its notes read.
        ended: how the command ended.
        command: the command, to be shown.

    Raises:
        TrainerFailed: it ended with an error of its own.
        UsageError: nothing was recorded; the message says why and what to do.
    """
    stops = session.of_kind("stopped")
    files = tuple(sorted({Path(note["path"]) for note in session.of_kind("named")}))
    # Where one of several processes was ended, the others fail for want of it.
    if ended.code and not stops:
        raise TrainerFailed(_failure(ended, files))
    if not files:
        raise UsageError(_why_nothing(session, command))
    onsets = [int(note["step"]) for note in session.of_kind("onset")]
    steps = [int(note["step"]) for kind in ("ended", "stopped") for note in session.of_kind(kind)]
    return Recorded(
        files,
        min(onsets, default=None),
        str(stops[0]["reason"]) if stops else "",
        max(steps, default=-1),
        tuple((str(note["process"]), str(note["suffix"])) for note in session.of_kind("named")),
        _last(session, "isolated", "python"),
        _last(session, "not-isolated", "reason"),
    )


def _last(session: Session, kind: str, fact: str) -> str:
    notes = session.of_kind(kind)
    return str(notes[-1][fact]) if notes else ""


def _failure(ended: Ended, files: tuple[Path, ...]) -> str:
    sentence = f"The trainer ended with {ended.words}"
    if files:
        kept = ", ".join(printable(str(path)) for path in files)
        sentence += f"; what it did before is in {kept}"
    lines = ended.last_lines[-_SHOWN_LINES:]
    if not lines:
        return f"{sentence}; its own output above says why."
    return "\n".join([f"{sentence}. Its last lines:", *(f"  {line}" for line in lines)])


def _why_nothing(session: Session, command: str) -> str:
    shown = printable(command)
    missing = session.of_kind("missing")
    if missing:
        module, python = printable(missing[0]["module"]), printable(missing[0]["python"])
        return (
            f"Nothing was recorded: {python} has no module {module}, and the one of this "
            f"environment does not fit its version of Python; install it there: {python} -m pip "
            "install h5py xxhash numpy."
        )
    failed = session.of_kind("failed")
    if failed:
        return (
            f"Nothing was recorded ({printable(failed[0]['reason'])}); the training itself was not "
            "touched."
        )
    if not session.of_kind("python"):
        return (
            f"Nothing was recorded: {shown} started no Python that loads the recorder. The command "
            "must end in a Python process, and not with the options -I, -E or -S."
        )
    if not session.of_kind("torch"):
        return f"Nothing was recorded: {shown} never imported torch; name the command that trains."
    taken = max((int(note["taken"]) for note in session.of_kind("no-steps")), default=0)
    if taken > 0:
        return (
            f"Nothing was recorded: {shown} took {taken} steps, and none of them is in the window "
            "that was asked for with --steps."
        )
    return (
        f"Nothing was recorded: no optimizer of {shown} took a step. Only torch.optim optimizers "
        "close a step; does the command train?"
    )
