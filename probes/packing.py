"""Contents of one element type, one after the other in whole chunks of the file.

A chunk that a content fills alone goes to the file straight from the memory that the content lies
in. What fills none is copied into the chunk that is open; so is what a chunk's other contents left.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from probes.tables import GrowingColumn

MakeRoom = Callable[[int, int], None]
"""Makes sure that the file can grow by so many bytes, and raises where not; by as many more as the
second number says if it can."""

_AHEAD = 16 << 20
"""Room that is reserved at once for chunks to come; what is left goes back at the end."""


class PackedColumn:
    """One dataset of contents that grows by a chunk at a time."""

    def __init__(self, column: GrowingColumn, make_room: MakeRoom) -> None:
        """Hold nothing yet.

        Args:
            column: the dataset.
            make_room: asked before a chunk is written.
        """
        self._column, self._make_room = column, make_room
        # Two buffers by turns: what the next chunk begins with is copied while the one before is
        # still as it was, should an interrupt come between.
        self._buffers: list[npt.NDArray[np.generic]] = []
        self._open = (0, 0)
        """Row at which the next content begins, and whose buffer holds the open chunk up to it.
        Changes in one assignment: interrupted before, the next content takes the same place."""
        self._written = 0

    def add(self, content: npt.NDArray[np.uint8]) -> int:
        """Write the chunks that the content completes, and keep a copy of its rest.

        Args:
            content: (nbytes,) raw bytes; may change after the call.

        Returns:
            Row of its first element.

        Raises:
            OSError, RuntimeError, ValueError: it could not be written.
        """
        column, values = self._column, content.view(self._column.dtype)
        start, side = self._open
        chunk, end = column.chunk_rows, start + len(values)
        if not self._buffers:
            self._buffers = [np.empty(chunk, column.dtype) for _ in range(2)]
        at = start % chunk
        if at + len(values) < chunk:
            self._buffers[side][at : at + len(values)] = values
            self._open = (end, side)
            return start
        self._make_room(self._room_up_to(end), _AHEAD)
        first, past = column.whole_chunks(start, len(values))
        if first:
            self._buffers[side][at:] = values[:first]
            column.put(start - at, self._buffers[side])
        if past > first:
            column.put(start + first, values[first:past])
        rest = values[past:]
        self._buffers[1 - side][: len(rest)] = rest
        self._open = (end, 1 - side)
        self._written = start + past
        return start

    def room(self) -> int:
        """Bytes by which `write` grows the file at most."""
        return self._room_up_to(self._open[0])

    def write(self) -> None:
        """Write what the open chunk holds and the file does not; done again, it is the same."""
        end, side = self._open
        at = end % self._column.chunk_rows
        start = max(self._written, end - at)
        if start < end:
            self._column.put(start, self._buffers[side][start - (end - at) : at])
            self._written = end

    def _room_up_to(self, end: int) -> int:
        return self._column.room(self._written, end - self._written)
