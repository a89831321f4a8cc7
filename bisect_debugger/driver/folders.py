"""Folders that the runs of `twin` go to, each made for them alone."""

import contextlib
from pathlib import Path

from bisect_debugger.errors import UsageError, printable

FOLDER = Path(".bisect-debugger")


def make_folder(asked: Path | None) -> Path:
    """A folder that did not exist, so that nothing is overwritten and two twins never meet.

    Args:
        asked: which one; a numbered one below `FOLDER` by default.

    Raises:
        UsageError: it exists, or cannot be made.
    """
    if asked is not None:
        return _new_folder(asked)
    with contextlib.suppress(OSError):
        FOLDER.mkdir(exist_ok=True)
        # Recordings are large and belong into no repository; what stands there already stays.
        with (FOLDER / ".gitignore").open("x", encoding="utf-8") as stream:
            stream.write("*\n")
    for number in range(1, 100_000):
        try:
            return _new_folder(FOLDER / "twins" / str(number))
        except _Taken:
            continue
    raise UsageError(f"{printable(str(FOLDER))} is full of twins; remove some.")


class _Taken(UsageError):
    """The folder exists."""


def _new_folder(folder: Path) -> Path:
    shown = printable(str(folder))
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise _Taken(f"{shown} exists already; name a new folder, or remove it.") from error
    except OSError as error:
        raise UsageError(
            f"{shown} cannot be made ({error.strerror}); name a folder that you can write to."
        ) from error
    return folder
