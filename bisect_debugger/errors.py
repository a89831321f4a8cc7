"""Errors that a user can act on: each says what happened, what it means and what to do.

A divergence is never an error; it is a value in a diagnosis.
"""

import traceback
from pathlib import Path
from typing import ClassVar


class BisectError(Exception):
    """Base of every error that reaches a user as one sentence instead of a traceback."""

    exit_code: ClassVar[int] = 3


class UsageError(BisectError):
    """The command was asked for something that makes no sense."""

    exit_code = 2


class OneRunOnly(UsageError):
    """One run was named where two are needed."""

    def __init__(self) -> None:
        """Say that a second one is missing."""
        super().__init__("One run cannot be compared; name at least two.")


class UnreadableRun(BisectError):
    """A file is not a run that can be read."""

    def __init__(self, path: Path, what: str, todo: str) -> None:
        """Name the file, what is wrong with it, and what to do.

        Args:
            path: the file as the user named it.
            what: what was found, a clause without a full stop.
            todo: what to do about it, a clause without a full stop.
        """
        super().__init__(f"{printable(str(path))}: {what}; {todo}.")


class UiFailed(BisectError):
    """The terminal UI ended by an error of its own."""

    def __init__(self, what: str) -> None:
        """Say what became of it.

        Args:
            what: the error and where its traceback is, a clause, or empty.
        """
        super().__init__(
            f"The terminal UI failed{f' ({what})' if what else ''}. The runs are as they were; "
            "`bisect-debugger compare -v` prints the same without it. Please report it."
        )


class NotComparable(BisectError):
    """Two runs have nothing that can be compared."""


def told_in_a_line(error: BaseException) -> str:
    """An error that nobody foresaw, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return printable(" ".join(f"{type(error).__name__}: {error}".split())) + place


def printable(text: str, limit: int = 200) -> str:
    """Text from outside made safe to print: control characters escaped, length bounded.

    Args:
        text: a name or path that may hold escape sequences or newlines.
        limit: longest result in characters; the middle is replaced by an ellipsis.
    """
    safe = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text.encode("utf-8", "backslashreplace").decode()
    )
    if len(safe) > limit:
        half = (limit - 1) // 2
        safe = f"{safe[:half]}…{safe[-half:]}"
    return safe
