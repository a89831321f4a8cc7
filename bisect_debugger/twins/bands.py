"""Steps x groups at any zoom: how a stretch of steps compares, from the digests of its groups.

Nothing per event is read, and a stretch only as far as it has something left to tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.twins.model import Status
from bisect_debugger.twins.pair import Pair
from bisect_debugger.twins.ranks import HIGHEST, Ranks, statuses_of_ranks

FIRST_LOOK = 64
"""Rows of a stretch that are read first: enough where the steps of a run are alike."""

BLOCK = 4096
"""Most rows per read."""


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of common steps, e.g. one column of a timeline.

    Attributes:
        first_row, last_row: common rows, both of them in it.
        first_step, last_step: their step numbers.
        statuses: a status per group: DIFFERS where any step of it differs, then ONE_SIDED, then
            EQUAL, and NOT_RECORDED where no step has events of the group.
    """

    first_row: int
    last_row: int
    first_step: int
    last_step: int
    statuses: tuple[Status, ...]

    @property
    def diverges(self) -> bool:
        """Some group of it does."""
        return bool(self.differing)

    @property
    def differing(self) -> tuple[Group, ...]:
        """Groups that differ in any of the steps."""
        pairs = zip(Group, self.statuses, strict=True)
        return tuple(group for group, status in pairs if status.diverges)


def bands(pair: Pair, lo: int, hi: int, columns: int) -> Iterator[Band]:
    """Common rows ``lo:hi`` in at most ``columns`` stretches of nearly equal length, in order.

    Lazy, so that a long run can be left in the middle. Reads at most the group digests of every
    row, in blocks; where all groups occur in every step, `FIRST_LOOK` rows of each stretch.

    Args:
        pair: the twins.
        lo: first common row.
        hi: one past the last; clipped to what is there.
        columns: most stretches, at least 1.
    """
    lo, hi = max(lo, 0), min(hi, pair.step_count)
    count = min(max(columns, 1), hi - lo)
    recorded = {buffer.group for buffer in (*pair.a.buffers, *pair.b.buffers)}
    edges = [lo + (hi - lo) * k // count for k in range(count + 1)] if count > 0 else []
    for first, end in pairwise(edges):
        ranks = _stretch(pair, first, end, recorded)
        yield Band(
            first,
            end - 1,
            pair.step_number(first),
            pair.step_number(end - 1),
            statuses_of_ranks(ranks),
        )


def _stretch(pair: Pair, first: int, end: int, recorded: set[Group]) -> Ranks:
    """The rank of each group over a stretch; stops as soon as nothing can change any more."""
    highest = [_most(pair, group, end) if group in recorded else 0 for group in Group]
    ranks = np.zeros(GROUP_COUNT, dtype=np.int8)
    lo, step = first, FIRST_LOOK
    while lo < end and (ranks < highest).any():
        hi = min(lo + step, end)
        for block in pair.ranks(lo, hi):
            ranks = np.maximum(ranks, block)
        lo, step = hi, BLOCK
    return ranks


def _most(pair: Pair, group: Group, end: int) -> int:
    """The highest rank that a group can have before a row: none differs before its first."""
    row = pair.first_different_row_of(group)
    return 1 if row is None or row >= end else HIGHEST
