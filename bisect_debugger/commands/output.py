"""Writing results: stdout for ``-``, else a file that is not overwritten by accident."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from bisect_debugger.errors import UsageError, printable


def check_target(target: str | None, *, force: bool = False, inputs: Iterable[str] = ()) -> None:
    """Refuse a target that `write` would refuse, before the work is done.

    Args:
        target: ``-``, a path, or None where nothing is to be written.
        force: an existing file may be overwritten.
        inputs: files that are read, which even ``force`` does not allow to be overwritten.

    Raises:
        UsageError: it exists, is read as well, or stands in a folder that cannot be written to.
    """
    if target in (None, "-"):
        return
    assert target is not None, "excluded above"
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"{printable(target)} is a directory; name a file in it.")
    if path.exists():
        if any(_same_file(path, given) for given in inputs):
            raise UsageError(f"{printable(target)} is read as well; name another file.")
        # A pipe or a device such as /dev/fd/63 holds nothing that could be lost.
        if path.is_file() and not force:
            raise UsageError(
                f"{printable(target)} exists already; name another file, or add --force to "
                "replace it."
            )
        return
    if not path.parent.is_dir():
        raise _unwritable(target, "no such directory")
    if not os.access(path.parent, os.W_OK):
        raise _unwritable(target, "permission denied")


def _same_file(path: Path, given: str) -> bool:
    try:
        return path.samefile(given)
    except (OSError, ValueError):
        return False


def say(text: str, end: str = "\n") -> None:
    """Print to stdout and write it out.

    Raises:
        UsageError: stdout cannot be written to, e.g. because the disk is full.
        BrokenPipeError: its reader went away.
    """
    try:
        print(text, end=end, flush=sys.stdout is not None)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(
            f"stdout cannot be written ({error.strerror}); send it to another place."
        ) from error


def in_columns(text: str, stream: TextIO | None) -> str:
    """Lines broken between words where a terminal would break them within one.

    Args:
        text: sentences, a line each.
        stream: where they are printed; for anything but a terminal they stay as they are.
    """
    if stream is None or stream.closed or not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        line if len(line) <= width else _broken(line, width) for line in text.split("\n")
    )


def _broken(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    # A path longer than a line is left whole, to be copied.
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def write(target: str, content: str, *, force: bool = False) -> None:
    """Write text to stdout (``-``) or to a file.

    Args:
        target: ``-`` or a path.
        content: what to write, with its final line break.
        force: overwrite an existing file.

    Raises:
        UsageError: the file exists, or cannot be written.
        BrokenPipeError: the reader of stdout went away.
    """
    if target == "-":
        say(content, end="")
        return
    check_target(target, force=force)
    path = Path(target)
    is_new = not path.exists()
    try:
        # Exclusive creation: a file that appeared since the check is not overwritten either.
        mode = "x" if is_new else "w"
        with path.open(mode, encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(content)
    except OSError as error:
        if is_new and path.is_file() and not isinstance(error, FileExistsError):
            path.unlink()
        raise _unwritable(target, error.strerror or str(error)) from error


def _unwritable(target: str, why: str) -> UsageError:
    return UsageError(
        f"{printable(target)} cannot be written ({why}); name a file in a folder that you can "
        "write to."
    )
