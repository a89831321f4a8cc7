"""What is upstream of the backward pass, the optimizer and the parameters."""

from collections.abc import Callable

from bisect_debugger.causality.ledger import NONE, Origins
from bisect_debugger.causality.names import ancestors, is_under, root_of_batch
from bisect_debugger.causality.place import Place
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from bisect_debugger.twins.model import Row

# --- backward ---------------------------------------------------------------------------


def consumers(place: Place) -> tuple[set[str], bool]:
    """Components that consumed this output, and whether a loss did directly."""
    name = place.row.subject
    names = {name}
    for shared in place.shared_outputs.values():
        if name in shared:
            names |= shared
    step = place.row.step
    consumers = {found for each in names for found in place.dataflow.consumers(each, step)}
    components = {consumer_component(place, found) for found in consumers}
    return components - {"loss"}, "loss" in components


def consumer_component(place: Place, consumer: str) -> str:
    """The component that a consumer belongs to; a batch belongs to its root module."""
    if consumer.startswith("data."):
        return root_of_batch(consumer)
    return place.component_of.get(consumer, consumer)


def own_value(place: Place) -> Origins:
    """The gradient of a loss with respect to a value depends on that value."""
    components, by_loss = consumers(place)
    if components and not by_loss:
        return NONE
    return place.ledger.in_step(Group.FORWARD, place.row.subject)


def consumers_backward(place: Place) -> Origins:
    """The gradient arrives through the consumers: their gradients, weights and inputs."""
    components, _ = consumers(place)

    def flows(row: Row) -> bool:
        return any(is_under(row.component, component) for component in components)

    return place.ledger.where_in_step([Group.GRAD_OUT, Group.FORWARD], flows) | place.ledger.where(
        [Group.PARAM], flows
    )


def enclosing_parameters(place: Place) -> Origins:
    """Parameters of enclosing modules, used by the code between modules."""
    parents = ancestors(place.row.component)
    return place.ledger.where([Group.PARAM], lambda row: row.component in parents)


def loss_and_targets(place: Place) -> Origins:
    """The loss and what entered it, where a loss consumed the output."""
    components, by_loss = consumers(place)
    if components and not by_loss:
        return NONE
    groups = (Group.LOSS, Group.USER, Group.REPLAY, Group.DATA)
    return place.ledger.where_in_step(groups, lambda row: True)


def downstream(place: Place) -> Origins:
    """Anything downstream, also where consumers are known: they need not be all."""
    groups = (
        Group.GRAD_OUT,
        Group.LOSS,
        Group.FORWARD,
        Group.USER,
        Group.REPLAY,
        Group.SIMULATOR,
        Group.DATA,
    )
    return place.ledger.where_in_step(groups, lambda row: True)


def using_modules(place: Place) -> Origins:
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


def enclosing_modules(place: Place) -> Origins:
    """Parameters used by the code of an enclosing module (functional calls)."""
    parents = ancestors(place.row.component)
    groups = (Group.GRAD_OUT, Group.FORWARD)
    return place.ledger.where_in_step(groups, lambda row: row.component in parents)


def any_gradient(place: Place) -> Origins:
    """Any gradient or loss of this step."""
    groups = (Group.GRAD_OUT, Group.LOSS)
    return place.ledger.where_in_step(groups, lambda row: True)


def own_weights(place: Place) -> Origins:
    """The parameter itself and those beside it."""
    return place.ledger.current(Group.PARAM, place.row.subject) | place.ledger.where(
        [Group.PARAM], lambda row: is_under(row.component, place.row.component)
    )


# --- gradients, optimizer, parameters ---------------------------------------------------


def about_subject(*groups: Group) -> Callable[[Place], Origins]:
    """Buffers of these groups about the same parameter."""

    def look(place: Place) -> Origins:
        return place.ledger.where(groups, lambda row: row.subject == place.row.subject)

    return look


def contributions(place: Place) -> Origins:
    """Every contribution: a later equal one takes nothing of an earlier one back."""

    def mine(row: Row) -> bool:
        return row.subject == place.row.subject

    in_step = place.ledger.where_in_step([Group.GRAD_SCRATCH], mine)
    return in_step | place.ledger.contributed(mine)


def all_contributions(place: Place) -> Origins:
    """The contributions to any parameter, as a norm over all gradients takes them."""
    in_step = place.ledger.where_in_step([Group.GRAD_SCRATCH], lambda row: True)
    return in_step | place.ledger.contributed(lambda row: True)


def set_by_hand(place: Place) -> Origins:
    """A gradient that no backward pass contributed to: the code may have made it from anything."""
    return NONE if place.row.subject in place.contributed else downstream(place)


def all_in_step(*groups: Group) -> Callable[[Place], Origins]:
    """Everything of these groups in this step."""
    return lambda place: place.ledger.where_in_step(groups, lambda row: True)


def optimizer_inputs(place: Place) -> Origins:
    """A moment: its gradient, what it was before, the parameter (weight decay)."""
    if not place.row.subject:
        return place.ledger.current(Group.OPTIM, place.row.name)
    found = place.ledger.where(
        [Group.GRAD, Group.OPTIM], lambda row: row.subject == place.row.subject
    )
    return found | place.ledger.current(Group.PARAM, place.row.subject)


def hyper_parameters(place: Place) -> Origins:
    """Hyper-parameters of any optimizer."""
    return place.ledger.where([Group.OPTIM], lambda row: not row.subject)


def schedule(place: Place) -> Origins:
    """What a schedule may follow: losses and outputs."""
    if place.row.subject:
        return NONE
    return place.ledger.where([Group.LOSS, Group.FORWARD], lambda row: True) | place.ledger.past


def update(place: Place) -> Origins:
    """A parameter after the step: moments, gradient, and what it was before."""
    name = place.row.name
    found = place.ledger.where([Group.GRAD, Group.OPTIM], lambda row: row.subject == name)
    return found | place.ledger.current(Group.PARAM, name)


def running_statistics(place: Place) -> Origins:
    """A module buffer: what flowed through its module."""
    component = place.row.component
    return place.ledger.where_in_step(
        [Group.FORWARD, Group.DATA],
        lambda row: is_under(row.component, component) or row.group is Group.DATA,
    )


def written_from(place: Place) -> Origins:
    """A write that no optimizer makes may follow all that its step holds: a descent by hand."""
    if EventFlag.OUTSIDE_STEP not in place.row.flags:
        return NONE
    return downstream(place) | place.ledger.where_in_step([Group.GRAD_SCRATCH], lambda row: True)


def copied_parameters(place: Place) -> Origins:
    """Copies and averages of other parameters (target networks, EMA), which no optimizer steps.

    A copy bears the same last names as what it was copied from.
    """
    row = place.row
    if row.step == INIT_STEP or row.name in place.trained:
        return NONE
    tail = row.name.split(".")[-2:]
    return place.ledger.where([Group.PARAM], lambda other: other.name.split(".")[-2:] == tail)


def parameters_of_its_shape(place: Place) -> Origins:
    """The same where the copy goes by another name: an average has the shape of what it follows."""
    row = place.row
    if row.step == INIT_STEP or row.name in place.trained:
        return NONE
    layout = row.any_side.layout
    return place.ledger.where([Group.PARAM], lambda other: other.any_side.layout == layout)
