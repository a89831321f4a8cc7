"""The last lines of a stream of bytes."""

from collections import deque

from bisect_debugger.errors import printable

LAST_LINES = 20
"""Lines of a trainer's output that are kept to be shown."""

_LINE_BYTES = 4096


class Tail:
    """Takes bytes in pieces, and shows the end of them as printable lines."""

    def __init__(self) -> None:
        """Nothing was written."""
        self._lines: deque[bytes] = deque(maxlen=LAST_LINES)
        self._open = b""

    def take(self, piece: bytes) -> None:
        """Take one more piece."""
        *lines, self._open = (self._open + piece).split(b"\n")
        self._lines.extend(line[-_LINE_BYTES:] for line in lines)
        self._open = self._open[-_LINE_BYTES:]

    def lines(self) -> tuple[str, ...]:
        """The last lines, escaped; what a progress bar wrote over is left out."""
        kept = [*self._lines, self._open] if self._open.strip() else [*self._lines]
        shown = (line.rstrip(b"\r").rpartition(b"\r")[2] for line in kept[-LAST_LINES:])
        return tuple(printable(line.decode("utf-8", "backslashreplace"), 500) for line in shown)
