"""`check-probe`: the trainer runs bare and recorded, and must end with the same bits.

A witness tells the final parameters and optimizer state of both; in a bare run it is all there is.
A trainer that differs between two bare runs proves nothing, and that is said.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bisect_debugger.driver.launch import check_command, run_command
from bisect_debugger.driver.narrator import Narrator
from bisect_debugger.driver.outcome import TrainerFailed, outcome_of
from bisect_debugger.driver.reporting import RunReport, Watch
from bisect_debugger.driver.session import Settings, session, temporary_folder
from bisect_debugger.errors import UsageError, printable
from bisect_debugger.progress import Phase

Tensors = dict[int, list[tuple[str, str, str]]]
"""Final tensors by rank, as (name, layout, digest)."""


class Neutrality(StrEnum):
    """What can be said about the probe."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """What `check-probe` found.

    Attributes:
        result: whether the probe changed something.
        sentence: the result in words, with the first difference where there is one.
        tensors: final tensors that were compared.
    """

    result: Neutrality
    sentence: str
    tensors: int

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 inconclusive."""
        return {Neutrality.UNCHANGED: 0, Neutrality.CHANGED: 1, Neutrality.INCONCLUSIVE: 3}[
            self.result
        ]


def check_probe(command: Sequence[str], repeats: int, level: str = "digest") -> ProbeCheck:
    """Run bare and recorded, and compare.

    Args:
        command: the command that trains.
        repeats: how many runs of each kind, at least two: one alone does not tell whether the
            trainer repeats itself.
        level: level of the recorded runs.

    Raises:
        UsageError: it cannot be started, or it does not train.
        TrainerFailed: a run ended with an error.
    """
    check_command(command)
    if repeats < 2:
        raise UsageError(
            "One run of each kind does not tell whether the trainer repeats itself; ask for two or "
            "more."
        )
    with temporary_folder() as folder:
        bare_run = Settings(folder / "none.h5", mode="witness")
        bare = [
            _final(command, bare_run, f"bare run {number + 1} of {repeats}")
            for number in range(repeats)
        ]
        probed = []
        for number in range(repeats):
            settings = Settings(folder / f"run{number}.h5", level=level, witness=True)
            probed.append(_final(command, settings, f"recorded run {number + 1} of {repeats}"))
    return judge(bare, probed)


def _differs_among(runs: Sequence[Tensors]) -> str:
    """The first tensor in which one of several like runs differs from the first, or empty."""
    found = (first_difference(runs[0], other) for other in runs[1:])
    return next(filter(None, found), "")


def judge(bare: Sequence[Tensors], probed: Sequence[Tensors]) -> ProbeCheck:
    """Compare the final tensors of bare and recorded runs.

    Args:
        bare: at least one bare run.
        probed: at least one recorded run.
    """
    count = sum(len(tensors) for tensors in bare[0].values())
    if name := _differs_among(bare):
        return ProbeCheck(
            Neutrality.INCONCLUSIVE,
            f"Inconclusive: two bare runs differ among themselves, first in {name}, so nothing can "
            "be said about the probe. Find out why with bisect-debugger twin.",
            count,
        )
    if name := _differs_among(probed):
        return ProbeCheck(
            Neutrality.INCONCLUSIVE,
            f"Inconclusive: two recorded runs differ among themselves, first in {name}, while the "
            "bare runs agree: a race that shows now and then. Ask for more runs with --repeats.",
            count,
        )
    # All of each kind agree.
    if name := first_difference(bare[0], probed[0]):
        return ProbeCheck(
            Neutrality.CHANGED,
            f"The probe changed the run: {name} is the first of {count} final tensors that "
            "differs. Please report it.",
            count,
        )
    runs = f"{len(bare)} bare and {len(probed)} recorded runs"
    return ProbeCheck(
        Neutrality.UNCHANGED,
        f"The probe changed nothing: {count} final tensors (parameters and optimizer state) are "
        f"bit-equal in {runs}.",
        count,
    )


def first_difference(one: Tensors, other: Tensors) -> str:
    """Name of the first tensor that differs, or empty."""
    for rank in sorted({*one, *other}):
        left, right = one.get(rank, []), other.get(rank, [])
        where = f" of rank {rank}" if len(one) > 1 else ""
        for mine, yours in zip(left, right, strict=False):
            if mine != yours:
                return f"{printable(mine[0])} ({printable(mine[1])}){where}"
        if len(left) != len(right):
            return f"the number of tensors ({len(left)} against {len(right)}){where}"
    return ""


def _final(command: Sequence[str], settings: Settings, title: str) -> Tensors:
    progress = RunReport(Watch(Narrator()), title, Phase.RECORDED)
    shown = shlex.join(command)
    with session(settings) as running:
        try:
            ended = run_command(
                command,
                running.environment(),
                progress.output,
                lambda: progress.take(running.news()),
            )
        except BaseException:
            progress.end("interrupted")
            raise
        progress.end(ended.words)
        if settings.mode == "record":
            outcome_of(running, ended, shown)
        elif ended.code:
            lines = "\n".join(f"  {line}" for line in ended.last_lines)
            raise TrainerFailed(
                f"The trainer ended with {ended.words} without any probe. Its last lines:\n{lines}"
            )
        found = running.witnesses()
    if not found:
        raise UsageError(
            f"{printable(shown)} built no optimizer that lived to its end, so there are no final "
            "parameters to compare; name the command that trains."
        )
    return found
