"""Contents of a run file, large ones straight from the memory that they lie in.

A large content is written while it is recorded, before the trainer can go on and change it:
nothing is copied but its ends, which share chunks with its neighbours. What is smaller waits as a
copy, so that many small contents become one write.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import PAYLOAD_VALUES
from probes.tables import GrowingColumn

_KNOWN_CONTENTS = 100_000
"""Contents of one generation; two are known, in about 20 MB, whatever number of steps follows."""

LARGE_BYTES = 512 << 10
"""Size from which a content is large: what a write of its own costs beside its bytes is little."""

_AHEAD = 16 << 20
"""Room that is reserved at once for large contents to come; what is left goes back at the end."""


@dataclass(frozen=True, slots=True)
class _Tail:
    """What is not written yet of one element type.

    Attributes:
        start: row at which it begins.
        waiting: copies of contents, each with the row at which it ends.
    """

    start: int = 0
    waiting: list[tuple[npt.NDArray[np.uint8], int]] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Row at which the next content begins."""
        return self.waiting[-1][1] if self.waiting else self.start


class Payload:
    """Contents by element type, one 1-D dataset each; one that came lately is not written again."""

    def __init__(self, file: h5py.File, make_room: Callable[[int, int], None]) -> None:
        """Take the payload datasets of an open file.

        Args:
            file: the run file, with all datasets created.
            make_room: makes sure that the file can grow by so many bytes, and raises where not;
                by as many more as the second number says if it can.
        """
        self._columns = {
            name: GrowingColumn(file, column) for name, column in PAYLOAD_VALUES.items()
        }
        self._make_room = make_room
        # Each changes in one assignment or one extension, which no interrupt can leave half done.
        self._tails = {name: _Tail() for name in self._columns}
        self._known: set[bytes] = set()
        self._known_before: set[bytes] = set()
        self.is_writing = False
        """A content is being added: what a signal handler records must not be written now."""
        self.waiting_bytes = 0

    def add(self, digest: bytes, dtype: str, content: npt.NDArray[np.uint8]) -> int | None:
        """Write the content, or keep a copy of it until it is written.

        Args:
            digest: its digest.
            dtype: its element type.
            content: (nbytes,) raw bytes; may change after the call.

        Returns:
            Index of its first element in the dataset, or None where the digest is known.

        Raises:
            OSError, RuntimeError, ValueError: it could not be written.
        """
        # A signal handler that records in the middle of this goes without its contents.
        if digest in self._known or digest in self._known_before or self.is_writing:
            return None
        self.is_writing = True
        try:
            start = self._place(dtype, content)
            if len(self._known) >= _KNOWN_CONTENTS:
                self._known_before, self._known = self._known, set()
            self._known.add(digest)
        finally:
            self.is_writing = False
        return start

    def _place(self, dtype: str, content: npt.NDArray[np.uint8]) -> int:
        column, tail = self._columns[dtype], self._tails[dtype]
        start = tail.end
        if content.nbytes < LARGE_BYTES:
            end = start + content.nbytes // column.dtype.itemsize
            tail.waiting.append((content.copy(), end))
            self.waiting_bytes += content.nbytes
        else:
            self._write_through(dtype, start, content)
        return start

    def _write_through(self, dtype: str, start: int, content: npt.NDArray[np.uint8]) -> None:
        """Write what waits and the content up to its last whole chunk; the rest of it waits."""
        column, tail = self._columns[dtype], self._tails[dtype]
        values = content.view(column.dtype)
        first, end = column.whole_chunks(start, len(values))
        self._make_room(column.room(tail.start, start + end - tail.start), _AHEAD)
        before = [*(piece for piece, _ in tail.waiting), content[: first * column.dtype.itemsize]]
        if start + first > tail.start:
            column.put(tail.start, np.concatenate(before).view(column.dtype))
        column.put(start + first, values[first:end])
        # Interrupted until here, the next content is written at the same place.
        rest = content[end * column.dtype.itemsize :].copy()
        self._tails[dtype] = _Tail(start + end, [(rest, start + len(values))])
        self.waiting_bytes += rest.nbytes - sum(piece.nbytes for piece, _ in tail.waiting)

    def room(self) -> int:
        """Bytes by which writing grows the file at most."""
        return sum(column.room(tail.start, tail.end - tail.start) for column, tail in self._each())

    def write(self) -> None:
        """Write the waiting contents, one append per element type."""
        for column, tail in self._each():
            if tail.end > tail.start:
                joined = np.concatenate([piece for piece, _ in tail.waiting])
                column.put(tail.start, joined.view(column.dtype))
        # After all types are in, and not one by one: done again, the same rows are written.
        self._tails = {name: _Tail(tail.end) for name, tail in self._tails.items()}
        self.waiting_bytes = 0

    def _each(self) -> Iterator[tuple[GrowingColumn, _Tail]]:
        return zip(self._columns.values(), self._tails.values(), strict=True)
