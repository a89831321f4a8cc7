"""Payload: the elements behind a digest, stored once per content."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs.columns import Columns

Elements = npt.NDArray[Any]
"""Elements in their layout's storage dtype."""

ABSENT = -1
"""Instead of a row of the index: the content was not kept."""

_SCANS = 16
"""Single look-ups that scan the index; a further one sorts it, for all that follow."""

_GAP_BYTES = 1 << 14
"""Contents that lie at most so far apart are read at once."""

_READ_BYTES = 4 << 20
"""Most that is read at once of several contents."""


class PayloadStore:
    """Looks content up by digest. The index is read once; elements when asked for."""

    def __init__(self, columns: Columns, layouts: tuple[Layout, ...]) -> None:
        """Read the index of a validated file.

        Args:
            columns: the open run's.
            layouts: the run's layouts, to find the dataset and the shape.
        """
        self._columns = columns
        self._layouts = layouts
        parts = [columns.read(f"payload/index/{name}") for name in ("digest", "layout", "start")]
        rows = min(map(len, parts))
        self._digest, self._layout, self._start = (part[:rows] for part in parts)
        self._order: npt.NDArray[np.int64] | None = None
        self._scans = 0

    def __len__(self) -> int:
        """Number of contents."""
        return len(self._digest)

    def get(self, digest: npt.NDArray[np.uint64], layout: Layout) -> Elements | None:
        """Elements in the layout's storage dtype and shape, or None where not recorded.

        Raises:
            UnreadableRun: as `read`.
        """
        row = int(self.rows_of(digest.reshape(1, 2))[0])
        if row == ABSENT:
            return None
        return self.read(row, layout, 0, layout.elements).reshape(layout.shape)

    def rows_of(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Rows of the index that hold these digests, `ABSENT` where none does.

        Args:
            digests: (n, 2) halves.
        """
        if self._order is None and len(digests) + self._scans <= _SCANS:
            self._scans += len(digests)
            return np.array([self._scanned(digest) for digest in digests], dtype=np.int64)
        return self._searched(digests)

    def _scanned(self, digest: npt.NDArray[np.uint64]) -> int:
        found = np.flatnonzero(self._digest[:, 0] == digest[0])
        found = found[self._digest[found, 1] == digest[1]]
        # A content is kept once. Of a damaged index with more, the last one, as when sorted.
        return int(found[-1]) if len(found) else ABSENT

    def _searched(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        if self._order is None:
            self._order = np.lexsort((self._digest[:, 1], self._digest[:, 0]))
        rows = np.full(len(digests), ABSENT, dtype=np.int64)
        if not len(self._order):
            return rows
        high = self._digest[self._order, 0]
        place = np.searchsorted(high, digests[:, 0], side="right") - 1
        unsure = np.flatnonzero(place >= 0)
        # Among equal high halves, which chance makes once in 2**64, walk back to the low one.
        while len(unsure):
            at = self._order[place[unsure]]
            same_high = self._digest[at, 0] == digests[unsure, 0]
            hit = same_high & (self._digest[at, 1] == digests[unsure, 1])
            rows[unsure[hit]] = at[hit]
            unsure = unsure[same_high & ~hit]
            place[unsure] -= 1
            unsure = unsure[place[unsure] >= 0]
        return rows

    def read(self, row: int, layout: Layout, lo: int, hi: int) -> Elements:
        """Elements ``lo:hi`` of one content, flat.

        Args:
            row: of the index.
            layout: of the event that was looked up.
            lo: first element.
            hi: one past the last.

        Raises:
            UnreadableRun: the index names another layout, or points past the recorded elements.
        """
        with self._columns.decoding():
            start = self._start_of(row, layout)
        return self._columns.read_bulk(f"payload/values/{layout.dtype}", start + lo, start + hi)

    def read_all(self, rows: Sequence[int], layouts: Sequence[Layout]) -> list[Elements]:
        """Whole contents, flat; those that lie near each other in the file are read at once.

        Args:
            rows: of the index, as many as the caller wants in memory.
            layouts: of the events that were looked up.

        Raises:
            UnreadableRun: as `read`.
        """
        found: list[Elements | None] = [None] * len(rows)
        with self._columns.decoding():
            wanted = sorted(
                (layout.dtype, self._start_of(row, layout), layout.elements, place)
                for place, (row, layout) in enumerate(zip(rows, layouts, strict=True))
            )
        first = 0
        while first < len(wanted):
            dtype, start, count, _ = wanted[first]
            end, last = start + count, first + 1
            size = layouts[wanted[first][3]].storage.itemsize
            while last < len(wanted) and wanted[last][0] == dtype:
                _, at, elements, _ = wanted[last]
                far = at > end + _GAP_BYTES // size
                if far or at + elements - start > _READ_BYTES // size:
                    break
                end = max(end, at + elements)
                last += 1
            values = self._columns.read_bulk(f"payload/values/{dtype}", start, end)
            for _, at, elements, place in wanted[first:last]:
                found[place] = values[at - start : at - start + elements]
            first = last
        return [elements for elements in found if elements is not None]

    def _start_of(self, row: int, layout: Layout) -> int:
        if self._layouts[int(self._layout[row])] != layout:
            raise ValueError("the payload index disagrees with the event about the layout")
        start = int(self._start[row])
        if start + layout.elements > self._columns.length(f"payload/values/{layout.dtype}"):
            raise ValueError("the payload index points past the recorded elements")
        return start
