"""Whether there is a terminal that the UI can be shown on, and what it can show."""

import os
from typing import TextIO

_SIGNS = "≠∅·─│…"
"""Signs of the UI that are no plain ASCII."""


def opens_ui(*streams: TextIO | None) -> bool:
    """Every stream is a terminal, and one that can do more than print lines.

    Args:
        streams: the UI draws on stderr, reads from stdin, and asks stdout for its size.
    """
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def is_ascii_only(stream: TextIO | None) -> bool:
    """What is written there cannot have the UI's signs, e.g. in a locale without UTF-8.

    Args:
        stream: what the UI draws on.
    """
    try:
        _SIGNS.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False
