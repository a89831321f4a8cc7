"""Which event of one run belongs to which event of the other, within one step.

Same sequence of buffers: position decides. Otherwise it is a sequence alignment, first on
(buffer, digest) and then on the buffer alone, so that a missing call is a finding at its
place and what follows it still meets its partner.
"""

from collections import deque
from collections.abc import Sequence
from difflib import SequenceMatcher

from bisect_debugger.twins.edit import Stretch, shortest_edit

Match = tuple[int | None, int | None, bool]
"""(index in a, index in b, moved); one side None where only one run has the event."""

Token = tuple[int, object]
"""Identity of the buffer, and the digest."""

ALIGNMENT_LIMIT = 2_000
"""Above this many events in disorder, the shortest edit replaces the sequence alignment, whose
cost grows with the square."""

EDIT_LIMIT = 400
"""Most missing and extra events that a shortest edit may have; beyond it, events meet by
(buffer, occurrence). The edit costs about (events + limit) x limit steps."""


def align(
    keys_a: Sequence[int],
    keys_b: Sequence[int],
    digests_a: Sequence[object],
    digests_b: Sequence[object],
) -> list[Match]:
    """Align two event sequences.

    Args:
        keys_a: identity of each event's buffer in the first run, common to both runs.
        keys_b: the same for the second run.
        digests_a: content digest of each event of the first run.
        digests_b: the same for the second run.

    Returns:
        Matches in the execution order of the first run; an event that only the second run
        has stands after the event it followed there.
    """
    if list(keys_a) == list(keys_b):
        return [(index, index, False) for index in range(len(keys_a))]
    tokens_a = list(zip(keys_a, digests_a, strict=True))
    tokens_b = list(zip(keys_b, digests_b, strict=True))
    head = _common_prefix(tokens_a, tokens_b)
    tail = _common_suffix(tokens_a, tokens_b, head)
    end_a, end_b = len(keys_a) - tail, len(keys_b) - tail
    matches: list[Match] = [(index, index, False) for index in range(head)]
    middle = _by_sequence(tokens_a[head:end_a], tokens_b[head:end_b])
    matches += [
        (a if a is None else a + head, b if b is None else b + head, moved)
        for a, b, moved in middle
    ]
    matches += [(end_a + offset, end_b + offset, False) for offset in range(tail)]
    return matches


def _common_prefix(a: Sequence[Token], b: Sequence[Token]) -> int:
    length = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        length += 1
    return length


def _common_suffix(a: Sequence[Token], b: Sequence[Token], head: int) -> int:
    length = 0
    limit = min(len(a), len(b)) - head
    while length < limit and a[-1 - length] == b[-1 - length]:
        length += 1
    return length


def _by_sequence(a: Sequence[Token], b: Sequence[Token]) -> list[Match]:
    matches: list[Match] = []
    keys_a, keys_b = [key for key, _ in a], [key for key, _ in b]
    # Without a short edit of the contents, the whole is a stretch that only buffers align.
    for equal, lo_a, hi_a, lo_b, hi_b in _stretches(a, b) or [(False, 0, len(a), 0, len(b))]:
        if equal:
            matches += [(lo_a + k, lo_b + k, False) for k in range(hi_a - lo_a)]
        else:
            matches += _gap(keys_a[lo_a:hi_a], keys_b[lo_b:hi_b], lo_a, lo_b)
    return _join_moved(matches, keys_a, keys_b)


def _gap(keys_a: list[int], keys_b: list[int], base_a: int, base_b: int) -> list[Match]:
    """Align a stretch without equal content by the buffers alone."""
    stretches = _stretches(keys_a, keys_b)
    if stretches is None:
        return [
            (a if a is None else a + base_a, b if b is None else b + base_b, moved)
            for a, b, moved in _by_occurrence(keys_a, keys_b)
        ]
    matches: list[Match] = []
    for equal, lo_a, hi_a, lo_b, hi_b in stretches:
        if equal:
            matches += [(base_a + lo_a + k, base_b + lo_b + k, False) for k in range(hi_a - lo_a)]
        else:
            matches += [(base_a + index, None, False) for index in range(lo_a, hi_a)]
            matches += [(None, base_b + index, False) for index in range(lo_b, hi_b)]
    return matches


def _stretches(a: Sequence[object], b: Sequence[object]) -> list[Stretch] | None:
    """Equal and other stretches in order; None where they are too long and too different."""
    if max(len(a), len(b)) <= ALIGNMENT_LIMIT:
        opcodes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        return [(tag == "equal", *span) for tag, *span in opcodes]  # type: ignore[misc]
    return shortest_edit(a, b, EDIT_LIMIT)


def _join_moved(matches: list[Match], keys_a: Sequence[int], keys_b: Sequence[int]) -> list[Match]:
    """Pair what only a has with what only b has where the buffer is the same: it moved."""
    waiting: dict[int, list[int]] = {}
    for a, b, _ in matches:
        if a is None and b is not None:
            waiting.setdefault(keys_b[b], []).append(b)
    taken: set[int] = set()
    joined: list[Match] = []
    for a, b, moved in matches:
        partners = waiting.get(keys_a[a]) if a is not None and b is None else None
        if partners:
            partner = partners.pop(0)
            taken.add(partner)
            joined.append((a, partner, True))
        else:
            joined.append((a, b, moved))
    return [match for match in joined if match[0] is not None or match[1] not in taken]


def _by_occurrence(keys_a: Sequence[int], keys_b: Sequence[int]) -> list[Match]:
    places: dict[int, deque[int]] = {}
    for index, key in enumerate(keys_b):
        places.setdefault(key, deque()).append(index)
    matches: list[Match] = []
    latest = -1
    for index, key in enumerate(keys_a):
        partners = places.get(key)
        if not partners:
            matches.append((index, None, False))
            continue
        partner = partners.popleft()
        # What stands before the partner of an earlier event has moved.
        matches.append((index, partner, partner < latest))
        latest = max(latest, partner)
    matches += [(None, index, False) for rest in places.values() for index in rest]
    return matches
