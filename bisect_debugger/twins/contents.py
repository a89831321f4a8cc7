"""The contents of events that differ: counted, sized, and the greatest difference of each cell."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import compare_arrays
from bisect_debugger.metrics.distance import Distance
from bisect_debugger.twins.model import Row, Status
from bisect_debugger.twins.pair import Pair
from bisect_debugger.twins.tally import Greatest

BATCH_BYTES = 4 << 20
"""Contents of one run that are read at once; a longer content is read in such pieces."""

_REMEMBERED = 4096
"""Pairs of contents of which the distance is remembered: a copy is not read again."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Apart:
    """Events with another digest in both runs, n of them.

    Attributes:
        cell: (n,) whose they are.
        row: (n,) common row of the step.
        event, buffer: (n,) row of the event and of its buffer in the first run.
        digest_a, digest_b: (n, 2) halves.
        layout_a, layout_b: (n,) row of the layout in either run.
    """

    cell: Ints
    row: Ints
    event: Ints
    buffer: Ints
    digest_a: npt.NDArray[np.uint64]
    digest_b: npt.NDArray[np.uint64]
    layout_a: Ints
    layout_b: Ints

    @classmethod
    def of(
        cls, rows: Sequence[Row], row: int, pair: Pair, cells: Mapping[tuple[Group, str], int]
    ) -> "Apart":
        """Those of one aligned step.

        Args:
            rows: all its events.
            row: its common row.
            pair: the twins.
            cells: number of each group and component.
        """
        apart = [x for x in rows if x.status is Status.DIFFERS]
        buffers = {buffer.key: buffer.index for buffer in pair.a.buffers}
        layouts = [{x: i for i, x in enumerate(run.layouts)} for run in (pair.a, pair.b)]
        sides = [(x.a, x.b) for x in apart if x.a is not None and x.b is not None]
        return cls(
            np.array([cells[(x.group, x.component)] for x in apart], np.int64),
            np.full(len(apart), row, np.int64),
            np.array([a.sequence for a, _ in sides], np.int64),
            np.array([buffers[x.key] for x in apart], np.int64),
            np.array([a.digest for a, _ in sides], np.uint64).reshape(-1, 2),
            np.array([b.digest for _, b in sides], np.uint64).reshape(-1, 2),
            np.array([layouts[0][a.layout] for a, _ in sides], np.int64),
            np.array([layouts[1][b.layout] for _, b in sides], np.int64),
        )

    def picked(self, marks: npt.NDArray[np.bool_]) -> "Apart":
        """Those with a mark."""
        return Apart(*(getattr(self, name)[marks] for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The event of a cell that is furthest apart so far."""

    size: float
    apart: Apart
    """It alone."""


class Contents:
    """Counts over the contents of differing events, per cell."""

    def __init__(self, pair: Pair, cells: int) -> None:
        """Begin with nothing.

        Args:
            pair: the twins.
            cells: how many cells there are.
        """
        self._pair = pair
        known = {layout: index for index, layout in enumerate(pair.a.layouts)}
        self._layout_in_a = np.array([known.get(x, -1) for x in pair.b.layouts], np.int64)
        names = ("digest_only", "other_layout", "elements", "differing_elements")
        self._counts = {name: np.zeros(cells, np.int64) for name in names}
        self._greatest: dict[int, _Candidate] = {}
        self._known: OrderedDict[tuple[int, int], tuple[int, float]] = OrderedDict()

    def add(self, apart: Apart) -> None:
        """Count events in, and read and compare their contents where both runs kept them."""
        if not len(apart.cell):
            return
        same = self._layout_in_a[apart.layout_b] == apart.layout_a
        self._add("other_layout", apart.cell[~same])
        apart = apart.picked(same)
        at_a = self._pair.a.contents.rows_of(apart.digest_a)
        at_b = self._pair.b.contents.rows_of(apart.digest_b)
        kept = (at_a >= 0) & (at_b >= 0)
        self._add("digest_only", apart.cell[~kept])
        if kept.any():
            self._compare(apart.picked(kept), at_a[kept], at_b[kept])

    def count(self, name: str, cell: int) -> int:
        """A count of a cell, by its name in `ComponentTally`."""
        return int(self._counts[name][cell])

    def greatest(self, cell: int) -> Greatest | None:
        """The event of a cell that is furthest apart, read once more for all its numbers."""
        candidate = self._greatest.get(cell)
        return None if candidate is None else self._numbers(candidate.apart)

    def _add(self, count: str, cells: Ints, weights: Sequence[int] | None = None) -> None:
        values = self._counts[count]
        if weights is None:
            values += np.bincount(cells, minlength=len(values))
        else:
            np.add.at(values, cells, np.array(weights, np.int64))

    def _compare(self, apart: Apart, at_a: Ints, at_b: Ints) -> None:
        layouts = [self._pair.a.layouts[index] for index in apart.layout_a.tolist()]
        pairs = list(zip(at_a.tolist(), at_b.tolist(), strict=True))
        for places in self._batches(layouts):
            self._read([(pairs[place], layouts[place]) for place in places])
            self._note(apart, places, [self._known[pairs[place]] for place in places], layouts)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    @staticmethod
    def _batches(layouts: Sequence[Layout]) -> Iterator[list[int]]:
        """Places of contents that together are one batch to read; at least one content each."""
        batch: list[int] = []
        size = 0
        for place, layout in enumerate(layouts):
            own = min(layout.nbytes, BATCH_BYTES)
            if batch and (size + own > BATCH_BYTES or len(batch) >= _REMEMBERED):
                yield batch
                batch, size = [], 0
            batch.append(place)
            size += own
        if batch:
            yield batch

    def _read(self, wanted: Sequence[tuple[tuple[int, int], Layout]]) -> None:
        """Make the distances of these pairs of contents known."""
        for pair, _ in wanted:
            if pair in self._known:
                self._known.move_to_end(pair)
        fresh = {pair: layout for pair, layout in wanted if pair not in self._known}
        long = [pair for pair, layout in fresh.items() if layout.nbytes > BATCH_BYTES]
        for pair in long:
            self._keep(pair, self._in_pieces(pair, fresh.pop(pair)))
        layouts = list(fresh.values())
        left = self._pair.a.contents.read_all([a for a, _ in fresh], layouts)
        right = self._pair.b.contents.read_all([b for _, b in fresh], layouts)
        for pair, layout, a, b in zip(fresh, layouts, left, right, strict=True):
            distance = Distance()
            distance.add(a, b, layout.dtype)
            self._keep(pair, distance)

    def _in_pieces(self, pair: tuple[int, int], layout: Layout) -> Distance:
        distance = Distance()
        piece = BATCH_BYTES // layout.storage.itemsize
        for lo in range(0, layout.elements, piece):
            hi = min(lo + piece, layout.elements)
            a = self._pair.a.contents.read(pair[0], layout, lo, hi)
            b = self._pair.b.contents.read(pair[1], layout, lo, hi)
            distance.add(a, b, layout.dtype)
        return distance

    def _keep(self, pair: tuple[int, int], distance: Distance) -> None:
        self._known[pair] = (distance.differing, distance.size)

    def _note(
        self,
        apart: Apart,
        places: list[int],
        distances: Sequence[tuple[int, float]],
        layouts: Sequence[Layout],
    ) -> None:
        cells = apart.cell[places]
        self._add("elements", cells, [layouts[place].elements for place in places])
        self._add("differing_elements", cells, [differing for differing, _ in distances])
        for place, cell, (_, size) in zip(places, cells.tolist(), distances, strict=True):
            best = self._greatest.get(cell)
            # The first of equals: it is the one that a person would look at.
            if best is None or size > best.size:
                alone = np.arange(len(apart.cell)) == place
                self._greatest[cell] = _Candidate(size, apart.picked(alone))

    def _numbers(self, one: Apart) -> Greatest | None:
        buffer = self._pair.a.buffers[int(one.buffer[0])]
        layout = self._pair.a.layouts[int(one.layout_a[0])]
        left = self._pair.a.payload(one.digest_a[0], layout)
        right = self._pair.b.payload(one.digest_b[0], layout)
        difference = None
        # The bytes of a generator's state are no quantity: how far they are apart means nothing.
        if left is not None and right is not None and buffer.group is not Group.RNG:
            difference = compare_arrays(left, right, layout)
        if difference is None:
            return None
        step = self._pair.step_number(int(one.row[0]))
        return Greatest(step, buffer.name, int(one.event[0]), difference)
