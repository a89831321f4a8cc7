"""What a comparison of twins is made of: statuses, rows of a step, cells of the ribbon."""

from dataclasses import dataclass, replace
from enum import Enum

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import INIT_STEP, EventFlag


class Status(Enum):
    """How one event, or a cell of steps x groups, compares between twins."""

    EQUAL = ("=", "=", "equal")
    WITHIN = ("~", "~", "within tolerance")
    DIFFERS = ("≠", "#", "differs")
    NONFINITE = ("!", "!", "NaN or Inf on one side")
    ONE_SIDED = ("∅", "0", "only in one run")
    NOT_RECORDED = ("·", ".", "not recorded")

    def __init__(self, symbol: str, ascii_symbol: str, word: str) -> None:
        self.symbol = symbol
        self.ascii_symbol = ascii_symbol
        self.word = word

    @property
    def diverges(self) -> bool:
        """It is a divergence."""
        return self in (Status.DIFFERS, Status.NONFINITE, Status.ONE_SIDED, Status.WITHIN)


@dataclass(frozen=True, slots=True)
class Seen:
    """One side of a row: the event in one run.

    Attributes:
        sequence: row of the event in its run.
        digest: (high, low) halves.
        layout: element type and shape.
        flags: circumstances.
        thread: thread ordinal.
    """

    sequence: int
    digest: tuple[int, int]
    layout: Layout
    flags: EventFlag
    thread: int


@dataclass(frozen=True, slots=True)
class Row:
    """Two aligned events of one step, or one event that only one run has.

    Attributes:
        step: step number.
        group, component, role, subject, name: of the buffer.
        occurrence: how many earlier events of the buffer stand in this step.
        location: code of the component, ``file:line`` or empty.
        a, b: the sides; None where the run lacks the event.
        status: how they compare (by digest: EQUAL, DIFFERS or ONE_SIDED).
        moved: both runs have the event, but at another place in the step's order.
        shuffled: it stands in another order among the arguments or results of one call, which is
            no divergence by itself.
    """

    step: int
    group: Group
    component: str
    role: str
    subject: str
    name: str
    occurrence: int
    location: str
    a: Seen | None
    b: Seen | None
    status: Status
    moved: bool = False
    shuffled: bool = False

    def as_shuffled(self) -> "Row":
        """The same row, in another order within its call."""
        return replace(self, shuffled=True)

    @property
    def key(self) -> tuple[Group, str]:
        """What identifies the buffer across runs."""
        return (self.group, self.name)

    @property
    def diverges(self) -> bool:
        """It is a divergence: other content, in one run only, or at another place."""
        return self.status.diverges or self.moved

    @property
    def flags(self) -> EventFlag:
        """Circumstances on either side."""
        return (self.a.flags if self.a else EventFlag.NONE) | (
            self.b.flags if self.b else EventFlag.NONE
        )

    @property
    def is_first_value(self) -> bool:
        """A parameter or module buffer as it began, at init or when it appeared."""
        if self.group is not Group.PARAM:
            return False
        return self.step == INIT_STEP or EventFlag.INIT in self.flags

    @property
    def any_side(self) -> Seen:
        """The side that is there, the first run's where both are."""
        side = self.a or self.b
        assert side is not None, "a row has at least one side"
        return side
