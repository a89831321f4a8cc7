"""The events of one step as text: what the UI's Buffers screen shows."""

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.metrics import Difference
from bisect_debugger.twins import Pair, Row, Status

ROWS_SHOWN = 60
_GROUP_WIDTH = max(len(group.label) for group in Group)


def render_rows(pair: Pair, common_row: int, most: int = ROWS_SHOWN) -> str:
    """Differing events of a step in execution order; equal ones are counted.

    Args:
        pair: the twins.
        common_row: index of the step among the common ones.
        most: differing events that are listed; the rest is counted.
    """
    rows = pair.rows(common_row)
    differing = [row for row in rows if row.status.diverges or row.moved]
    step = step_words(pair.step_number(common_row))
    if not rows:
        return f"  {step}: single events were not recorded (level coarse)"
    lines = [f"  {step}: {len(differing)} of {len(rows)} events differ, the others are equal"]
    lines += [f"  {_line(pair, row)}" for row in differing[:most]]
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most} more")
    return "\n".join(lines)


def _line(pair: Pair, row: Row) -> str:
    difference = None if row.group is Group.RNG else pair.difference(row)
    status = Status.NONFINITE if difference and difference.one_sided_nonfinite else row.status
    again = f" (call {row.occurrence + 1})" if row.occurrence else ""
    place = " (at another place in the order)" if row.moved else ""
    return (
        f"{status.symbol} {row.group.label:<{_GROUP_WIDTH}} {printable(row.name, 80)}{again}"
        f"{place}{_one_sided(row)}{_numbers(difference)}"
    )


def _one_sided(row: Row) -> str:
    if row.a is not None and row.b is not None:
        return ""
    return f"  only in the {'first' if row.a else 'second'} run"


def _numbers(difference: Difference | None) -> str:
    if difference is None:
        return ""
    return (
        f"  {difference.differing}/{difference.elements}  relFro {difference.rel_fro:.2g}  "
        f"max {difference.max_abs:.2g}"
    )
