"""The decision tree that turns an origin into a cause: plain data, printable, extensible.

Each question names the look that answers it (`looks.LOOKS`). Where the recording does not
hold the answer, the walk takes the ``not_recorded`` branch and says so in the trail.
"""

from bisect_debugger.causality import circumstances
from bisect_debugger.causality.case import Answer
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import Leaf, Node, Question

__all__ = ["ROOT", "TREE", "WINDOW", "circumstances"]

ROOT = "one-loaded"
WINDOW = "opened-late"
"""Where the walk begins for what differs where a window opens."""


def _ask(
    text: str,
    look: str,
    yes: str,
    no: str,
    not_recorded: str = "",
    *,
    judged: frozenset[Answer] = frozenset(),
) -> Question:
    return Question(text, look, yes, no, not_recorded or no, judged)


_EITHER = frozenset((Answer.YES, Answer.NO))
_YES = frozenset((Answer.YES,))
"""Answers that are judgements. A no that rests on nothing having been seen speaks for nothing."""


TREE: dict[str, Node] = {
    "one-loaded": _ask(
        "Did one of the runs alone bring a saved state back before?",
        "one_run_loaded",
        "resume-state",
        "is-outside",
    ),
    # Such an event stands only in a run that changed the value, so this is asked before presence.
    "is-outside": _ask(
        "Did a parameter change between two steps, outside any optimizer step?",
        "changed_outside_step",
        "outside-loaded",
        "is-fed",
    ),
    "outside-loaded": _ask(
        "Was a saved state brought back just before?",
        "loaded_just_before",
        "resume-state",
        "async-update",
        "outside-first",
    ),
    "outside-first": _ask(
        "Is it the first step that was recorded?",
        "is_first_training_step",
        "resume-state",
        "async-update",
    ),
    # Batches of another order may have other shapes, so this is asked before these.
    "is-fed": _ask("Is it a batch or a replay sample?", "is_fed", "fed-shifted", "presence"),
    "fed-shifted": _ask(
        "Is one run some batches ahead, as if it had left them out?",
        "is_shifted",
        "control-flow",
        "fed-rearranged",
        judged=_YES,
    ),
    "fed-rearranged": _ask(
        "Do both runs hold the same samples, in another order or under other numbers?",
        "is_rearranged",
        "fed-sampler",
        "presence",
        judged=_YES,
    ),
    "fed-sampler": _ask(
        "Is it what a sampler returned?", "is_of_sampler", "sampler-order", "data-order"
    ),
    WINDOW: _ask(
        "Did the runs differ already where the recording begins?",
        "already_different",
        "already-different",
        "resume-state",
    ),
    "already-different": Leaf(Cause.UNEXPLAINED, "already-different"),
    "presence": _ask(
        "Do both runs have this event?", "both_have_it", "layout", "control-flow", "control-flow"
    ),
    "layout": _ask(
        "Have both sides the same element type and shape?",
        "same_layout",
        "is-recalled",
        "control-flow",
    ),
    "is-recalled": _ask(
        "Does the other run hold this content too, at another call of the module?",
        "at_another_call",
        "control-flow",
        "is-moved",
        judged=_YES,
    ),
    "is-moved": _ask(
        "Do both sides hold the same content, at another place in the order?",
        "only_moved",
        "moved-optimizer",
        "is-rng",
    ),
    "moved-optimizer": _ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "moved-backward",
    ),
    "moved-backward": _ask(
        "Is it the backward pass alone that goes another way?",
        "only_backward_moved",
        "reduction-order",
        "control-flow",
    ),
    # --- random streams
    "is-rng": _ask("Is it the state of a random generator?", "is_rng", "rng-first", "is-init"),
    "rng-first": _ask(
        "Did the generator differ when it was first recorded?",
        "differs_from_the_first",
        "rng-seeded",
        "rng-sized",
    ),
    "rng-seeded": _ask(
        "Was it seeded, and with the same number in both runs?",
        "seeded_alike",
        "rng-sized",
        "rng-otherwise",
    ),
    "rng-otherwise": _ask(
        "Was it seeded with another number in each run?",
        "seeded_otherwise",
        "seeded-otherwise",
        "rng-resumed",
    ),
    "seeded-otherwise": Leaf(Cause.SEED_NOT_APPLIED, "seeded-otherwise"),
    # A stream that was equal until now gives equal numbers, as far as both runs draw.
    "rng-sized": _ask(
        "Has what entered the model in this step another size in each run?",
        "fed_in_another_size",
        "drawn-more",
        "rng-interleaving",
        judged=_YES,
    ),
    "drawn-more": Leaf(Cause.CONTROL_FLOW, "drawn-more"),
    "rng-resumed": _ask(
        "Did training go on from a checkpoint, without this stream being seeded?",
        "resumed_without_the_stream",
        "resume-state",
        "seed-not-applied",
    ),
    "rng-interleaving": _ask(
        "Were there several threads that may have drawn from it?",
        "several_threads",
        "prefetch-interleaving",
        "drawn-otherwise",
        judged=_YES,
    ),
    "drawn-otherwise": Leaf(Cause.RNG_STREAM, "drawn-otherwise"),
    # --- parameters at init
    "is-init": _ask(
        "Is it a parameter or module buffer as it began, at init or when it appeared?",
        "is_init",
        "init-memory",
        "is-replay",
    ),
    "init-memory": _ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "init-all",
        judged=_YES,
    ),
    "init-all": _ask(
        "Do all parameters differ at init?", "no_sibling_equal", "seed-not-applied", "unseeded-init"
    ),
    # --- what enters the model
    "is-replay": _ask("Is it a replay sample?", "is_replay", "replay-first", "is-simulator"),
    "replay-first": _ask(
        "Does the sampler's very first sample differ?",
        "differs_from_the_first",
        "rng-stream",
        "replay-permuted",
    ),
    "replay-permuted": _ask(
        "Are the same entries there in another order?",
        "is_permuted",
        "sampler-order",
        "async-update",
    ),
    "is-simulator": _ask("Does it come from a simulator?", "is_simulator", "simulator", "is-data"),
    "is-data": _ask("Is it the batch that enters the model?", "is_data", "is-action", "is-hyper"),
    "is-action": _ask(
        "Is it an action that went into a simulator?", "is_action", "rng-stream", "data-memory"
    ),
    "data-memory": _ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "data-permuted",
        judged=_YES,
    ),
    "data-permuted": _ask(
        "Are the same samples there in another order?", "is_permuted", "data-order", "data-first"
    ),
    "data-first": _ask(
        "Does the very first batch differ?",
        "differs_from_the_first",
        "rng-stream",
        "data-threads",
    ),
    "data-threads": _ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "data-drawn",
        "data-streams",
        judged=_YES,
    ),
    "data-drawn": _ask(
        "Was a stream drawn from for it that is equal in both runs?",
        "drawn_equally",
        "async-update",
        "prefetch-interleaving",
        judged=_EITHER,
    ),
    "data-streams": _ask(
        "Are all random streams that were drawn from in this step equal?",
        "streams_equal",
        "data-drawn",
        "rng-stream",
        judged=_YES,
    ),
    # --- optimizer
    "is-hyper": _ask(
        "Is it a hyper-parameter of the optimizer (learning rate, betas)?",
        "is_hyper_parameter",
        "wall-clock",
        "is-optim",
    ),
    "is-optim": _ask("Is it optimizer state?", "is_optim", "optim-order", "is-grad"),
    "optim-order": _ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "optim-first",
    ),
    "optim-first": _ask(
        "Did it differ in the first step already?",
        "is_first_training_step",
        "optim-loaded",
        "optimizer-state",
    ),
    "optim-loaded": _ask(
        "Was a saved state brought back just before?",
        "loaded_just_before",
        "resume-state",
        "optimizer-state",
        "resume-state",
    ),
    # --- gradients
    "is-grad": _ask(
        "Is it the gradient that the optimizer sees, with equal contributions?",
        "is_grad",
        "grad-scaled",
        "is-param",
    ),
    "grad-scaled": _ask(
        "Do all its elements differ by one common factor?",
        "has_common_factor",
        "scaled-gradient",
        "grad-changed",
    ),
    "scaled-gradient": Leaf(Cause.REDUCTION_ORDER, "scaled-gradient"),
    "grad-changed": _ask(
        "Do few elements differ, or all by more than the order of a sum explains?",
        "is_no_reordered_sum",
        "changed-gradient",
        "reduction-order",
        judged=_EITHER,
    ),
    "changed-gradient": Leaf(Cause.REDUCTION_ORDER, "changed-gradient"),
    "is-param": _ask(
        "Is it a parameter or module buffer after the step, with equal gradient and moments?",
        "is_param",
        "param-order",
        "computed-loaded",
    ),
    "computed-loaded": _ask(
        "Was a saved state brought back in the middle of this step?",
        "loaded_in_this_step",
        "resume-state",
        "computed-memory",
        judged=_YES,
    ),
    "param-order": _ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "async-update",
    ),
    "computed-memory": _ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "computed-environment",
        judged=_YES,
    ),
    "computed-environment": _ask(
        "Do the runs differ in something that decides how kernels add up (threads, versions, "
        "device, determinism flags)?",
        "environment_differs",
        "environment",
        "is-backward",
        judged=_YES,
    ),
    "is-backward": _ask(
        "Was it computed in the backward pass?", "is_backward", "backward-kernel", "is-forward"
    ),
    "is-forward": _ask(
        "Is it the output of a module whose inputs and parameters are equal?",
        "is_module_output",
        "forward-draw",
        "is-between",
    ),
    "forward-draw": _ask(
        "Does every element differ, by as much as another draw?",
        "is_another_draw",
        "forward-drawing",
        "forward-kernel",
        judged=_EITHER,
    ),
    "forward-drawing": _ask(
        "Is it a module of torch's own that draws nothing?",
        "draws_nothing",
        "async-update",
        "private-generator",
    ),
    "private-generator": Leaf(Cause.RNG_STREAM, "private-generator"),
    "is-between": _ask(
        "Is it the input of a module, computed by the code between modules?",
        "is_module_input",
        "between-values",
        "is-loss",
    ),
    "between-values": _ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "forward-kernel",
        "between-part",
        "rng-stream",
        judged=_EITHER,
    ),
    "between-part": _ask(
        "Is a good part of the elements equal?",
        "is_equal_in_part",
        "forward-kernel",
        "rng-stream",
        judged=_EITHER,
    ),
    "is-loss": _ask(
        "Is it a loss whose model outputs are equal?", "is_loss", "loss-rounding", "is-user"
    ),
    "loss-rounding": _ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "forward-kernel",
        "unexplained",
        judged=_EITHER,
    ),
    "is-user": _ask("Was it recorded by hand?", "is_user", "user-rounding", "unexplained"),
    "user-rounding": _ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "unexplained",
        "rng-stream",
        "unexplained",
    ),
    **{cause.value: Leaf(cause) for cause in Cause},
}
"""Node id -> node. Leaves are called like their cause."""
