"""Contamination: which components an origin reached, and when."""

from collections.abc import Sequence
from dataclasses import dataclass

from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.format.words import step_words
from bisect_debugger.views.names import elide, pad

NOTHING_REACHED = "It reached no other component in the steps that were compared."


@dataclass(frozen=True, slots=True)
class ReachRow:
    """A component that an origin reached, or the origin itself.

    Attributes:
        component: which one.
        step: step of arrival.
        buffer: the first buffer of it that carried the difference.
        is_origin: the row is the origin itself.
        filled: from which part of the walked steps on it carries the difference, 0.0 to 1.0.
        part: of the step, in a word: ``forward``, ``backward`` (by a gradient), ``update``, or the
            group where it is none of them.
    """

    component: str
    step: int
    buffer: str
    is_origin: bool
    filled: float
    part: str

    @property
    def when(self) -> str:
        """Step and part of the step."""
        return f"{step_words(self.step)} {self.part}".rstrip()


def part_of(group: Group) -> str:
    """The part of a step that makes a group, in a word; the group's own for all others."""
    return _PARTS.get(group, group.label)


_PARTS = {
    **dict.fromkeys((Group.FORWARD, Group.LOSS), "forward"),
    **dict.fromkeys((Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD), "backward"),
    **dict.fromkeys((Group.OPTIM, Group.PARAM), "update"),
}


@dataclass(frozen=True, slots=True)
class Reach:
    """One origin with the components that it reached, in order of arrival."""

    cause: str
    first_step: int
    last_step: int
    rows: tuple[ReachRow, ...]


def reaches(diagnosis: Diagnosis) -> tuple[Reach, ...]:
    """The contamination of every origin of the training."""
    return tuple(_reach(origin, diagnosis.compared.last_step) for origin in diagnosis.origins)


def _reach(origin: Origin, last_compared: int) -> Reach:
    arrivals = origin.arrivals
    # Steps far behind the last arrival would press all bars into one corner.
    last = max([origin.step + 1, *(reached.step for reached in arrivals)])
    last = max(origin.step, min(last, last_compared))

    def filled(step: int) -> float:
        return 0.0 if last <= origin.step else (step - origin.step) / (last - origin.step + 1)

    part = "" if origin.step == INIT_STEP else part_of(origin.group)
    rows = [ReachRow(origin.component, origin.step, origin.buffer, True, 0.0, part)]
    # They come in order of execution.
    rows += [
        ReachRow(
            reached.component,
            reached.step,
            reached.buffer,
            False,
            filled(reached.step),
            part_of(reached.group),
        )
        for reached in arrivals
        if reached.component != origin.component
    ]
    return Reach(origin.cause.value, origin.step, last, tuple(rows))


def bar(filled: float, width: int) -> str:
    """Blank before the arrival, full from then on; never empty."""
    blank = min(width - 1, round(filled * width))
    return " " * blank + "#" * (width - blank)


def reach_lines(found: Sequence[Reach], name_width: int = 44, bar_width: int = 16) -> list[str]:
    """All of it as plain text, for `compare -v` and for copying."""
    lines = []
    for reach in found:
        for row in reach.rows:
            mark = ">" if row.is_origin else " "
            name = pad(elide(row.component, name_width), name_width)
            when = f"{row.when:<20}"
            lines.append(f"{mark} {name} {when} {bar(row.filled, bar_width)}".rstrip())
        if len(reach.rows) == 1:
            lines.append(f"    {NOTHING_REACHED}")
    return lines
