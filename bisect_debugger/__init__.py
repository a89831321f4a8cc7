"""bisect-debugger: find the first divergence between training runs that should be the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bisect_debugger.diagnosis import Diagnosis

__version__ = "0.1.0"

__all__ = ["twin"]


def twin(
    command: Sequence[str],
    *,
    runs: int = 2,
    control: Sequence[str] = (),
    out: str | Path | None = None,
    **options: Any,
) -> "Diagnosis":
    """Run a training command several times and find where the runs diverge.

    Args:
        command: program and arguments, e.g. ``["python", "train.py", "--seed", "42"]``.
        runs: how many runs, at least two.
        control: a command with another seed, which has to diverge.
        out: new folder for the runs; one below ``.bisect-debugger`` by default.
        **options: further fields of `bisect_debugger.driver.twins.Plan`, e.g. ``max_steps``.

    Raises:
        UsageError: the arguments make no sense, or nothing was recorded.
        TrainerFailed: the trainer ended with an error of its own.
    """
    from bisect_debugger.driver.plan import Plan
    from bisect_debugger.driver.twins import run_twins
    from bisect_debugger.errors import UsageError

    if isinstance(command, (str, bytes)):
        raise UsageError(
            'A command is a list of words, e.g. ["python", "train.py"]; shlex.split makes one of '
            "a line."
        )
    unknown = sorted(set(options) - set(Plan.__dataclass_fields__))
    if unknown:
        known = ", ".join(Plan.__dataclass_fields__)
        raise UsageError(f"There is no option {unknown[0]!r}; the options are {known}.")
    folder = Path(out) if out is not None else None
    plan = Plan(tuple(command), runs=runs, control=tuple(control), folder=folder, **options)
    return run_twins(plan).diagnosis
