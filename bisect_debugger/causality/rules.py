"""The dependency rules: what each group of buffer is computed from, nearest first.

A rule is a list of tiers. The first tier that holds a difference explains the buffer, so a
near explanation is never diluted by a far one. A buffer that differs although no tier holds
a difference is an origin. Where the recording leaves it open, a rule takes the wider
explanation: a second origin is then found after the first is fixed, and nobody is sent to a
component that is innocent.
"""

from collections.abc import Callable, Container

from bisect_debugger.causality import upstream_backward as after
from bisect_debugger.causality import upstream_forward as before
from bisect_debugger.causality.ledger import NONE, Origins
from bisect_debugger.causality.place import Explanation, Place, Tier
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag


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
        origins = tier.upstream(place)
        if origins:
            return Explanation(origins, tier.words, tier.certain)
    for tier in _IN_THE_END:
        origins = tier.upstream(place)
        if origins:
            return Explanation(origins, tier.words, tier.certain)
    return Explanation(NONE, "", True)


def _handed_to_a_thread(place: Place) -> Origins:
    """What a thread beside the training works with: it may be handed anything at any time.

    Weights that it loads and jobs that it takes out of a queue are recorded where it uses them.
    """
    aside = EventFlag.BACKGROUND in place.row.flags and place.row.group is not Group.RNG
    return before.earlier_steps(place) if aside else NONE


_IN_THE_END = (
    Tier("gradients of the step that it may be made from", before.earlier_gradients, certain=False),
    Tier("what the training did before", _handed_to_a_thread, certain=False),
)
"""What explains an event of any group where no tier of its own does."""


def upstream_words(group: Group, recorded: Container[str]) -> tuple[str, str]:
    """What a group is computed from, in words.

    Args:
        group: the group.
        recorded: kinds of events that the recordings hold, as `Tier.parts` names them.

    Returns:
        What was recorded of it, and what was not.
    """
    parts = [part for tier in RULES[group] for part in tier.parts or ((tier.words, ""),)]
    seen = dict.fromkeys(words for words, kind in parts if not kind or kind in recorded)
    unseen = dict.fromkeys(words for words, kind in parts if kind and kind not in recorded)
    return ", ".join(seen), ", ".join(unseen)


def _streams(upstream: Callable[[Place], Origins], words: str = "") -> Tier:
    words = words or "the random streams drawn from"
    return Tier(words, upstream, parts=((words, "rng"),))


def explain_order(place: Place) -> Origins:
    """What an event owes to that it stands at another place, with the same content."""
    origins = before.drawn_since_last_step(place) or before.anything_before(place)
    return origins or place.ledger.where([Group.GRAD_OUT, Group.GRAD], lambda row: True)


RULES: dict[Group, tuple[Tier, ...]] = {
    Group.RNG: (
        Tier("its own state before", before.stream_before),
        Tier("values that decide how much is drawn", before.deciding_draws, certain=False),
    ),
    Group.SIMULATOR: (
        Tier("its own earlier state and the actions that went in", before.simulator_inputs),
        _streams(before.drawn_since_last_step),
        Tier("what the model did before", before.earlier_steps, certain=False),
    ),
    Group.REPLAY: (
        Tier("its own earlier samples", before.same_component(Group.REPLAY)),
        _streams(before.drawn_since_last_step),
        Tier(
            "the simulator",
            before.of_groups(Group.SIMULATOR),
            parts=(("the simulator", "simulator"),),
        ),
        Tier("priorities from earlier steps", before.earlier_steps, certain=False),
    ),
    Group.DATA: (
        Tier("the outputs it was computed from", before.recorded_producers),
        Tier(
            "the batch that a data loader returned",
            before.loaded_now,
            parts=(("the batch that a data loader returned", "loader"),),
        ),
        Tier(
            "the replay sample and the simulator",
            before.of_groups(Group.REPLAY, Group.SIMULATOR),
            parts=(("the replay sample", "replay"), ("the simulator", "simulator")),
        ),
        Tier(
            "what was recorded by hand before it",
            before.of_groups(Group.USER),
            parts=(("what was recorded by hand before it", "user"),),
        ),
        _streams(before.drawn_since_last_step),
        Tier(
            "earlier batches of a data loader",
            before.loaded_before,
            certain=False,
            parts=(("earlier batches of a data loader", "loader"),),
        ),
        Tier("what the model returned in an earlier step", before.kept_outputs, certain=False),
        Tier("any output before it", before.any_output_but_of_loaders, certain=False),
        Tier("what the model did before", before.closed_loop, certain=False),
    ),
    Group.PARAM: (
        Tier("moments, gradient and its value before", after.update),
        _streams(before.framework_stream, "the framework's random stream at init"),
        Tier("hyper-parameters", after.hyper_parameters),
        Tier("what flowed through its module", after.running_statistics),
        Tier("parameters that it copies", after.copied_parameters),
        _streams(before.drawn_for_writing, "the random streams drawn from to write it"),
        Tier("what the step computed before it was written", after.written_from, certain=False),
        Tier("parameters of its shape", after.parameters_of_its_shape, certain=False),
        Tier("what was there when it appeared", before.made_late, certain=False),
    ),
    Group.FORWARD: (
        Tier("inputs, parameters and inner outputs", before.forward),
        Tier("what the code around it has at hand", before.forward_surroundings, certain=False),
        Tier("any output", before.forward_any_output, certain=False),
        _streams(before.drawn_streams),
        Tier("what it returned in an earlier step", before.kept_outputs, certain=False),
    ),
    Group.LOSS: (
        Tier("the outputs it was computed from", before.recorded_producers),
        Tier("targets and weights handed over", before.handed_over, certain=False),
        Tier("any output", before.any_output, certain=False),
        Tier("parameters it penalises", before.penalised_parameters, certain=False),
        _streams(before.drawn_streams),
    ),
    Group.GRAD_OUT: (
        Tier("the value that the loss saw", after.own_value),
        Tier("gradients, weights and inputs of its consumers", after.consumers_backward),
        Tier("parameters of the enclosing module", after.enclosing_parameters),
        Tier("the loss and its targets", after.loss_and_targets, certain=False),
        Tier("any gradient downstream", after.downstream, certain=False),
        _streams(before.drawn_streams),
    ),
    Group.GRAD_SCRATCH: (
        Tier("output gradients and inputs of its modules", after.using_modules),
        Tier("gradients and inputs of the enclosing modules", after.enclosing_modules),
        Tier("any gradient downstream", after.any_gradient, certain=False),
        Tier("the weights themselves", after.own_weights),
        Tier(
            "any output that a loss may have been handed detached",
            after.downstream,
            certain=False,
        ),
    ),
    Group.GRAD: (
        Tier("its contributions and what was accumulated", after.contributions),
        Tier("its value before", after.about_subject(Group.GRAD)),
        Tier("a norm over all gradients (clipping)", after.all_contributions),
        Tier("any gradient downstream", after.any_gradient, certain=False),
        Tier("any output, where no contribution was recorded", after.set_by_hand, certain=False),
    ),
    Group.OPTIM: (
        Tier("its gradient, its state before and the parameter", after.optimizer_inputs),
        Tier("hyper-parameters", after.hyper_parameters),
        Tier("all gradients", after.all_in_step(Group.GRAD)),
        Tier("the loss that a schedule follows", after.schedule, certain=False),
    ),
    Group.USER: (
        Tier("anything recorded before it", before.anything_before, certain=False),
        Tier(
            "replay, simulator and gradients",
            before.of_groups(Group.REPLAY, Group.SIMULATOR, Group.GRAD_OUT),
            parts=(
                ("the replay sample", "replay"),
                ("the simulator", "simulator"),
                ("gradients", "grad_out"),
            ),
        ),
        _streams(before.drawn_streams),
    ),
}
"""Tiers of every group, nearest first."""
