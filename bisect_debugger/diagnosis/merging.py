"""Origins that are one fault: what scales all gradients, and what seeds all streams.

The walk sees neither values nor commands, so it finds such a fault once for each component.
"""

from collections.abc import Callable, Sequence

from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.conditions import command_differences, seed_differences
from bisect_debugger.diagnosis.gradients import common_factor, same_factor
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.twins import Pair, Row

_Belongs = Callable[[Found, Found], bool]


def one_per_fault(pair: Pair, origins: Sequence[Found]) -> list[Found]:
    """Origins with those of one fault put together.

    Args:
        pair: the twins.
        origins: as the walk found them, in order of appearance.
    """
    found = _joined(origins, _seeded_otherwise(pair))
    return _joined(found, _scaled(pair), _as_scaling)


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
