"""The dependency rules: what each group of buffer is computed from, nearest first.

A rule is a list of tiers. The first tier that holds a difference explains the buffer, so a
near explanation is never diluted by a far one. A buffer that differs although no tier holds
a difference is an origin. Where the recording leaves it open, a rule takes the wider
explanation: a second origin is then found after the first is fixed, and nobody is sent to a
component that is innocent.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bisect_debugger.causality.dataflow import Dataflow
from bisect_debugger.causality.ledger import NONE, Ledger, Origins
from bisect_debugger.causality.names import ancestors, is_under
from bisect_debugger.causality.streams import Streams
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from bisect_debugger.twins.model import Row


@dataclass(frozen=True, slots=True)
class Place:
    """An event in its surroundings: what the rules may look at.

    Attributes:
        row: the differing event.
        index: its index in the step.
        ledger: taints at this moment.
        streams: the random streams of this step.
        dataflow: recorded edges.
        shared_outputs: output names of this step by content.
        component_of: component of a buffer name.
        users_of: components that use a parameter, by its name; several where it is shared.
        trained: parameters that an optimizer sees the gradient of.
        closed_loop: data depends on what the model did before (reinforcement learning).
    """

    row: Row
    index: int
    ledger: Ledger
    streams: Streams
    dataflow: Dataflow
    shared_outputs: dict[tuple[int, int], set[str]]
    component_of: dict[str, str]
    users_of: dict[str, frozenset[str]]
    trained: frozenset[str]
    closed_loop: bool


@dataclass(frozen=True, slots=True)
class Tier:
    """One nearest-first level of a rule: where it looks, in words, and the look itself."""

    words: str
    look: Callable[[Place], Origins]
    certain: bool = True
    """The dependency is known, not merely possible: several origins found here all arrived."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The origins that a difference is owed to, and the tier that says so."""

    origins: Origins
    words: str
    certain: bool


def explain(place: Place) -> Explanation:
    """What a differing event owes its difference to.

    Returns:
        No origins and empty words where everything it was computed from is equal.
    """
    if place.row.group is not Group.RNG:
        origins = place.ledger.same_content(place.row)
        if origins:
            return Explanation(origins, "a copy of an earlier differing buffer", True)
    for tier in RULES[place.row.group]:
        origins = tier.look(place)
        if origins:
            return Explanation(origins, tier.words, tier.certain)
    return Explanation(NONE, "", True)


def upstream_words(group: Group) -> str:
    """What a group is computed from, in words, for the trail."""
    return ", ".join(tier.words for tier in RULES[group])


# --- random streams ---------------------------------------------------------------------


def _stream_before(place: Place) -> Origins:
    return place.ledger.where([Group.RNG], lambda row: row.component == place.row.component)


def _anything_before(place: Place) -> Origins:
    """Draws that depend on values: a stream that was equal may move on from a difference."""
    groups = (Group.DATA, Group.SIMULATOR, Group.REPLAY, Group.FORWARD, Group.LOSS, Group.PARAM)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def _streams(place: Place, drew: Callable[[str], bool | None], unknown: bool) -> Origins:
    def explains(row: Row) -> bool:
        answer = drew(row.component)
        return unknown if answer is None else answer

    return place.ledger.where([Group.RNG], explains)


def _drawn_streams(place: Place) -> Origins:
    return _streams(place, lambda s: place.streams.drew_around(s, place.index), unknown=True)


def _drawn_since_last_step(place: Place) -> Origins:
    return _streams(
        place, lambda s: place.streams.drew_since_last_step(s, place.index), unknown=True
    )


def _framework_stream(place: Place) -> Origins:
    """At init only the framework's own streams explain: parameters are drawn from them."""
    if not place.row.a or EventFlag.INIT not in place.row.any_side.flags:
        return NONE
    return place.ledger.where([Group.RNG], lambda row: row.component.startswith("rng.torch"))


# --- data -------------------------------------------------------------------------------


def _of_groups(*groups: Group) -> Callable[[Place], Origins]:
    return lambda place: place.ledger.where(groups, lambda row: True)


def _closed_loop(place: Place) -> Origins:
    if not place.closed_loop:
        return NONE
    groups = (Group.PARAM, Group.FORWARD, Group.LOSS)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def _earlier_steps(place: Place) -> Origins:
    groups = (Group.PARAM, Group.FORWARD, Group.LOSS)
    return place.ledger.where(groups, lambda row: True) | place.ledger.past


def _same_component(group: Group) -> Callable[[Place], Origins]:
    return lambda place: place.ledger.where(
        [group], lambda row: row.component == place.row.component
    )


# --- forward ----------------------------------------------------------------------------


def _module_call(place: Place) -> Origins:
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


def _recorded_producers(place: Place) -> Origins:
    names = place.dataflow.producers(place.row.name, place.row.occurrence)
    found: Origins = NONE
    for name in names:
        found |= place.ledger.in_step(Group.FORWARD, name)
    return found


def _surroundings(place: Place) -> Origins:
    """What the code around a module has at hand: inputs and own parameters of its parents."""
    parents = ancestors(place.row.component)

    def at_hand(row: Row) -> bool:
        if row.group is Group.FORWARD:
            return row.component in parents and row.role.startswith("in")
        return row.group is not Group.PARAM or row.component in parents

    groups = (Group.DATA, Group.FORWARD, Group.PARAM, Group.REPLAY, Group.SIMULATOR, Group.USER)
    return place.ledger.where(groups, at_hand)


def _any_output_where_unknown(place: Place) -> Origins:
    if place.dataflow.knows(place.row.name):
        return NONE
    return place.ledger.where(
        [Group.FORWARD, Group.DATA], lambda row: not row.role.startswith("in")
    ) | place.ledger.where([Group.DATA], lambda row: True)


def _forward(place: Place) -> Origins:
    if place.row.role.startswith("out"):
        return _module_call(place)
    return _recorded_producers(place)


def _forward_surroundings(place: Place) -> Origins:
    if place.row.role.startswith("out"):
        return NONE
    return _surroundings(place) or _any_output_where_unknown(place)


def _handed_over(place: Place) -> Origins:
    groups = (Group.USER, Group.DATA, Group.REPLAY, Group.SIMULATOR)
    return place.ledger.where(groups, lambda row: True)


def _penalised_parameters(place: Place) -> Origins:
    return place.ledger.where([Group.PARAM], lambda row: True)


# --- backward ---------------------------------------------------------------------------


def _consumers(place: Place) -> tuple[set[str], bool]:
    """Components that consumed this output, and whether a loss did directly."""
    name = place.row.subject
    names = {name}
    for shared in place.shared_outputs.values():
        if name in shared:
            names |= shared
    consumers = {found for each in names for found in place.dataflow.consumers(each)}
    components = {_consumer_component(place, found) for found in consumers}
    return components - {"loss"}, "loss" in components


def _consumer_component(place: Place, consumer: str) -> str:
    if consumer.startswith("data."):
        # What enters a root module is called data.<root>.<slot>.
        return consumer.removeprefix("data.").rpartition(".in")[0]
    return place.component_of.get(consumer, consumer)


def _own_value(place: Place) -> Origins:
    """The gradient of a loss with respect to a value depends on that value."""
    components, by_loss = _consumers(place)
    if components and not by_loss:
        return NONE
    return place.ledger.in_step(Group.FORWARD, place.row.subject)


def _consumers_backward(place: Place) -> Origins:
    """The gradient arrives through the consumers: their gradients, weights and inputs."""
    components, _ = _consumers(place)

    def flows(row: Row) -> bool:
        return any(is_under(row.component, component) for component in components)

    groups = (Group.GRAD_OUT, Group.PARAM, Group.FORWARD)
    return place.ledger.where_in_step([Group.GRAD_OUT, Group.FORWARD], flows) | place.ledger.where(
        groups, lambda row: row.group is Group.PARAM and flows(row)
    )


def _enclosing_parameters(place: Place) -> Origins:
    parents = ancestors(place.row.component)
    return place.ledger.where([Group.PARAM], lambda row: row.component in parents)


def _loss_and_targets(place: Place) -> Origins:
    components, by_loss = _consumers(place)
    if components and not by_loss:
        return NONE
    groups = (Group.LOSS, Group.USER, Group.REPLAY, Group.DATA)
    return place.ledger.where_in_step(groups, lambda row: True)


def _downstream_where_unknown(place: Place) -> Origins:
    components, by_loss = _consumers(place)
    if components or by_loss:
        return NONE
    groups = (Group.GRAD_OUT, Group.LOSS, Group.FORWARD)
    return place.ledger.where_in_step(groups, lambda row: True)


def _using_modules(place: Place) -> Origins:
    """A contribution: output gradients and inputs of the modules that use the parameter."""
    users = place.users_of.get(place.row.subject, frozenset({place.row.component}))

    def used(row: Row) -> bool:
        if row.group is Group.GRAD_OUT:
            return row.component in users
        return row.component in users and row.role.startswith("in")

    roots = {user for user in users if "." not in user}
    return place.ledger.where_in_step(
        [Group.GRAD_OUT, Group.FORWARD], used
    ) | place.ledger.where_in_step(
        [Group.DATA], lambda row: any(row.name.startswith(f"data.{root}.") for root in roots)
    )


def _enclosing_modules(place: Place) -> Origins:
    """Parameters used by the code of an enclosing module (functional calls)."""
    parents = ancestors(place.row.component)
    groups = (Group.GRAD_OUT, Group.FORWARD)
    return place.ledger.where_in_step(groups, lambda row: row.component in parents)


def _any_gradient(place: Place) -> Origins:
    groups = (Group.GRAD_OUT, Group.LOSS)
    return place.ledger.where_in_step(groups, lambda row: True)


def _own_weights(place: Place) -> Origins:
    return place.ledger.current(Group.PARAM, place.row.subject) | place.ledger.where(
        [Group.PARAM], lambda row: is_under(row.component, place.row.component)
    )


# --- gradients, optimizer, parameters ---------------------------------------------------


def _about_subject(*groups: Group) -> Callable[[Place], Origins]:
    def look(place: Place) -> Origins:
        return place.ledger.where(groups, lambda row: row.subject == place.row.subject)

    return look


def _all_in_step(*groups: Group) -> Callable[[Place], Origins]:
    return lambda place: place.ledger.where_in_step(groups, lambda row: True)


def _optimizer_inputs(place: Place) -> Origins:
    """A moment: its gradient, what it was before, the parameter (weight decay)."""
    if not place.row.subject:
        return place.ledger.current(Group.OPTIM, place.row.name)
    found = place.ledger.where(
        [Group.GRAD, Group.OPTIM], lambda row: row.subject == place.row.subject
    )
    return found | place.ledger.current(Group.PARAM, place.row.subject)


def _hyper_parameters(place: Place) -> Origins:
    return place.ledger.where([Group.OPTIM], lambda row: not row.subject)


def _schedule(place: Place) -> Origins:
    if place.row.subject:
        return NONE
    return place.ledger.where([Group.LOSS, Group.FORWARD], lambda row: True) | place.ledger.past


def _update(place: Place) -> Origins:
    """A parameter after the step: moments, gradient, and what it was before."""
    name = place.row.name
    found = place.ledger.where([Group.GRAD, Group.OPTIM], lambda row: row.subject == name)
    return found | place.ledger.current(Group.PARAM, name)


def _running_statistics(place: Place) -> Origins:
    """A module buffer: what flowed through its module."""
    component = place.row.component
    return place.ledger.where_in_step(
        [Group.FORWARD, Group.DATA],
        lambda row: is_under(row.component, component) or row.group is Group.DATA,
    )


def _copied_parameters(place: Place) -> Origins:
    """Copies and averages of other parameters (target networks, EMA), which no optimizer steps.

    A copy bears the same last names as what it was copied from.
    """
    row = place.row
    if row.step == INIT_STEP or row.name in place.trained:
        return NONE
    tail = row.name.split(".")[-2:]
    return place.ledger.where([Group.PARAM], lambda other: other.name.split(".")[-2:] == tail)


RULES: dict[Group, tuple[Tier, ...]] = {
    Group.RNG: (
        Tier("its own state before", _stream_before),
        Tier("values that decide how much is drawn", _anything_before, certain=False),
    ),
    Group.SIMULATOR: (
        Tier("its own earlier state", _same_component(Group.SIMULATOR)),
        Tier("the random streams drawn from", _drawn_since_last_step),
        Tier("what the model did before", _earlier_steps, certain=False),
    ),
    Group.REPLAY: (
        Tier("its own earlier samples", _same_component(Group.REPLAY)),
        Tier("the random streams drawn from", _drawn_since_last_step),
        Tier("the simulator", _of_groups(Group.SIMULATOR)),
        Tier("priorities from earlier steps", _earlier_steps, certain=False),
    ),
    Group.DATA: (
        Tier("the outputs it was computed from", _recorded_producers),
        Tier("the replay sample and the simulator", _of_groups(Group.REPLAY, Group.SIMULATOR)),
        Tier("what was recorded by hand before it", _of_groups(Group.USER)),
        Tier("the random streams drawn from", _drawn_since_last_step),
        Tier("what the model did before", _closed_loop, certain=False),
    ),
    Group.PARAM: (
        Tier("moments, gradient and its value before", _update),
        Tier("the framework's random stream at init", _framework_stream),
        Tier("hyper-parameters", _hyper_parameters),
        Tier("what flowed through its module", _running_statistics),
        Tier("parameters that it copies", _copied_parameters),
    ),
    Group.FORWARD: (
        Tier("inputs, parameters and inner outputs", _forward),
        Tier("what the code around it has at hand", _forward_surroundings, certain=False),
        Tier("the random streams drawn from", _drawn_streams),
    ),
    Group.LOSS: (
        Tier("the outputs it was computed from", _recorded_producers),
        Tier("targets and weights handed over", _handed_over, certain=False),
        Tier("any output", _any_output_where_unknown, certain=False),
        Tier("parameters it penalises", _penalised_parameters, certain=False),
        Tier("the random streams drawn from", _drawn_streams),
    ),
    Group.GRAD_OUT: (
        Tier("the value that the loss saw", _own_value),
        Tier("gradients, weights and inputs of its consumers", _consumers_backward),
        Tier("parameters of the enclosing module", _enclosing_parameters),
        Tier("the loss and its targets", _loss_and_targets, certain=False),
        Tier("any gradient downstream", _downstream_where_unknown, certain=False),
        Tier("the random streams drawn from", _drawn_streams),
    ),
    Group.GRAD_SCRATCH: (
        Tier("output gradients and inputs of its modules", _using_modules),
        Tier("gradients and inputs of the enclosing modules", _enclosing_modules),
        Tier("any gradient downstream", _any_gradient, certain=False),
        Tier("the weights themselves", _own_weights),
    ),
    Group.GRAD: (
        Tier("its contributions and what was accumulated", _about_subject(Group.GRAD_SCRATCH)),
        Tier("its value before", _about_subject(Group.GRAD)),
        Tier("a norm over all gradients (clipping)", _all_in_step(Group.GRAD_SCRATCH)),
        Tier("any gradient downstream", _any_gradient, certain=False),
    ),
    Group.OPTIM: (
        Tier("its gradient, its state before and the parameter", _optimizer_inputs),
        Tier("hyper-parameters", _hyper_parameters),
        Tier("all gradients", _all_in_step(Group.GRAD)),
        Tier("the loss that a schedule follows", _schedule, certain=False),
    ),
    Group.USER: (
        Tier("anything recorded before it", _anything_before, certain=False),
        Tier(
            "replay, simulator and gradients",
            _of_groups(Group.REPLAY, Group.SIMULATOR, Group.GRAD_OUT),
        ),
        Tier("the random streams drawn from", _drawn_streams),
    ),
}
"""Tiers of every group, nearest first."""
