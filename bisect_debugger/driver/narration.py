"""What a running command is told on stderr; a stderr that takes nothing never ends a run."""

import contextlib
import sys


def narrate(text: str) -> None:
    """Write text to stderr, where there is one that takes it."""
    # Closed it is None, full or without a reader it refuses; the trainer goes on.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()


def pass_on(piece: bytes) -> None:
    """Write bytes of the trainer to stderr as they are."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()


def on_a_terminal() -> bool:
    """Stderr is a terminal."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
