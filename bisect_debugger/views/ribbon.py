"""The ribbon of steps x groups: every step's statuses in bytes, and the worst over a span.

Steps are filled in as they are read, in any order. A cell of the ribbon stands for one step, or,
zoomed out, for many, and then says the worst of them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.twins import Status
from bisect_debugger.twins.cells import CODES, SEVERITY, Codes


@dataclass(frozen=True, slots=True)
class RibbonCell:
    """Some steps in a row.

    Attributes:
        lo, hi: common rows ``lo:hi``.
        statuses: the worst status of each group, None where not every step was read yet.
    """

    lo: int
    hi: int
    statuses: tuple[Status | None, ...]

    @property
    def differing(self) -> tuple[Group, ...]:
        """Groups that differ in any of the steps."""
        pairs = zip(Group, self.statuses, strict=True)
        return tuple(group for group, status in pairs if status is not None and status.diverges)


class Ribbon:
    """Statuses of all common steps, a byte a step and group."""

    def __init__(self, steps: int) -> None:
        """Nothing is read yet."""
        self.steps = steps
        self._codes: Codes = np.zeros((steps, GROUP_COUNT), dtype=np.uint8)
        self._numbers = np.zeros(steps, dtype=np.int64)
        self._read = np.zeros(steps, dtype=np.bool_)

    def fill(self, lo: int, numbers: npt.NDArray[np.int64], codes: Codes) -> None:
        """Take the step numbers and codes of rows from ``lo`` on."""
        hi = min(self.steps, lo + len(codes))
        self._codes[lo:hi] = codes[: hi - lo]
        self._numbers[lo:hi] = numbers[: hi - lo]
        self._read[lo:hi] = True

    def missing(self, lo: int, hi: int, most: int) -> tuple[int, int] | None:
        """The first unread steps in ``lo:hi``, at most so many, or None where all were read."""
        lo, hi = max(0, lo), min(hi, self.steps)
        unread = ~self._read[lo:hi]
        if not unread.any():
            return None
        first = int(np.argmax(unread))
        run = unread[first : first + most]
        length = len(run) if run.all() else int(np.argmin(run))
        return lo + first, lo + first + length

    def step_number(self, row: int) -> int | None:
        """The step number of a row, or None where it was not read yet."""
        return int(self._numbers[row]) if self._read[row] else None

    @property
    def read_steps(self) -> int:
        """Steps that were read so far."""
        return int(np.count_nonzero(self._read))

    def cell(self, lo: int, hi: int) -> RibbonCell:
        """The worst of each group over some steps; unknown while a step is unread.

        What already differs is said at once: no step to come can make it equal again.
        """
        hi = min(hi, self.steps)
        worst = self._codes[lo:hi].max(axis=0)
        known = bool(self._read[lo:hi].all())
        return RibbonCell(
            lo,
            hi,
            tuple(
                SEVERITY[code - 1] if code and (known or SEVERITY[code - 1].diverges) else None
                for code in worst.tolist()
            ),
        )

    def recorded_groups(self) -> tuple[Group, ...]:
        """Groups with events in any step that was read, in causal order."""
        if not self.steps:
            return ()
        worst = self._codes.max(axis=0)
        return tuple(group for group in Group if worst[group] > CODES[Status.NOT_RECORDED])


def zoom_levels(steps: int, columns: int) -> tuple[int, ...]:
    """Steps a cell, from 1 to the whole run in so many columns: 1, 2, 5, 10, 20, ..."""
    levels, factor = [1], 1
    whole = max(1, -(-steps // max(1, columns)))
    while levels[-1] < whole:
        levels += [factor * 2, factor * 5, factor * 10]
        factor *= 10
    return tuple(level for level in levels if level < whole) + ((whole,) if whole > 1 else (1,))
