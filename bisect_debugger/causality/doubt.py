"""Doubt: what may explain a difference beyond dataflow, before a component is blamed.

Where the two runs did not do the same things, what follows may round, draw or overwrite otherwise.
Such explanations are tried last, when the rules of `causality.rules` found none.
"""

from bisect_debugger.causality.ledger import NONE, Origins
from bisect_debugger.causality.names import is_under, root_of_batch
from bisect_debugger.format.groups import Group
from bisect_debugger.twins.model import Row

_KEPT_BEFORE = (Group.RNG, Group.PARAM, Group.OPTIM, Group.REPLAY, Group.SIMULATOR)
"""Groups that hold over from the step before."""


class Doubt:
    """What is known of things that the runs did not do alike."""

    def __init__(self, opening: int | None) -> None:
        """Begin with nothing done otherwise.

        Args:
            opening: the step in which a window opens, None where recording began with the run.
        """
        self._opening = opening
        self._opened: Origins = NONE
        self._one_sided: dict[tuple[Group, bool], Origins] = {}
        self._uneven: dict[str, Origins] = {}
        self._shuffled: dict[str, Row] = {}

    def begin_step(self) -> None:
        """Forget what holds for one step only."""
        self._one_sided, self._shuffled = {}, {}

    def note_shuffled(self, row: Row) -> None:
        """Note that the arguments of a call came in another order."""
        self._shuffled.setdefault(_caller(row), row)

    def note_one_sided(self, row: Row, origins: Origins) -> None:
        """Note that one run did something that the other did not, and what that is owed to."""
        self._one_sided.setdefault((row.group, row.a is None), origins)
        for component in {row.component, _caller(row)}:
            self._uneven[component] = self._uneven.get(component, NONE) | origins

    def is_of_opening(self, row: Row) -> bool:
        """It may have differed before the window opened."""
        if row.step != self._opening:
            return False
        return row.group in _KEPT_BEFORE or bool(self._opened)

    def note_opening(self, origins: Origins) -> None:
        """Note the origin that stands for all that differed before the window."""
        self._opened = origins

    def branch_of(self, row: Row) -> Origins:
        """Origins of earlier events of the step that the same run alone has.

        One branch that one run alone takes leaves many events.
        """
        if row.a is not None and row.b is not None:
            return NONE
        return self._one_sided.get((row.group, row.a is None), NONE)

    def explains(self, row: Row) -> Origins:
        """Origins that a difference without an upstream may be owed to."""
        if self._opened and row.step == self._opening:
            return self._opened
        return self._uneven.get(row.component, NONE) | self._uneven.get(_caller(row), NONE)

    def shuffled_for(self, row: Row) -> Row | None:
        """Arguments in another order that the code behind this difference was given."""
        if row.group is not Group.FORWARD:
            return None
        for caller, shuffled in self._shuffled.items():
            own_output = row.component == caller and row.role.startswith("out")
            inner_input = row.role.startswith("in") and is_under(row.component, caller)
            if own_output or inner_input:
                return shuffled
        return None


def _caller(row: Row) -> str:
    """The module that was called; of what is loaded or done for none, who returned it."""
    entered = root_of_batch(row.name) if row.group is Group.DATA else ""
    return entered or row.component
