"""How the difference of one buffer grows over the steps.

The distance is relFro where both runs kept the values, 0 where the digests are equal, and unknown
where they differ and no values were kept. Beside it stands how many events of the step differ,
which is known at every level but `coarse`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.twins import Pair, Row
from bisect_debugger.views.counts import counted

NEAR_ONSET = 24
"""Steps from the onset on that are always looked at: a second pass keeps values there."""


class Measure(StrEnum):
    """What the points of a growth are."""

    REL_FRO = "relFro"
    SHARE = "share of differing events"
    NONE = "not recorded"

    @property
    def meaning(self) -> str:
        """What is to be read off the axis."""
        if self is Measure.REL_FRO:
            return "relFro: distance relative to the first run"
        return self.value


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """One step.

    Attributes:
        step: step number.
        rel_fro: distance of the buffer, 0.0 where equal, inf or nan as `Difference.rel_fro`; None
            where the buffer is not in the step, or differs and no values were kept.
        differs: the buffer differs; None where it is not in the step.
        differing: differing events of the step.
        events: events of the step.
    """

    step: int
    rel_fro: float | None
    differs: bool | None
    differing: int
    events: int

    @property
    def share(self) -> float | None:
        """Differing events of all, or None where none was recorded."""
        return self.differing / self.events if self.events else None


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of one buffer's difference.

    Attributes:
        name: the buffer.
        group: its group.
        points: ascending steps; not every step of a long run.
        last_compared: nothing is said about any later step.
        steps: how many steps there are.
    """

    name: str
    group: Group
    points: tuple[GrowthPoint, ...]
    last_compared: int
    steps: int

    @property
    def measure(self) -> Measure:
        """Distances where any were recorded, else shares, where events were."""
        if any(point.rel_fro for point in self.points):
            return Measure.REL_FRO
        if any(point.events for point in self.points):
            return Measure.SHARE
        return Measure.NONE

    def values(self) -> tuple[tuple[int, float | None], ...]:
        """(step, value) in the measure."""
        if self.measure is Measure.REL_FRO:
            return tuple((point.step, point.rel_fro) for point in self.points)
        return tuple((point.step, point.share) for point in self.points)

    @property
    def unmeasured(self) -> int:
        """Steps in which the buffer differs and no values were kept."""
        return sum(point.differs is True and point.rel_fro is None for point in self.points)


def rows_to_look_at(steps: int, onset_row: int, most: int) -> tuple[int, ...]:
    """Common rows: all of a short run; else evenly spread ones, and those around the onset.

    Args:
        steps: common rows there are.
        onset_row: where to look closely.
        most: greatest number of evenly spread rows.
    """
    if steps <= most:
        return tuple(range(steps))
    even = {round(k * (steps - 1) / (most - 1)) for k in range(most)}
    near = range(max(0, onset_row - 2), min(steps, onset_row + NEAR_ONSET))
    return tuple(sorted(even | set(near)))


def growth_points(pair: Pair, rows: Sequence[int], key: tuple[Group, str]) -> Iterator[GrowthPoint]:
    """The point of each common row, one at a time, so that reading can be interrupted."""
    for common_row in rows:
        yield _point(pair, pair.step_number(common_row), pair.rows(common_row), key)


def _point(pair: Pair, step: int, rows: Sequence[Row], key: tuple[Group, str]) -> GrowthPoint:
    differing = sum(row.diverges for row in rows)
    # A module that is called twice differs where its first call with a difference does.
    mine = [row for row in rows if row.key == key]
    row = next((row for row in mine if row.status.diverges), mine[0] if mine else None)
    if row is None:
        return GrowthPoint(step, None, None, differing, len(rows))
    if not row.status.diverges:
        return GrowthPoint(step, 0.0, False, differing, len(rows))
    difference = None if row.group is Group.RNG else pair.difference(row)
    distance = None if difference is None else difference.rel_fro
    return GrowthPoint(step, distance, True, differing, len(rows))


def growth_words(growth: Growth) -> str:
    """What the chart shows, in a sentence or two."""
    if growth.measure is Measure.NONE:
        return "Not recorded: the runs hold no single events (level coarse)."
    # Also those that no finite number measures: NaN or Inf somewhere, or a first run of zeros.
    above = [p for p in growth.points if p.rel_fro]
    if growth.measure is Measure.SHARE:
        if not any(point.differs for point in growth.points):
            return "Equal in every step that was looked at; the chart shows the whole step."
        if growth.group is Group.RNG:
            return (
                "The state of a generator is kept as a digest only, which has no distance; the "
                "chart shows which share of each step's events differs."
            )
        return (
            "Values of this buffer were not recorded; the chart shows which share of each step's "
            "events differs. Record at level full for distances."
        )
    first, last = above[0], above[-1]
    words = f"relFro {first.rel_fro:.2g} in {step_words(first.step)}"
    if last.step != first.step:
        words += f", {last.rel_fro:.2g} in {step_words(last.step)}"
    if growth.unmeasured:
        words += f"; in {counted(growth.unmeasured, 'step')} it differs and no values were recorded"
    return f"{words}."
