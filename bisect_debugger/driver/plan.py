"""What `twin` is asked to do, and what it found."""

from dataclasses import dataclass, replace
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis
from bisect_debugger.diagnosis.model import Verdict


@dataclass(frozen=True, slots=True)
class Plan:
    """What `twin` is asked to do.

    Attributes:
        command: the command that trains.
        runs: how many runs, at least two.
        control: a command with another seed, which has to diverge; empty for none.
        folder: new folder for the runs; one below ``.bisect-debugger`` by default.
        level: level of the first pass.
        include: globs of buffer names to record.
        exclude: globs of buffer names to leave out.
        max_steps: steps after which every run ends, or None.
        stop_after: steps that a run goes on after the first difference.
        second_pass: run again for values where the runs diverged.
        tolerance: largest relFro of a difference that still counts as the same run.
        explain: run twins again with one condition changed, to prove the cause.
        budget: seconds after which experiments end.
        repro: new folder for a script that executes the culprit alone, or None.
    """

    command: tuple[str, ...]
    runs: int = 2
    control: tuple[str, ...] = ()
    folder: Path | None = None
    level: str = "digest"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_steps: int | None = None
    stop_after: int = 2
    second_pass: bool = True
    tolerance: float | None = None
    explain: bool = False
    budget: float = 600.0
    repro: Path | None = None


@dataclass(frozen=True, slots=True)
class TwinResult:
    """What `twin` found.

    Attributes:
        diagnosis: of the pair that says most.
        folder: where the runs are.
        files: the two runs that the diagnosis is about.
        second_pass: verdict and onset of the second pass, where there was one.
        has_remarks: its remarks tell what the two files do not.
    """

    diagnosis: Diagnosis
    folder: Path
    files: tuple[Path, Path]
    second_pass: tuple[Verdict, int | None] | None = None
    has_remarks: bool = False


def remarked(result: TwinResult, remark: str) -> TwinResult:
    """The result with one more remark, before all others."""
    remarks = (remark, *result.diagnosis.remarks)
    diagnosis = replace(result.diagnosis, remarks=remarks)
    return replace(result, diagnosis=diagnosis, has_remarks=True)
