"""Every event of two runs compared, through to their ends and not only to the first difference.

Digests decide what is equal, so of the contents only those are read whose digests differ. Steps
are taken in blocks: where both runs did the same things, whole blocks are compared at once, and
only where they did not, a step is aligned event by event.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.contents import Apart, Contents
from bisect_debugger.twins.model import Row, Status
from bisect_debugger.twins.pair import Pair
from bisect_debugger.twins.stretch import Stretch, buffers_of, count_beside
from bisect_debugger.twins.tally import ComponentTally, Exhaustive

BLOCK_EVENTS = 1 << 16
"""Events of a block, unless a single step has more."""

BLOCK_STEPS = 4096

Cell = tuple[Group, str]
"""Group and component."""


def compare_all(pair: Pair) -> Exhaustive:
    """Compare every event of the common steps, and every content whose digest differs.

    Memory is bounded by a block, 24 bytes for each content that was kept, and one content for the
    numbers of each greatest difference.

    Args:
        pair: the twins.

    Raises:
        UnreadableRun: a run turns out to be damaged.
    """
    scan = _Scan(pair)
    for lo, hi in _blocks(pair):
        scan.block(lo, hi)
    return scan.result()


def _blocks(pair: Pair) -> Iterator[tuple[int, int]]:
    """Stretches of common rows that follow each other in both runs and hold a block of events."""
    for lo in range(0, pair.step_count, BLOCK_STEPS):
        hi = min(lo + BLOCK_STEPS, pair.step_count)
        rows = pair.rows_in_runs(lo, hi)
        counts = np.maximum(
            *(
                run.event_counts(int(own[0]), int(own[-1]) + 1)[own - own[0]]
                for run, own in zip((pair.a, pair.b), rows, strict=True)
            )
        )
        gaps = (np.diff(rows[0]) != 1) | (np.diff(rows[1]) != 1)
        start, events = lo, 0
        for offset, count in enumerate(counts.tolist()):
            here = lo + offset
            if here > start and (events + count > BLOCK_EVENTS or gaps[offset - 1]):
                yield start, here
                start, events = here, 0
            events += count
        yield start, hi


class _Scan:
    """The counts so far."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        buffers = (pair.a.buffers, pair.b.buffers)
        cells = sorted({(buffer.group, buffer.component) for side in buffers for buffer in side})
        self._cells: dict[Cell, int] = {cell: index for index, cell in enumerate(cells)}
        self._cell_of_a = np.array(
            [self._cells[(buffer.group, buffer.component)] for buffer in pair.a.buffers], np.int64
        )
        key_of_a = {buffer.key: buffer.index for buffer in pair.a.buffers}
        self._key_of_b = np.array(
            [key_of_a.get(buffer.key, -1) for buffer in pair.b.buffers], np.int64
        )
        self._counts = {
            name: np.zeros(len(cells), np.int64)
            for name in ("equal", "moved", "differing", "one_sided")
        }
        self._contents = Contents(pair, len(cells))
        self._differing_steps = 0
        self._beside = self._left_out = 0

    def block(self, lo: int, hi: int) -> None:
        """Compare the events of common rows ``lo:hi``."""
        spans = [(int(own[0]), int(own[-1]) + 1) for own in self._pair.rows_in_runs(lo, hi)]
        apart = self._pair.steps_apart(lo, hi)
        if self._pair.a.facts.level == "coarse":
            self._differing_steps += int(np.count_nonzero(apart))
            return
        if not apart.any():
            buffers, beside = buffers_of(self._pair.a, *spans[0])
            self._beside += beside + count_beside(self._pair.b, *spans[1])
            self._add("equal", self._cell_of_a[buffers])
            return
        left = Stretch.of(self._pair.a, *spans[0])
        right = Stretch.of(self._pair.b, *spans[1])
        self._beside += left.beside + right.beside
        self._add("equal", self._cell_of_a[left.buffer[~apart[left.step]]])
        alike = self._alike(left, right, apart, lo)
        self._position_by_position(left, right, alike, lo)
        for offset in np.flatnonzero(apart & ~alike).tolist():
            sides = np.count_nonzero(left.step == offset) + np.count_nonzero(right.step == offset)
            self._aligned(lo + offset, int(sides))

    def _alike(
        self, left: Stretch, right: Stretch, apart: npt.NDArray[np.bool_], lo: int
    ) -> npt.NDArray[np.bool_]:
        """(steps,) of the differing steps those in which both runs did the same things in order."""
        steps = len(apart)
        counts = [np.bincount(side.step, minlength=steps) for side in (left, right)]
        alike: npt.NDArray[np.bool_] = np.logical_and(apart, counts[0] == counts[1])
        for offset in np.flatnonzero(alike).tolist():
            alike[offset] = self._pair.is_whole(lo + offset)
        mine, theirs = alike[left.step], alike[right.step]
        other = self._key_of_b[right.buffer[theirs]] != left.buffer[mine]
        other |= right.thread[theirs] != left.thread[mine]
        alike[left.step[mine][other]] = False
        return alike

    def _position_by_position(
        self, left: Stretch, right: Stretch, alike: npt.NDArray[np.bool_], lo: int
    ) -> None:
        mine, theirs = np.flatnonzero(alike[left.step]), np.flatnonzero(alike[right.step])
        differs = (left.digest[mine] != right.digest[theirs]).any(axis=1)
        cells = self._cell_of_a[left.buffer[mine]]
        self._add("equal", cells[~differs])
        self._add("differing", cells[differs])
        mine, theirs, cells = mine[differs], theirs[differs], cells[differs]
        self._differing_steps += len(set(left.step[mine].tolist()))
        self._contents.add(
            Apart(
                cells,
                left.step[mine] + lo,
                left.event[mine],
                left.buffer[mine],
                left.digest[mine],
                right.digest[theirs],
                left.layout[mine],
                right.layout[theirs],
            )
        )

    def _aligned(self, row: int, sides: int) -> None:
        """One step in which the runs did not do the same things.

        Args:
            row: its common row.
            sides: events of either run that belong to the training.
        """
        rows = [x for x in self._pair.rows(row) if EventFlag.BACKGROUND not in x.flags]
        self._left_out += sides - sum((x.a is not None) + (x.b is not None) for x in rows)
        self._differing_steps += any(x.diverges for x in rows)
        for x in rows:
            self._counts[_count_of(x)][self._cells[(x.group, x.component)]] += 1
        self._contents.add(Apart.of(rows, row, self._pair, self._cells))

    def _add(self, count: str, cells: npt.NDArray[np.int64]) -> None:
        self._counts[count] += np.bincount(cells, minlength=len(self._cells))

    def result(self) -> Exhaustive:
        """What was found, with the numbers of the greatest differences read once more."""
        pair, steps = self._pair, self._pair.step_count
        tallies = (self._tally(cell, index) for cell, index in self._cells.items())
        return Exhaustive(
            steps=steps,
            differing_steps=self._differing_steps,
            steps_a=pair.a.step_count - steps,
            steps_b=pair.b.step_count - steps,
            beside=self._beside,
            left_out=self._left_out,
            components=tuple(tally for tally in tallies if tally.events),
        )

    def _tally(self, cell: Cell, index: int) -> ComponentTally:
        counts = {name: int(values[index]) for name, values in self._counts.items()}
        contents = self._contents
        return ComponentTally(
            group=cell[0],
            component=cell[1],
            events=sum(counts.values()),
            equal=counts["equal"],
            moved=counts["moved"],
            differing=counts["differing"],
            one_sided=counts["one_sided"],
            digest_only=contents.count("digest_only", index),
            other_layout=contents.count("other_layout", index),
            elements=contents.count("elements", index),
            differing_elements=contents.count("differing_elements", index),
            greatest=contents.greatest(index),
        )


def _count_of(row: Row) -> str:
    if row.status is Status.ONE_SIDED:
        return "one_sided"
    if row.status is Status.DIFFERS:
        return "differing"
    return "moved" if row.moved else "equal"
