"""The first step that differs, by binary search over running digests.

A running digest covers every step up to its own, so "equal so far" is monotone: once the
running digests differ they stay different. Finding the change reads O(log steps) rows.
"""

from collections.abc import Callable


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
