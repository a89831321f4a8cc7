"""Where the rules look for what happens before the backward pass: streams, data, forward, loss.

Each look answers with the origins that one kind of dependency holds at this moment.
"""

from collections.abc import Callable

from bisect_debugger.causality.ledger import NONE, Origins
from bisect_debugger.causality.names import ancestors, is_under
from bisect_debugger.causality.place import Place
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row

# --- random streams ---------------------------------------------------------------------


def stream_before(place: Place) -> Origins:
    """The stream's own earlier state."""
    return place.ledger.where([Group.RNG], lambda row: row.component == place.row.component)


def anything_before(place: Place) -> Origins:
    """Draws that depend on values: a stream that was equal may move on from a difference."""
    groups = (Group.DATA, Group.SIMULATOR, Group.REPLAY, Group.FORWARD, Group.LOSS, Group.PARAM)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


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
    if not place.row.a or EventFlag.INIT not in place.row.any_side.flags:
        return NONE
    return place.ledger.where([Group.RNG], lambda row: row.component.startswith("rng.torch"))


# --- data -------------------------------------------------------------------------------


def of_groups(*groups: Group) -> Callable[[Place], Origins]:
    """Anything of these groups."""
    return lambda place: place.ledger.where(groups, lambda row: True)


def closed_loop(place: Place) -> Origins:
    """What the model did before, where data depends on it."""
    if not place.closed_loop:
        return NONE
    groups = (Group.PARAM, Group.FORWARD, Group.LOSS)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def earlier_steps(place: Place) -> Origins:
    """Parameters now, and whatever reached a forward or a loss in an earlier step."""
    groups = (Group.PARAM, Group.FORWARD, Group.LOSS)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def same_component(group: Group) -> Callable[[Place], Origins]:
    """Earlier events of the same component in this group."""
    return lambda place: place.ledger.where(
        [group], lambda row: row.component == place.row.component
    )


# --- forward ----------------------------------------------------------------------------


def module_call(place: Place) -> Origins:
    """A module's output: its inputs, its parameters and buffers, its children's outputs."""
    component = place.row.component

    def feeds(row: Row) -> bool:
        if row.group is Group.PARAM:
            return is_under(row.component, component)
        if row.group is Group.DATA:
            return row.name.startswith(f"data.{component}.")
        if row.component == component:
            return row.role.startswith("in")
        return is_under(row.component, component) and row.role.startswith("out")

    return place.ledger.where([Group.DATA, Group.FORWARD, Group.PARAM], feeds)


def recorded_producers(place: Place) -> Origins:
    """Outputs that the recorded edges name."""
    names = place.dataflow.producers(place.row.name, place.row.occurrence)
    found: Origins = NONE
    for name in names:
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


def any_output_where_unknown(place: Place) -> Origins:
    """Any output or batch of this step, where no edge was recorded."""
    if place.dataflow.knows(place.row.name):
        return NONE
    return place.ledger.where(
        [Group.FORWARD, Group.DATA], lambda row: not row.role.startswith("in")
    ) | place.ledger.where([Group.DATA], lambda row: True)


def forward(place: Place) -> Origins:
    """A module's output or input by its nearest dependencies."""
    if place.row.role.startswith("out"):
        return module_call(place)
    return recorded_producers(place)


def forward_surroundings(place: Place) -> Origins:
    """A module's input by what the enclosing code has at hand."""
    if place.row.role.startswith("out"):
        return NONE
    return surroundings(place) or any_output_where_unknown(place)


def handed_over(place: Place) -> Origins:
    """What enters a loss beside outputs: batch, targets, weights."""
    groups = (Group.USER, Group.DATA, Group.REPLAY, Group.SIMULATOR)
    return place.ledger.where(groups, lambda row: True)


def penalised_parameters(place: Place) -> Origins:
    """Parameters, which a loss may penalise."""
    return place.ledger.where([Group.PARAM], lambda row: True)
