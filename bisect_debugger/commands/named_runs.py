"""The runs that a command was given: files, or the folder in which `twin` keeps a pair of them."""

from collections.abc import Sequence
from pathlib import Path

from bisect_debugger.errors import UnreadableRun, UsageError, printable

_OF_THE_SECOND_PASS = ".values.h5"


def named_runs(paths: Sequence[str]) -> list[str]:
    """Files as they were named, and in place of a folder the runs in it.

    Raises:
        UsageError: a folder has no run in it, or one.
        UnreadableRun: the only one that is named is not there, or a run of a folder's second pass
            cannot be read.
    """
    found = [run for path in paths for run in (_runs_in(path) if _is_folder(path) else [path])]
    if len(found) == 1 == len(paths):
        _explain_one(paths[0], found[0])
    return found


def _explain_one(path: str, run: str) -> None:
    """Say of a single run why it is one, where that is not plain."""
    if _is_folder(path):
        raise UsageError(
            f"{printable(path)} holds one run only, {printable(run)}; bisect-debugger info tells "
            "what is in it, and twin has to be run again for two."
        )
    try:
        exists = Path(path).exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise UnreadableRun(Path(path), "no such file or folder", "check the path")


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
        below = sorted({str(path.parent) for path in Path(folder).glob("*/*.h5")})
        if below:
            raise UsageError(
                f"{printable(folder)} is a folder with no run in it; {printable(below[-1])} holds "
                "some."
            )
        raise UsageError(
            f"{printable(folder)} is a folder with no run in it; name runs, or a folder that twin "
            "said it keeps them in."
        )
    return second if len(second) == 2 and _part(*second) else first or second


def _part(a: str, b: str) -> bool:
    from bisect_debugger.twins import open_pair

    with open_pair(a, b) as pair:
        return pair.first_different_row() is not None
