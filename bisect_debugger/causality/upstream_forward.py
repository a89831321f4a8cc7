"""What is upstream of streams, data, forward and loss.

Each function answers with the origins that one kind of dependency holds at this moment.
"""

from collections.abc import Callable

from bisect_debugger.causality.ledger import NONE, Origins, is_loaded, same_bits
from bisect_debugger.causality.names import (
    ancestors,
    is_action,
    is_under,
    related,
    root_of_batch,
)
from bisect_debugger.causality.place import Place
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from bisect_debugger.twins.model import Row

# --- random streams ---------------------------------------------------------------------


def stream_before(place: Place) -> Origins:
    """The stream's own earlier state."""
    return place.ledger.where([Group.RNG], lambda row: row.component == place.row.component)


def anything_before(place: Place) -> Origins:
    """Draws that depend on values: a stream that was equal may move on from a difference."""
    groups = (Group.DATA, Group.SIMULATOR, Group.REPLAY, Group.FORWARD, Group.LOSS, Group.PARAM)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def deciding_draws(place: Place) -> Origins:
    """What decides how much is drawn: values, and what another stream gave.

    Streams that differ as they began are faults of their own.
    """
    others = NONE if place.row.step == INIT_STEP else drawn_since_last_step(place)
    return anything_before(place) | others


def streams(place: Place, drew: Callable[[str], bool | None], unknown: bool) -> Origins:
    """Differing streams that a test says were drawn from.

    Args:
        place: the event.
        drew: whether a stream was drawn from, None where that was not recorded.
        unknown: the answer to take where it was not recorded.
    """

    def explains(row: Row) -> bool:
        answer = drew(row.component)
        return unknown if answer is None else answer

    return place.ledger.where([Group.RNG], explains)


def drawn_streams(place: Place) -> Origins:
    """Streams drawn from between the boundaries around the event."""
    return streams(place, lambda s: place.streams.drew_around(s, place.index), unknown=True)


def drawn_since_last_step(place: Place) -> Origins:
    """Streams drawn from since the end of the last step: a batch is drawn early."""
    return streams(
        place, lambda s: place.streams.drew_since_last_step(s, place.index), unknown=True
    )


def framework_stream(place: Place) -> Origins:
    """At init only the framework's own streams explain: parameters are drawn from them."""
    if not place.row.is_first_value:
        return NONE
    return place.ledger.where([Group.RNG], lambda row: row.component.startswith("rng.torch"))


def drawn_for_writing(place: Place) -> Origins:
    """A write that no optimizer makes may write what was drawn: noise, or which weights to keep."""
    if EventFlag.OUTSIDE_STEP not in place.row.flags:
        return NONE
    return drawn_since_last_step(place)


# --- data -------------------------------------------------------------------------------


def of_groups(*groups: Group) -> Callable[[Place], Origins]:
    """Anything of these groups."""
    return lambda place: place.ledger.where(groups, lambda row: True)


def loaded_now(place: Place) -> Origins:
    """The batch that a data loader returned last."""
    if is_loaded(place.row):
        return NONE
    return place.ledger.where([Group.DATA], is_loaded)


def loaded_before(place: Place) -> Origins:
    """Any batch that a data loader returned: several may wait."""
    return NONE if is_loaded(place.row) else place.ledger.ever_loaded


def closed_loop(place: Place) -> Origins:
    """What the model did before, where data depends on it.

    A simulator of the program's own is not recognised as one. What a model learned otherwise may
    then be what its data is owed to; what sleeps in it cannot be.
    """
    return earlier_steps(place) if place.closed_loop else place.learned


def made_late(place: Place) -> Origins:
    """Whatever was there when a parameter appeared during training: it may be made from it."""
    if not place.row.is_first_value or place.row.step == INIT_STEP:
        return NONE
    return anything_before(place)


def earlier_steps(place: Place) -> Origins:
    """Parameters now, and whatever reached a forward or a loss in an earlier step."""
    groups = (Group.PARAM, Group.FORWARD, Group.LOSS)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def same_component(group: Group) -> Callable[[Place], Origins]:
    """Earlier events of the same component in this group."""
    return lambda place: place.ledger.where(
        [group], lambda row: row.component == place.row.component
    )


def simulator_inputs(place: Place) -> Origins:
    """What a simulator returns: its own earlier state, and the actions that went into it."""
    component = place.row.component

    def goes_in(row: Row) -> bool:
        return is_action(row) and related(row.component, component)

    own = place.ledger.where([Group.SIMULATOR], lambda row: row.component == component)
    return own | place.ledger.where([Group.DATA], goes_in)


# --- forward ----------------------------------------------------------------------------


def module_call(place: Place) -> Origins:
    """A module's output: its inputs, its parameters and buffers, its children's outputs.

    A child may be called several times in one call of its parent, and a module may keep what an
    earlier call gave it, so every value of the step counts.
    """
    component = place.row.component

    def flows_in(row: Row) -> bool:
        if row.group is Group.DATA:
            return row.name.startswith(f"data.{component}.")
        if row.component == component:
            return row.role.startswith("in")
        return is_under(row.component, component) and row.role.startswith("out")

    return place.ledger.where_in_step([Group.DATA, Group.FORWARD], flows_in) | place.ledger.where(
        [Group.PARAM], lambda row: is_under(row.component, component)
    )


def recorded_producers(place: Place) -> Origins:
    """Outputs that the recorded edges name."""
    row = place.row
    found: Origins = NONE
    for name in place.dataflow.producers(row.name, row.occurrence, row.step):
        found |= place.ledger.in_step(Group.FORWARD, name)
    return found


def surroundings(place: Place) -> Origins:
    """What the code around a module has at hand: inputs and own parameters of its parents."""
    parents = ancestors(place.row.component)

    def at_hand(row: Row) -> bool:
        if row.group is Group.FORWARD:
            return row.component in parents and row.role.startswith("in")
        return row.group is not Group.PARAM or row.component in parents

    groups = (Group.DATA, Group.FORWARD, Group.PARAM, Group.REPLAY, Group.SIMULATOR, Group.USER)
    return place.ledger.where(groups, at_hand)


def any_output(place: Place) -> Origins:
    """Any output or batch of this step, also where producers are known.

    What was detached, computed under ``no_grad`` or used as an index leaves no edge.
    """
    return place.ledger.where_in_step(
        [Group.FORWARD], lambda row: not row.role.startswith("in")
    ) | place.ledger.where_in_step([Group.DATA], lambda row: True)


def forward(place: Place) -> Origins:
    """A module's output or input by its nearest dependencies."""
    if _is_output(place):
        return module_call(place)
    return recorded_producers(place)


def forward_surroundings(place: Place) -> Origins:
    """A module's input by what the enclosing code has at hand."""
    return NONE if _is_output(place) else surroundings(place)


def forward_any_output(place: Place) -> Origins:
    """A module's input by any output of the step."""
    return NONE if _is_output(place) else any_output(place)


def any_output_but_of_loaders(place: Place) -> Origins:
    """A batch by any output of the step; what a loader returns is made by its data set."""
    return NONE if is_loaded(place.row) else any_output(place)


def kept_outputs(place: Place) -> Origins:
    """An input by what was returned in an earlier step and handed back: a hidden state."""
    row = place.row
    if _is_output(place) or is_loaded(row):
        return NONE
    owner = root_of_batch(row.name) if row.group is Group.DATA else row.component

    def handed_back(other: Row) -> bool:
        alike = other.any_side.layout == row.any_side.layout
        return alike and (same_bits(other, row) or related(other.component, owner))

    return place.ledger.kept(handed_back)


def _is_output(place: Place) -> bool:
    return place.row.role.startswith("out")


def handed_over(place: Place) -> Origins:
    """What enters a loss beside outputs: batch, targets, weights."""
    groups = (Group.USER, Group.DATA, Group.REPLAY, Group.SIMULATOR)
    return place.ledger.where(groups, lambda row: True)


def penalised_parameters(place: Place) -> Origins:
    """Parameters, which a loss may penalise."""
    return place.ledger.where([Group.PARAM], lambda row: True)
