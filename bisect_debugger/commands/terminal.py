"""Whether there is a terminal that the UI can be shown on."""

import os
from typing import TextIO


def opens_ui(*streams: TextIO | None) -> bool:
    """Every stream is a terminal, and one that can do more than print lines.

    Args:
        streams: the UI draws on stderr, reads from stdin, and asks stdout for its size.
    """
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)
