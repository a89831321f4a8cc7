"""The shortest edit between two long sequences, in time that grows with what differs.

Source: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986).
"""

from collections.abc import Sequence

Stretch = tuple[bool, int, int, int, int]
"""(equal, start in a, end in a, start in b, end in b)."""


def shortest_edit(a: Sequence[object], b: Sequence[object], limit: int) -> list[Stretch] | None:
    """Equal and other stretches in order, or None where the edit has more than ``limit`` steps.

    Args:
        a: first sequence.
        b: second sequence.
        limit: most missing and extra elements together.
    """
    trace: list[dict[int, int]] = []
    furthest = {1: 0}
    for edits in range(limit + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(furthest, diagonal, edits)
            # Invariant: x - y is the diagonal, and x is as far as these edits lead on it.
            while x < len(a) and 0 <= x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                return _stretches(_pairs(trace, len(a), len(b)), len(a), len(b))
    return None


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    """Where a diagonal is entered: from the one below, or from the one above."""
    if _is_down(furthest, diagonal, edits):
        return furthest.get(diagonal + 1, -1)
    return furthest.get(diagonal - 1, -1) + 1


def _pairs(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Indices of equal elements along the path, walked back from the end."""
    found: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[edits], x - y
        start = _step(furthest, diagonal, edits) if edits else 0
        while x > start:
            x, y = x - 1, y - 1
            found.append((x, y))
        if edits:
            x, y = (x, y - 1) if _is_down(furthest, diagonal, edits) else (x - 1, y)
    return found[::-1]


def _is_down(furthest: dict[int, int], diagonal: int, edits: int) -> bool:
    below, above = furthest.get(diagonal - 1, -1), furthest.get(diagonal + 1, -1)
    return diagonal == -edits or (diagonal != edits and below < above)


def _stretches(pairs: list[tuple[int, int]], end_a: int, end_b: int) -> list[Stretch]:
    stretches: list[Stretch] = []
    at_a = at_b = 0
    index = 0
    while index < len(pairs):
        start_a, start_b = pairs[index]
        if (start_a, start_b) != (at_a, at_b):
            stretches.append((False, at_a, start_a, at_b, start_b))
        length = 1
        while index + length < len(pairs) and pairs[index + length] == (
            start_a + length,
            start_b + length,
        ):
            length += 1
        stretches.append((True, start_a, start_a + length, start_b, start_b + length))
        at_a, at_b, index = start_a + length, start_b + length, index + length
    if (at_a, at_b) != (end_a, end_b):
        stretches.append((False, at_a, end_a, at_b, end_b))
    return stretches
