"""Random streams within one step: who could have drawn what.

A stream's state is recorded at boundaries. If it is the same before and after an event,
nothing was drawn between, and a difference of the stream cannot explain the event.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.twins.model import Row


class Streams:
    """Where each random stream moved, over the events of one step."""

    def __init__(
        self, rows: Sequence[Row], before: dict[str, Row], following: Sequence[Row] = ()
    ) -> None:
        """Index the boundaries.

        Args:
            rows: the step's rows in execution order.
            before: the last boundary row of each stream before this step, by component.
            following: rows of the next step, where this one ends without a boundary.
        """
        self._before = before
        self._after: dict[str, Row] = {}
        for row in following:
            if row.group is Group.RNG:
                self._after.setdefault(row.component, row)
        self._boundaries: dict[str, list[tuple[int, Row]]] = {}
        for index, row in enumerate(rows):
            if row.group is Group.RNG:
                self._boundaries.setdefault(row.component, []).append((index, row))

    def last(self) -> dict[str, Row]:
        """The last boundary of each stream, to hand to the next step."""
        latest = dict(self._before)
        for stream, boundaries in self._boundaries.items():
            latest[stream] = boundaries[-1][1]
        return latest

    def drew_around(self, stream: str, index: int) -> bool | None:
        """Whether either run drew from the stream around the event at this index.

        Returns:
            None where no boundary was recorded on one of the sides.
        """
        boundaries = self._boundaries.get(stream, [])
        earlier = [row for place, row in boundaries if place < index]
        later = [row for place, row in boundaries if place > index]
        if not later and stream in self._after:
            later = [self._after[stream]]
        # Draws for a batch may fall before the step's first boundary, so the last state of
        # the step before counts as the earlier side too.
        previous = earlier[-1] if earlier else self._before.get(stream)
        if previous is None or not later:
            return None
        return moved(previous, later[0])

    def drew_in_step(self, stream: str) -> bool:
        """Whether either run drew from the stream since the end of the last step, or may have."""
        boundaries = self._boundaries.get(stream)
        if boundaries and stream not in self._before and boundaries[0][1].step != INIT_STEP:
            # Of what was drawn before the step's first boundary nothing was recorded.
            return True
        states = [row for _, row in self._boundaries.get(stream, [])]
        if stream in self._before:
            states.insert(0, self._before[stream])
        return any(moved(one, other) for one, other in pairwise(states))

    def drew_since_last_step(self, stream: str, index: int) -> bool | None:
        """Whether the stream moved between the end of the last step and the next boundary.

        Returns:
            None where no earlier step tells, and no boundary of this one.
        """
        boundaries = self._boundaries.get(stream, [])
        later = [row for place, row in boundaries if place > index]
        earlier = [row for place, row in boundaries if place < index]
        previous = self._before.get(stream)
        if not (later or earlier):
            return None
        last = later[0] if later else earlier[-1]
        if previous is None:
            # A batch is drawn before the step's first boundary: of that nothing was recorded.
            return True if earlier and moved(earlier[0], last) else None
        return moved(previous, last)


def with_what_follows(
    steps: Iterable[Sequence[Row]],
) -> Iterator[tuple[Sequence[Row], Sequence[Row]]]:
    """Every step's rows; with those of init also the next one's, as init ends at no boundary."""
    iterator = iter(steps)
    for rows in iterator:
        following: Sequence[Row] = ()
        if rows and rows[0].step == INIT_STEP:
            following = next(iterator, ())
        yield rows, following
        if following:
            yield following, ()


def moved(before: Row, after: Row) -> bool:
    """The stream's state changed between two boundaries, in either run."""
    return _digest(before, True) != _digest(after, True) or _digest(before, False) != _digest(
        after, False
    )


def _digest(row: Row, first: bool) -> tuple[int, int] | None:
    side = row.a if first else row.b
    return side.digest if side else None
