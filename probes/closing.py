"""Closed steps on their way to the tables: folded several at once.

Folding is a few dozen short calls of numpy and xxhash. Right behind an optimizer, whose work has
driven all of them out of the processor's caches, they take several times as long as one step after
the other. A step's digests are there at once for whoever asks for them.
"""

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.digests import chain, chain_groups
from bisect_debugger.format.groups import GROUP_COUNT
from probes.folding import Folding
from probes.tables import EventTable, Table, halves
from probes.threads import ThreadNumbers

STEPS_AT_ONCE = 16
"""Most steps that wait to be folded."""

BYTES_AT_ONCE = 128 << 10
"""Bytes of events from which on none waits: of long steps each is folded when it is closed."""


class ClosedStep:
    """One step that was closed.

    Attributes:
        packed: its events as rows.
        facts: its number, seconds since the beginning, number of the optimizer, and whether one
            closed it.
        stepping: number of the thread that stepped the optimizer.
        groups: (GROUP_COUNT,) digest of each group, once the step is folded.
    """

    __slots__ = ("facts", "groups", "packed", "stepping")

    def __init__(
        self, packed: bytearray, facts: tuple[int, float, int, bool], stepping: int
    ) -> None:
        """Not folded yet."""
        self.packed, self.facts, self.stepping = packed, facts, stepping
        self.groups: npt.NDArray[np.uint64] | None = None


class ClosedSteps:
    """Takes closed steps and brings them into the tables. To be called under the writer's lock."""

    def __init__(
        self, threads: ThreadNumbers, events: EventTable, steps: Table, *, keeps_events: bool
    ) -> None:
        """Begin with no step.

        Args:
            threads: numbers the threads; the calling one is taken to step the optimizer until
                another does.
            events: where events go.
            steps: where rows of steps go.
            keeps_events: events are written, and not their digests only.
        """
        self.folding = Folding(threads)
        self._threads, self._stepping = threads, threads.current()
        self._events, self._steps, self._keeps_events = events, steps, keeps_events
        self._waiting: list[ClosedStep] = []
        self._waiting_bytes = 0
        self._is_folding = False
        self.last: int | None = None
        """The step that was taken last."""
        # Over all steps that are in the tables; changes in one assignment.
        self._running = (bytes(16), np.zeros(GROUP_COUNT, dtype=np.uint64))

    @property
    def wait(self) -> bool:
        """Some steps are not in the tables yet."""
        return bool(self._waiting)

    def close(
        self, packed: bytearray, number: int, seconds: float, optimizer: int, closed: bool
    ) -> ClosedStep:
        """Take one more step.

        Args:
            packed: its events as rows; flags are set in place.
            number: the step, -1 for init.
            seconds: since the recording began.
            optimizer: which optimizer closed it.
            closed: the calling thread stepped an optimizer.
        """
        if closed:
            self._stepping = self._threads.current()
        step = ClosedStep(packed, (number, seconds, optimizer, closed), self._stepping)
        # Nothing is called between these two, where an interrupt could come.
        self._waiting += [step]
        self.last = number
        self._waiting_bytes += len(packed)
        if len(self._waiting) >= STEPS_AT_ONCE or self._waiting_bytes >= BYTES_AT_ONCE:
            self.fold()
        return step

    def fold(self) -> None:
        """Bring what waits into the tables.

        What cannot be folded is dropped with the error, so that the file can still be ended.
        """
        # A signal handler that closes a step in the middle of this leaves it waiting.
        if self._is_folding:
            return
        self._is_folding = True
        try:
            self._fold(self._waiting[:])
        except Exception:
            self._waiting, self._waiting_bytes = [], 0
            raise
        finally:
            self._is_folding = False

    def _fold(self, several: list[ClosedStep]) -> None:
        running, running_groups = self._running
        first, rows, events = self._events.rows, [], bytearray()
        for step in several:
            own, own_groups = self.folding.step(step.packed, self._events.row, step.stepping)
            step.groups = own_groups
            running = chain(running, own)
            running_groups = chain_groups(running_groups, own_groups)
            if self._keeps_events:
                events += step.packed
            end = self._events.rows + len(events) // self._events.row.itemsize
            number, *facts = step.facts
            digests = (halves(own), halves(running), own_groups, running_groups)
            rows.append((number, first, end - first, *facts, *digests))
            first = end
        left = self._waiting[len(several) :]
        left_bytes = sum(len(step.packed) for step in left)
        # Python looks for an interrupt where something is called, and nothing is called from here
        # on: either all of it happens, or the steps wait as they were.
        self._events.waiting += events
        self._steps.waiting += rows
        self._running = running, running_groups
        self._waiting = left
        self._waiting_bytes = left_bytes
