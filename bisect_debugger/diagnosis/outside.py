"""Parameters that somebody writes while no optimizer step is at work, as either run shows it."""

from collections.abc import Sequence

from bisect_debugger.causality.names import is_under
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair, Row

_BEFORE, _BEHIND = 8, 3
"""Steps around an origin that are looked through: who writes at his own times does so again."""

_COMPUTED = (Group.FORWARD, Group.LOSS, Group.GRAD_OUT, Group.GRAD_SCRATCH)


def written_outside(pair: Pair, row: Row, step_rows: Sequence[Row]) -> tuple[str, ...]:
    """Modules that compute in the step of an origin, and whose parameters are written outside.

    Args:
        pair: the twins.
        row: an origin.
        step_rows: all rows of its step.

    Returns:
        Components in order of their names; none for what is not computed by modules.
    """
    at = pair.row_of_step(row.step)
    if row.group not in _COMPUTED or at is None:
        return ()
    written = _written(pair.a, at) | _written(pair.b, at)
    ran = {other.component for other in step_rows if other.group is Group.FORWARD}
    return tuple(sorted(each for each in written if any(is_under(module, each) for module in ran)))


def _written(run: Run, at: int) -> set[str]:
    """Components of the parameters that were found changed at the start of a step around."""
    found = set()
    for row in range(max(at - _BEFORE, 0), min(at + _BEHIND, run.step_count)):
        events = run.events(row)
        outside = events.flags & int(EventFlag.OUTSIDE_STEP) != 0
        for buffer in events.buffer[outside]:
            if run.buffers[int(buffer)].group is Group.PARAM:
                found.add(run.buffers[int(buffer)].component)
    return found
