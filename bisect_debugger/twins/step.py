"""One common step of twins, aligned: which event of one run meets which of the other."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Buffer, EventBlock, Run
from bisect_debugger.twins.align import align
from bisect_debugger.twins.calls import in_canonical_order
from bisect_debugger.twins.model import Row, Seen, Status

_BACKGROUND = int(EventFlag.BACKGROUND)

Keep = npt.NDArray[np.bool_]
"""(n,) which events of a step are compared."""


class StepAligner:
    """Aligns the events of a step of two runs."""

    def __init__(self, a: Run, b: Run) -> None:
        """Hold two open runs against each other."""
        self._a = a
        self._b = b

    def rows(
        self, step: int, left: EventBlock, right: EventBlock, keep: tuple[Keep, Keep]
    ) -> list[Row]:
        """Aligned events in execution order of the first run.

        Args:
            step: step number.
            left: events of the first run.
            right: events of the second run.
            keep: which events of either are compared.
        """
        keys_b, extra = self._b_to_key
        mapped = keys_b[right.buffer] if len(right) else np.empty(0, dtype=np.int64)
        placed: list[tuple[float, Row]] = []
        for thread in np.union1d(left.thread, right.thread):
            picks_a = np.flatnonzero((left.thread == thread) & keep[0])
            picks_b = np.flatnonzero((right.thread == thread) & keep[1])
            keys = (left.buffer[picks_a].astype(np.int64), mapped[picks_b])
            if not np.array_equal(*keys):
                picks_a = picks_a[in_canonical_order(keys[0].tolist(), self._buffer_of(extra))]
                picks_b = picks_b[in_canonical_order(keys[1].tolist(), self._buffer_of(extra))]
            placed += self._thread_rows(step, left, picks_a, right, picks_b, mapped, extra)
        placed.sort(key=lambda entry: entry[0])
        return [row for _, row in placed]

    def _thread_rows(
        self,
        step: int,
        left: EventBlock,
        picks_a: npt.NDArray[np.int64],
        right: EventBlock,
        picks_b: npt.NDArray[np.int64],
        mapped: npt.NDArray[np.int64],
        extra: dict[int, Buffer],
    ) -> list[tuple[float, Row]]:
        """Rows of one thread, each with its place in the step."""
        placed: list[tuple[float, Row]] = []
        place = -1.0
        buffer_of = self._buffer_of(extra)
        for a, b, moved in align(
            left.buffer[picks_a].tolist(),
            mapped[picks_b].tolist(),
            [tuple(pair) for pair in left.digest[picks_a].tolist()],
            [tuple(pair) for pair in right.digest[picks_b].tolist()],
        ):
            index_a = None if a is None else int(picks_a[a])
            index_b = None if b is None else int(picks_b[b])
            # An event that only b has keeps the place of the one it followed.
            place = place if index_a is None else float(index_a)
            key = int(mapped[index_b]) if index_b is not None else -1
            buffer = buffer_of(int(left.buffer[index_a]) if index_a is not None else key)
            seen_a = None if index_a is None else _seen(self._a, left, index_a)
            seen_b = None if index_b is None else _seen(self._b, right, index_b)
            block, index = (left, index_a) if index_a is not None else (right, index_b)
            assert index is not None, "a match has at least one side"
            if _is_background(seen_a, seen_b):
                if not self._is_told_apart(buffer, seen_a, seen_b):
                    continue
                moved = False
            placed.append(
                (
                    place,
                    Row(
                        step=step,
                        group=buffer.group,
                        component=buffer.component,
                        role=buffer.role,
                        subject=buffer.subject,
                        name=buffer.name,
                        occurrence=int(block.occurrence[index]),
                        location=buffer.location,
                        a=seen_a,
                        b=seen_b,
                        status=_status(seen_a, seen_b),
                        moved=moved,
                    ),
                )
            )
        return _with_shuffled(placed)

    def _buffer_of(self, extra: dict[int, Buffer]) -> "_Names":
        return _Names(self._a.buffers, extra)

    @cached_property
    def _b_to_key(self) -> tuple[npt.NDArray[np.int64], dict[int, Buffer]]:
        """Key of each buffer of b: its index in a, or a number past them where a lacks it."""
        index = {buffer.key: buffer.index for buffer in self._a.buffers}
        extra: dict[int, Buffer] = {}
        keys = np.empty(len(self._b.buffers), dtype=np.int64)
        for buffer in self._b.buffers:
            key = index.get(buffer.key)
            if key is None:
                key = len(self._a.buffers) + len(extra)
                extra[key] = buffer
            keys[buffer.index] = key
        return keys, extra

    def _is_told_apart(self, buffer: Buffer, a: Seen | None, b: Seen | None) -> bool:
        """Whether two events of a thread beside the training can be held against each other.

        In which step such an event stands is chance, so a partner may be the wrong one. Equal
        content meets; other content is only other where neither run ever has the other's.
        """
        if a is None or b is None:
            return False
        if a.digest == b.digest:
            return True
        here, there = self._background
        return (buffer.key, b.digest) not in here and (buffer.key, a.digest) not in there

    @cached_property
    def _background(self) -> tuple[set[tuple[object, object]], set[tuple[object, object]]]:
        """Everything that threads beside the training held, of either run."""
        return _held_in_background(self._a), _held_in_background(self._b)


class _Names:
    """Buffers by the key that is common to both runs."""

    def __init__(self, buffers: Sequence[Buffer], extra: dict[int, Buffer]) -> None:
        self._buffers, self._extra = buffers, extra

    def __call__(self, key: int) -> Buffer:
        return self._extra[key] if key in self._extra else self._buffers[key]


def _with_shuffled(placed: list[tuple[float, Row]]) -> list[tuple[float, Row]]:
    """Mark what stands in another order within its call: it met its partner across others."""
    latest = -1
    result = []
    for place, row in sorted(placed, key=lambda entry: entry[0]):
        if row.a is not None and row.b is not None and not row.moved:
            if row.b.sequence < latest:
                row = row.as_shuffled()
            latest = max(latest, row.b.sequence) if row.b is not None else latest
        result.append((place, row))
    return result


def _is_background(a: Seen | None, b: Seen | None) -> bool:
    return any(side is not None and EventFlag.BACKGROUND in side.flags for side in (a, b))


def _held_in_background(run: Run) -> set[tuple[object, object]]:
    held: set[tuple[object, object]] = set()
    for row in range(run.step_count):
        block = run.events(row)
        for index in np.flatnonzero(block.flags & _BACKGROUND).tolist():
            key: tuple[Group, str] = run.buffers[int(block.buffer[index])].key
            held.add((key, (int(block.digest[index, 0]), int(block.digest[index, 1]))))
    return held


def _seen(run: Run, block: EventBlock, index: int) -> Seen:
    return Seen(
        sequence=block.first + index,
        digest=(int(block.digest[index, 0]), int(block.digest[index, 1])),
        layout=run.layouts[int(block.layout[index])],
        flags=EventFlag(int(block.flags[index])),
        thread=int(block.thread[index]),
    )


def _status(a: Seen | None, b: Seen | None) -> Status:
    if a is None or b is None:
        return Status.ONE_SIDED
    return Status.EQUAL if a.digest == b.digest else Status.DIFFERS
