"""Whether both runs hold the same samples, in another order or under other numbers.

One batch of another order looks like another draw: its entries differ. Over several steps the same
entries come again elsewhere, and where things were numbered otherwise, the numbers of one run map
onto those of the other one to one. Both are told from the values, which a draw would not lead to.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Pair, Row

_FED = (Group.REPLAY, Group.DATA)
_STEPS = 8
"""Steps whose batches are looked through; values are kept for few of them anyway."""

_FEWEST = 4
"""Fewest entries, or numbers, that are evidence: fewer coincide by accident."""

_SHARE = 0.15
"""Share of a run's entries that the other one holds elsewhere. An order of its own leaves so many
in few steps of a small set; noise leaves none."""

_IN_A_ROW = 3
"""Fewest different batches that follow one another in both runs before one is said to be ahead.
One fewer where the batches before were equal: in another order two of them may well meet."""

_REPEATS = 1.5
"""How often each number is met on average before "one to one" means anything."""


def rearrangement(pair: Pair, row: Row) -> str:
    """How both runs hold the same samples although this event differs.

    Args:
        pair: the twins.
        row: an origin.

    Returns:
        A clause, or empty where they do not, or where that was not recorded.
    """
    if row.group not in _FED:
        return ""
    rows = tuple(_same_buffer(pair, row))
    return (
        _other_steps(rows) or renumbered(pair, row) or _columns(pair, row) or _elsewhere(pair, rows)
    )


def shifted(pair: Pair, row: Row) -> str:
    """How one run is a fixed number of batches ahead, as if it had left some out; or empty."""
    if row.group not in _FED:
        return ""
    rows = [other for other in _same_buffer(pair, row) if other.a and other.b]
    first = [other.a.digest for other in rows if other.a]
    second = [other.b.digest for other in rows if other.b]
    fewest = _IN_A_ROW if _is_the_first(pair, row) else _IN_A_ROW - 1
    for ahead in range(1, len(rows) - 1):
        for one, other, which in ((first, second, "second"), (second, first, "first")):
            if one[ahead:] == other[: len(one) - ahead] and len(set(one[ahead:])) >= fewest:
                return f"the {which} run is {ahead} batches ahead over {len(one) - ahead} steps"
    return ""


def entries(values: npt.NDArray[np.generic]) -> npt.NDArray[np.void]:
    """The entries along the first axis as plain bytes."""
    rows = np.ascontiguousarray(values).reshape(len(values), -1)
    if not rows.shape[1]:
        return np.zeros(len(values), dtype="V1")
    found: npt.NDArray[np.void] = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    return found.reshape(-1)


def _same_buffer(pair: Pair, row: Row) -> Iterator[Row]:
    """The buffer in this step and the following ones."""
    first = pair.row_of_step(row.step)
    if first is None:
        return
    for step_row in range(first, min(first + _STEPS, pair.step_count)):
        for other in pair.rows(step_row):
            if other.key == row.key:
                yield other


def _is_the_first(pair: Pair, row: Row) -> bool:
    """No batch came before."""
    steps = [run.first_step_of(row.key) for run in (pair.a, pair.b)]
    return row.step <= min((step for step in steps if step is not None), default=row.step)


def _other_steps(rows: Sequence[Row]) -> str:
    """Whole batches that both runs hold, in another step."""
    sides = [[row.a for row in rows if row.a], [row.b for row in rows if row.b]]
    if any(seen.layout.elements < _FEWEST for side in sides for seen in side):
        return ""
    left, right = ({seen.digest for seen in side} for side in sides)
    shared = len(left & right)
    if shared < 2 or shared * 2 < min(len(left), len(right)):
        return ""
    return f"{shared} of {len(left)} batches of the first run are met in the second in other steps"


def renumbered(pair: Pair, row: Row) -> str:
    """How the numbers of one run map onto those of the other one to one; empty where not."""
    if row.group not in _FED:
        return ""
    left, right = pair.values(row)
    if left is None or right is None or left.shape != right.shape or left.dtype.kind not in "iu":
        return ""
    pairs = np.unique(np.stack([left.reshape(-1), right.reshape(-1)], 1), axis=0)
    numbers = len(np.unique(left)), len(np.unique(right))
    one_to_one = len(pairs) == numbers[0] == numbers[1]
    if not one_to_one or numbers[0] < _FEWEST - 1 or left.size < _REPEATS * numbers[0]:
        return ""
    return (
        f"{numbers[0]} numbers of the first run stand for as many of the second, one to one, in "
        f"{left.size} places"
    )


def _columns(pair: Pair, row: Row) -> str:
    """The same columns in another order."""
    left, right = pair.values(row)
    if left is None or right is None or left.shape != right.shape or left.ndim != 2:
        return ""
    if left.dtype != right.dtype:
        return ""
    count = left.shape[1]
    if len(left) < _FEWEST or count < 2 or len(np.unique(left, axis=1).T) < count:
        # Columns that are alike have no order.
        return ""
    if not (np.sort(entries(left.T)) == np.sort(entries(right.T))).all():
        return ""
    return f"the {count} columns of both runs are the same, in another order"


def _elsewhere(pair: Pair, rows: Sequence[Row]) -> str:
    """Entries of one run that the other holds at another place of these steps."""
    left: list[bytes] = []
    right: list[bytes] = []
    moved: list[tuple[bytes, bytes]] = []
    for row in rows:
        a, b = (_entries_of(values) for values in pair.values(row))
        left, right = left + a, right + b
        moved += [(one, other) for one, other in zip(a, b, strict=False) if one != other]
    sets = {one for one, _ in moved}, {other for _, other in moved}
    shared = len(sets[0] & sets[1])
    if shared < max(_FEWEST, _SHARE * len(sets[0])):
        return ""
    drawn_again = len({*left}) < len(left) or len({*right}) < len(right)
    if drawn_again and sorted(left) != sorted(right):
        # A draw with replacement meets entries twice; an order does not.
        return ""
    return (
        f"{shared} of {len(sets[0])} entries of the first run are met in the second at another "
        "place"
    )


def _entries_of(values: npt.NDArray[np.generic] | None) -> list[bytes]:
    if values is None or not values.ndim or not values.size or not _tells(values):
        return []
    return [entry.tobytes() for entry in entries(values)]


def _tells(values: npt.NDArray[np.generic]) -> bool:
    """Entries are not equal by accident: they are long, or every one is another number."""
    if values.dtype.kind == "b":
        return False
    if values.ndim > 1 and values[0].size >= _FEWEST:
        return True
    return len(np.unique(values.reshape(len(values), -1), axis=0)) == len(values)
