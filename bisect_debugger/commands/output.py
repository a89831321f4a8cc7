"""Writing results: stdout for ``-``, else a file that is not overwritten by accident."""

import sys
from pathlib import Path

from bisect_debugger.errors import UsageError, printable


def write(target: str, content: str, *, force: bool = False) -> None:
    """Write text to stdout (``-``) or to a file.

    Args:
        target: ``-`` or a path.
        content: what to write, with its final line break.
        force: overwrite an existing file.

    Raises:
        UsageError: the file exists, or cannot be written.
    """
    if target == "-":
        sys.stdout.write(content)
        return
    path = Path(target)
    if path.exists() and not force:
        raise UsageError(
            f"{printable(target)} exists already; name another file, or add --force to replace it."
        )
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{printable(target)} cannot be written ({error.strerror}); name a file in a folder "
            "that you can write to."
        ) from error
