"""The runs that a command was given: files, or the folder in which `twin` keeps a pair of them."""

from collections.abc import Sequence
from pathlib import Path

from bisect_debugger.errors import UsageError, printable

_OF_THE_SECOND_PASS = ".values.h5"


def named_runs(paths: Sequence[str]) -> list[str]:
    """Files as they were named, and in place of a folder the runs in it.

    Raises:
        UsageError: a folder has no run in it.
        UnreadableRun: a run of a folder's second pass cannot be read.
    """
    return [run for path in paths for run in (_runs_in(path) if _is_folder(path) else [path])]


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _runs_in(folder: str) -> list[str]:
    """The second pass, which holds values, where it parted; else the first."""
    found = sorted(map(str, Path(folder).glob("*.h5")))
    second = [path for path in found if path.endswith(_OF_THE_SECOND_PASS)]
    first = [path for path in found if path not in second]
    if not found:
        raise UsageError(
            f"{printable(folder)} is a folder with no run in it; name runs, or a folder that twin "
            "said it keeps them in."
        )
    return second if len(second) == 2 and _part(*second) else first or second


def _part(a: str, b: str) -> bool:
    from bisect_debugger.twins import open_pair

    with open_pair(a, b) as pair:
        return pair.first_different_row() is not None
