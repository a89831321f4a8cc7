"""Cross-checks inside one run: what should not be, whatever another run does.

A parameter whose content changed while no optimizer step was at work was written by something
else. A batch that comes again was seen before; over several passes through a data set that is as it
should be, within one pass it is not.
"""

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs.run import Run

STEP_LIMIT = 1000
"""Steps that are looked through; the sentences say so where there are more."""

_FEWEST = 4
"""Elements of a batch that is not equal to another one by accident."""


def cross_checks(run: Run) -> tuple[str, ...]:
    """Sentences on what was found; empty where nothing was, or at level ``coarse``."""
    written: dict[str, list[int]] = {}
    first_seen: dict[tuple[int, int, int], int] = {}
    again: dict[int, tuple[int, int]] = {}
    rows = min(run.step_count, STEP_LIMIT)
    for row in range(rows):
        step, events = run.step_number(row), run.events(row)
        for at in range(len(events)):
            buffer = run.buffers[int(events.buffer[at])]
            flags = int(events.flags[at])
            if buffer.group is Group.PARAM and flags & EventFlag.OUTSIDE_STEP:
                written.setdefault(buffer.component, []).append(step)
            if buffer.group is not Group.DATA or flags & EventFlag.BACKGROUND:
                continue
            if run.layouts[int(events.layout[at])].elements < _FEWEST:
                continue
            content = (int(events.buffer[at]), int(events.digest[at][0]), int(events.digest[at][1]))
            seen = first_seen.setdefault(content, step)
            if seen != step:
                again.setdefault(step, (seen, int(events.buffer[at])))
    return (*_written(written), *_again(run, again), *_limit(run, rows))


def _written(written: dict[str, list[int]]) -> list[str]:
    return [
        f"{component} changed outside an optimizer step, first before step {steps[0]}, before "
        f"{len(set(steps))} steps in all."
        for component, steps in written.items()
    ]


def _again(run: Run, again: dict[int, tuple[int, int]]) -> list[str]:
    if not again:
        return []
    step = min(again)
    seen, buffer = again[step]
    return [
        f"{run.buffers[buffer].name} of step {step} is that of step {seen} again; so it is in "
        f"{len(again)} steps."
    ]


def _limit(run: Run, rows: int) -> list[str]:
    return [f"The first {rows} steps were looked through."] if rows < run.step_count else []
