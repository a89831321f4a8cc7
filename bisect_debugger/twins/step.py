"""One common step of twins, aligned: which event of one run meets which of the other."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Buffer, EventBlock, Run
from bisect_debugger.twins.align import Match, align
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
        seen = (_seen(self._a, left), _seen(self._b, right))
        buffer_of = _Names(self._a.buffers, extra)
        placed: list[tuple[float, Row]] = []
        # Not np.union1d, which imports the masked arrays.
        for thread in sorted({*left.thread.tolist(), *right.thread.tolist()}):
            picks_a = np.flatnonzero((left.thread == thread) & keep[0])
            picks_b = np.flatnonzero((right.thread == thread) & keep[1])
            keys = (left.buffer[picks_a].astype(np.int64), mapped[picks_b])
            if np.array_equal(*keys):
                matches: list[Match] = [
                    (a, b, False) for a, b in zip(picks_a.tolist(), picks_b.tolist(), strict=True)
                ]
            else:
                picks_a = picks_a[in_canonical_order(keys[0].tolist(), buffer_of)]
                picks_b = picks_b[in_canonical_order(keys[1].tolist(), buffer_of)]
                matches = _aligned(left, picks_a, right, picks_b, mapped)
            placed += self._thread_rows(step, left, right, matches, seen, mapped, buffer_of)
        placed.sort(key=lambda entry: entry[0])
        return [row for _, row in placed]

    def _thread_rows(
        self,
        step: int,
        left: EventBlock,
        right: EventBlock,
        matches: Sequence[Match],
        seen: tuple[list[Seen], list[Seen]],
        mapped: npt.NDArray[np.int64],
        buffer_of: "_Names",
    ) -> list[tuple[float, Row]]:
        """Rows of one thread, each with its place in the step."""
        placed: list[tuple[float, Row]] = []
        place = -1.0
        keys_a, keys_b = left.buffer.tolist(), mapped.tolist()
        calls_a, calls_b = left.occurrence.tolist(), right.occurrence.tolist()
        beside_a, beside_b = ((block.flags & _BACKGROUND).tolist() for block in (left, right))
        for index_a, index_b, moved in matches:
            # An event that only b has keeps the place of the one it followed.
            if index_a is not None:
                place = float(index_a)
                key, occurrence = keys_a[index_a], calls_a[index_a]
            else:
                assert index_b is not None, "a match has at least one side"
                key, occurrence = keys_b[index_b], calls_b[index_b]
            a = None if index_a is None else seen[0][index_a]
            b = None if index_b is None else seen[1][index_b]
            buffer = buffer_of(key)
            if (index_a is not None and beside_a[index_a]) or (
                index_b is not None and beside_b[index_b]
            ):
                if not self._is_told_apart(buffer, a, b):
                    continue
                moved = False
            row = Row(
                step,
                buffer.group,
                buffer.component,
                buffer.role,
                buffer.subject,
                buffer.name,
                occurrence,
                buffer.location,
                a,
                b,
                _status(a, b),
                moved,
            )
            placed.append((place, row))
        return _with_shuffled(placed)

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


def _aligned(
    left: EventBlock,
    picks_a: npt.NDArray[np.int64],
    right: EventBlock,
    picks_b: npt.NDArray[np.int64],
    mapped: npt.NDArray[np.int64],
) -> list[Match]:
    """Matches of picked events, as their indices in the step."""
    return [
        (None if a is None else int(picks_a[a]), None if b is None else int(picks_b[b]), moved)
        for a, b, moved in align(
            left.buffer[picks_a].tolist(),
            mapped[picks_b].tolist(),
            [tuple(pair) for pair in left.digest[picks_a].tolist()],
            [tuple(pair) for pair in right.digest[picks_b].tolist()],
        )
    ]


def _held_in_background(run: Run) -> set[tuple[object, object]]:
    held: set[tuple[object, object]] = set()
    for row in range(run.step_count):
        block = run.events(row)
        for index in np.flatnonzero(block.flags & _BACKGROUND).tolist():
            key: tuple[Group, str] = run.buffers[int(block.buffer[index])].key
            held.add((key, (int(block.digest[index, 0]), int(block.digest[index, 1]))))
    return held


def _seen(run: Run, block: EventBlock) -> list[Seen]:
    """The events of a step, one side each."""
    flags = {value: EventFlag(value) for value in set(block.flags.tolist())}
    layouts = run.layouts
    return [
        Seen(block.first + index, (high, low), layouts[layout], flags[flag], thread)
        for index, ((high, low), layout, flag, thread) in enumerate(
            zip(
                block.digest.tolist(),
                block.layout.tolist(),
                block.flags.tolist(),
                block.thread.tolist(),
                strict=True,
            )
        )
    ]


def _status(a: Seen | None, b: Seen | None) -> Status:
    if a is None or b is None:
        return Status.ONE_SIDED
    return Status.EQUAL if a.digest == b.digest else Status.DIFFERS
