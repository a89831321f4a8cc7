"""From what the walk found to cases for the decision tree: the evidence is gathered here."""

from collections.abc import Sequence

import numpy as np

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.streams import Streams
from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.gradients import common_factor
from bisect_debugger.diagnosis.outside import written_outside
from bisect_debugger.diagnosis.samples import entries, rearrangement, renumbered, shifted
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins import Pair, Row

_NEVER_THE_SAME = ("argv", "created", "pid", "program")
"""Environment facts that twins differ in by being two runs."""

_ORDERED = (Group.REPLAY, Group.DATA)
"""Groups whose entries have an order that somebody chose."""


def case_of(pair: Pair, found: Found) -> Case:
    """All evidence about one origin.

    Args:
        pair: the twins.
        found: the origin.
    """
    row = found.row
    common_row = pair.row_of_step(row.step)
    rows = pair.rows(common_row) if common_row is not None else (row,)
    before = _last_boundaries(pair, common_row)
    drawn, idle = _differing_streams(row, rows, before)
    rearranged = rearrangement(pair, row)
    return Case(
        row=row,
        step_rows=rows,
        first_step=min(_first_step(pair, row), row.step),
        siblings_equal=found.siblings_equal,
        siblings_different=found.siblings_different,
        difference=pair.difference(row),
        permuted=_permuted(pair, row),
        drawn_for=_drawn_for(row, rows, before),
        rearranged=rearranged,
        renumbered=bool(rearranged) and rearranged == renumbered(pair, row),
        shifted=shifted(pair, row),
        facts_a=pair.a.facts,
        facts_b=pair.b.facts,
        environment=environment_differences(pair.a.facts, pair.b.facts),
        differing_streams=drawn,
        idle_streams=idle,
        recorded_streams=tuple(
            dict.fromkeys(other.component for other in rows if other.group is Group.RNG)
        ),
        contributions=sum(
            other.group is Group.GRAD_SCRATCH and other.subject == row.subject for other in rows
        ),
        factor=common_factor(pair, row),
        opened=found.opened,
        kind=next((b.kind for b in pair.a.buffers if b.component == row.component and b.kind), ""),
        recorded=_recorded_kinds(pair),
        written_outside=written_outside(pair, row, rows),
    )


def _recorded_kinds(pair: Pair) -> frozenset[str]:
    """Kinds of events that the runs hold, as the tiers of the rules name them."""
    buffers = (*pair.a.buffers, *pair.b.buffers)
    kinds = {buffer.group.label for buffer in buffers}
    loads = any(b.group is Group.DATA and b.name.startswith("loader.") for b in buffers)
    return frozenset(kinds | {"loader"} if loads else kinds)


def environment_differences(a: RunFacts, b: RunFacts) -> dict[str, tuple[str, str]]:
    """Environment facts that differ, name -> (first run, second run)."""
    names = {*a.environment, *b.environment}
    return {
        name: (a.environment.get(name, "not set"), b.environment.get(name, "not set"))
        for name in sorted(names)
        if name not in _NEVER_THE_SAME and a.environment.get(name) != b.environment.get(name)
    }


def _first_step(pair: Pair, row: Row) -> int:
    """The first step in which either run recorded the buffer; of a stream, any state of it."""
    keys = {row.key}
    if row.group is Group.RNG:
        # The state at each boundary is a buffer of its own.
        buffers = (*pair.a.buffers, *pair.b.buffers)
        keys |= {b.key for b in buffers if b.group is Group.RNG and b.component == row.component}
    steps = (run.first_step_of(key) for run in (pair.a, pair.b) for key in keys)
    return min((step for step in steps if step is not None), default=row.step)


def _last_boundaries(pair: Pair, common_row: int | None) -> dict[str, Row]:
    """The last state of each stream in the step before, by component."""
    if not common_row:
        return {}
    return Streams(pair.rows(common_row - 1), {}).last()


def _differing_streams(
    row: Row, rows: Sequence[Row], before: dict[str, Row]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Streams that differ before the event: those drawn from in the step, and the others."""
    states = dict(before)
    differing: dict[str, None] = {}
    for other in rows:
        if other.group is Group.RNG:
            states[other.component] = other
        if _is_it(other, row):
            break
    for component, state in states.items():
        if state.status.diverges:
            differing[component] = None
    if row.group is Group.RNG:
        return tuple(differing), ()
    streams = Streams(rows, before)
    drawn = tuple(stream for stream in differing if streams.drew_in_step(stream))
    return drawn, tuple(stream for stream in differing if stream not in drawn)


def _is_it(other: Row, row: Row) -> bool:
    """The event of an origin, which may be told to have moved where its row is not."""
    return (other.a, other.b) == (row.a, row.b)


def _drawn_for(row: Row, rows: Sequence[Row], before: dict[str, Row]) -> tuple[str, ...]:
    """Equal streams that either run drew from after the last step, for what enters the model."""
    index = next((i for i, other in enumerate(rows) if _is_it(other, row)), None)
    if row.group not in _ORDERED or index is None:
        return ()
    streams = Streams(rows, before)
    latest = dict(before)
    for other in rows[:index]:
        if other.group is Group.RNG:
            latest[other.component] = other
    return tuple(
        stream
        for stream, state in latest.items()
        if not state.status.diverges and streams.drew_since_last_step(stream, index)
    )


def _permuted(pair: Pair, row: Row) -> bool | None:
    if row.group not in _ORDERED:
        return None
    left, right = pair.values(row)
    if left is None or right is None:
        return None
    alike = left.shape == right.shape and left.dtype == right.dtype
    if not alike or left.ndim == 0 or left.shape[0] < 2:
        return False
    return bool((np.sort(entries(left)) == np.sort(entries(right))).all())
