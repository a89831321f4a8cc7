"""Origins that are one fault: what changes all gradients, and what seeds all streams.

The walk sees neither values nor commands, so it finds such a fault once for each component.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from bisect_debugger.causality.constants import is_constant
from bisect_debugger.causality.names import common_ancestor
from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.conditions import command_differences, seed_differences
from bisect_debugger.diagnosis.gradients import common_factor, same_factor
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.twins import Pair, Row

_Belongs = Callable[[Found, Found], bool]


def one_per_fault(
    pair: Pair, origins: Sequence[Found], line_of: Callable[[Found], str]
) -> list[Found]:
    """Origins with those of one fault put together.

    Args:
        pair: the twins.
        origins: as the walk found them, in order of appearance.
        line_of: the line where an origin began, or empty where no operators were recorded.
    """
    found = _joined(origins, _seeded_otherwise(pair))
    found = _joined(found, _scaled(pair), _as_scaling)
    return _changed_together(pair, found, line_of)


def _changed_together(
    pair: Pair, origins: Sequence[Found], line_of: Callable[[Found], str]
) -> list[Found]:
    """Gradients that one place between backward and the optimizer changed.

    It is one place where it changed all that there are, or where operators tell its line.
    """
    gone: set[int] = set()
    steps = Counter(found.row.step for found in origins if found.row.group is Group.GRAD)
    for step in (step for step, count in steps.items() if count > 1):
        several = [f for f in origins if f.row.group is Group.GRAD and f.row.step == step]
        everything = _all_differ(pair, step)
        places: dict[str, list[Found]] = {}
        for found in several:
            places.setdefault("" if everything else line_of(found), []).append(found)
        for line, alike in places.items():
            if len(alike) == 1 or not (everything or line):
                for found in alike:
                    found.beside = len(several) - 1
                continue
            first, *others = alike
            _as_of_all(first, others)
            first.shared = f"{printable(line)} changed them"
            if everything:
                first.shared = "all gradients of the step differ, from equal contributions"
            for other in others:
                _absorb(first, other)
                gone.add(id(other))
    return [found for found in origins if id(found) not in gone]


def _as_of_all(first: Found, others: Sequence[Found]) -> None:
    """What changes several gradients is said of what holds them all, or else most of them."""
    holder = first.component
    roots: Counter[str] = Counter()
    for found in (first, *others):
        holder = holder and common_ancestor(holder, found.component)
        roots[found.component.partition(".")[0]] += 1
        found.contaminated = {found.component: found.row, **found.contaminated}
    first.component = holder or roots.most_common(1)[0][0]


def _all_differ(pair: Pair, step: int) -> bool:
    """No gradient that the optimizer saw in the step is equal, but for constant ones."""
    at = pair.row_of_step(step)
    rows = pair.rows(at) if at is not None else ()
    return not any(
        row.group is Group.GRAD and not row.status.diverges and not is_constant(row) for row in rows
    )


def _joined(
    origins: Sequence[Found], belongs: _Belongs, prepare: Callable[[Found], None] | None = None
) -> list[Found]:
    """Origins, each with those that belong to it; an origin may belong to itself."""
    result: list[Found] = []
    for origin in origins:
        if prepare is not None and belongs(origin, origin):
            prepare(origin)
        first = next((found for found in result if belongs(found, origin)), None)
        if first is None:
            result.append(origin)
        else:
            _absorb(first, origin)
    return result


def _absorb(first: Found, other: Found) -> None:
    first.merged.append(other)
    for component, row in other.contaminated.items():
        first.contaminated.setdefault(component, row)
    first.first_reached = _earlier(first.first_reached, other.first_reached)
    first.first_gradient = _earlier(first.first_gradient, other.first_gradient)
    first.steps |= other.steps
    first.reached_training |= other.reached_training


def _earlier(one: Row | None, other: Row | None) -> Row | None:
    rows = [row for row in (one, other) if row is not None]
    return min(rows, key=lambda row: (row.step, row.any_side.sequence), default=None)


def _seeded_otherwise(pair: Pair) -> _Belongs:
    """Streams that differ from the first are one fault where the runs were told other seeds."""
    facts = pair.a.facts, pair.b.facts
    told = bool(command_differences(*facts) or seed_differences(*facts))

    def first_of_a_stream(found: Found) -> bool:
        row = found.row
        is_first = row.group is Group.RNG and row.step == INIT_STEP and row.a is not None
        # A stream that nobody draws from differs for reasons of its own.
        return is_first and found.reached_training

    return lambda one, other: told and first_of_a_stream(one) and first_of_a_stream(other)


def _scaled(pair: Pair) -> _Belongs:
    """Gradients of one step that differ by one factor from equal contributions."""
    factors: dict[int, float | None] = {}

    def factor(found: Found) -> float | None:
        if id(found) not in factors:
            factors[id(found)] = common_factor(pair, found.row)
        return factors[id(found)]

    def belongs(one: Found, other: Found) -> bool:
        if one.row.group is not Group.GRAD or one.row.step != other.row.step:
            return False
        left, right = factor(one), factor(other)
        return left is not None and right is not None and same_factor(left, right, one.row)

    return belongs


def _as_scaling(found: Found) -> None:
    """What scales gradients is no part of the model: the module is what it reached first."""
    found.contaminated = {found.component: found.row, **found.contaminated}
    found.component = "optimizer"
    found.first_reached = found.first_gradient = found.row
