"""The first step that differs, by binary search over running digests.

A running digest covers every step up to its own, so "equal so far" is monotone: once the
running digests differ they stay different. Finding the change reads O(log steps) rows.
"""

from collections.abc import Callable

from bisect_debugger.format.groups import Group
from bisect_debugger.runs import Run


def first_true(predicate: Callable[[int], bool], lo: int, hi: int) -> int:
    """The smallest i in ``lo..hi-1`` with ``predicate(i)``, or ``hi`` where there is none.

    Args:
        predicate: False up to some index and True from there on.
        lo: first index.
        hi: one past the last index.
    """
    # The last index decides most calls: equal runs cost one look instead of log2(n).
    if lo >= hi or not predicate(hi - 1):
        return hi
    hi -= 1
    while lo < hi:
        # Invariant: predicate is True at hi, and False at every index below lo.
        middle = (lo + hi) // 2
        if predicate(middle):
            hi = middle
        else:
            lo = middle + 1
    return hi


class FirstDifferences:
    """First rows in which running digests differ: of everything, and of each group.

    A row that was looked at for one group is not read again for another, and groups that part in
    one step are found by the same looks.
    """

    def __init__(self, a: Run, b: Run, rows: int) -> None:
        """Search two runs of which row i is the same step in both.

        Args:
            a: one run.
            b: the other one.
            rows: how many rows both have.
        """
        self._a, self._b, self._rows = a, b, rows
        self._at_all: dict[int, bool] = {}
        self._of_groups: dict[int, tuple[bool, ...]] = {}

    def of(self, group: Group | None) -> int | None:
        """The first row that differs, in a group or (None) in anything; None where none does."""
        row = first_true(
            self._differs if group is None else lambda row: self._groups_differ(row)[group],
            0,
            self._rows,
        )
        return row if row < self._rows else None

    def _differs(self, row: int) -> bool:
        if row not in self._at_all:
            self._at_all[row] = self._a.running_digest(row) != self._b.running_digest(row)
        return self._at_all[row]

    def _groups_differ(self, row: int) -> tuple[bool, ...]:
        if row not in self._of_groups:
            apart = self._a.running_group_digest(row) != self._b.running_group_digest(row)
            self._of_groups[row] = tuple(apart.tolist())
        return self._of_groups[row]
