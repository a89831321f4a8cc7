"""What comparing every event of two runs found, as plain frozen data."""

from dataclasses import dataclass

from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference


@dataclass(frozen=True, slots=True)
class Greatest:
    """The event of a component that is furthest apart, by relFro.

    Attributes:
        step: its step.
        buffer: full name.
        event: sequence number in the first run.
        difference: all its numbers.
    """

    step: int
    buffer: str
    event: int
    difference: Difference


@dataclass(frozen=True, slots=True)
class ComponentTally:
    """The events of one component in one group; every event is in exactly one of the counts.

    Attributes:
        group, component: whose events.
        events: events that were compared; one that both runs have counts once.
        equal: with the same digest, at the same place.
        moved: with the same digest, at another place in the order.
        differing: with another digest.
        one_sided: that only one run has.
        digest_only: of ``differing``, those whose values were not kept in both runs.
        other_layout: of ``differing``, those of another element type or shape, whose values have
            no distance.
        elements: elements of the others, whose values were compared.
        differing_elements: of these, those whose bits differ.
        greatest: the one furthest apart, None where no values were compared.
    """

    group: Group
    component: str
    events: int = 0
    equal: int = 0
    moved: int = 0
    differing: int = 0
    one_sided: int = 0
    digest_only: int = 0
    other_layout: int = 0
    elements: int = 0
    differing_elements: int = 0
    greatest: Greatest | None = None


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Every event of the common steps of two runs, compared.

    Attributes:
        steps: common steps.
        differing_steps: of these, those in which anything differs.
        steps_a, steps_b: steps that only the one run has, which are not compared.
        beside: events of threads beside the training. They have no fixed partner, so only those
            whose partner is certain are among the counts, and the others are counted here.
        left_out: events of common steps that are not compared, because a window opens in the step
            or a run stopped within it.
        components: a tally per group and component, in causal order, then by name.
    """

    steps: int
    differing_steps: int
    steps_a: int
    steps_b: int
    beside: int
    left_out: int
    components: tuple[ComponentTally, ...]

    @property
    def events(self) -> int:
        """Events that were compared."""
        return sum(tally.events for tally in self.components)

    def total(self, count: str) -> int:
        """The sum of a count of `ComponentTally` over all of them."""
        return sum(getattr(tally, count) for tally in self.components)
