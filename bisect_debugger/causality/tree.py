"""The decision tree that turns an origin into a cause: plain data, printable, extensible.

Each question names the look that answers it (`looks.LOOKS`). Where the recording does not
hold the answer, the walk takes the ``not_recorded`` branch and says so in the trail.
"""

from bisect_debugger.causality import circumstances, operator_looks
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import EITHER, YES, Leaf, Node, ask
from bisect_debugger.causality.tree_computed import COMPUTED, GATHERED_QUESTION
from bisect_debugger.causality.tree_gradient import GRADIENT
from bisect_debugger.causality.tree_written import WRITTEN

__all__ = ["ROOT", "TREE", "WINDOW", "circumstances", "operator_looks"]

ROOT = "one-loaded"
WINDOW = "opened-late"
"""Where the walk begins for what differs where a window opens."""


TREE: dict[str, Node] = {
    "one-loaded": ask(
        "Did one of the runs alone bring a saved state back before?",
        "one_run_loaded",
        "resume-state",
        "is-outside",
    ),
    # Such an event stands only in a run that changed the value, so this is asked before presence.
    "is-outside": ask(
        "Did a parameter change between two steps, outside any optimizer step?",
        "changed_outside_step",
        "outside-loaded",
        "is-fed",
    ),
    # Batches of another order may have other shapes, so this is asked before these.
    "is-fed": ask("Is it a batch or a replay sample?", "is_fed", "fed-shifted", "presence"),
    "fed-shifted": ask(
        "Is one run some batches ahead, as if it had left them out?",
        "is_shifted",
        "shifted-threads",
        "fed-rearranged",
        judged=YES,
    ),
    # Who hands batches over in turns may be overtaken, and leaves none out.
    "shifted-threads": ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "fed-drawn",
        "control-flow",
        judged=YES,
    ),
    "fed-rearranged": ask(
        "Do both runs hold the same samples, in another order or under other numbers?",
        "is_rearranged",
        "fed-sampler",
        "presence",
        judged=YES,
    ),
    "fed-sampler": ask(
        "Is it what a sampler returned?", "is_of_sampler", "sampler-order", "fed-threads"
    ),
    "fed-threads": ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "fed-gathered",
        "fed-renumbered",
        judged=YES,
    ),
    # Threads that draw from one stream in turns make other results, and not the same ones.
    "fed-gathered": ask(
        GATHERED_QUESTION, "works_on_other_results", "gathered-batch", "fed-drawn", judged=YES
    ),
    "gathered-batch": Leaf(Cause.DATA_ORDER, "gathered-batch"),
    "fed-renumbered": ask(
        "Do other numbers stand there for the same things?",
        "is_renumbered",
        "renumbered",
        "data-order",
    ),
    "renumbered": Leaf(Cause.DATA_ORDER, "renumbered"),
    "fed-drawn": ask(
        "Was a stream drawn from for it that is equal in both runs?",
        "drawn_equally",
        "prefetch-interleaving",
        "fed-renumbered",
        judged=EITHER,
    ),
    WINDOW: ask(
        "Did the runs differ already where the recording begins?",
        "already_different",
        "already-different",
        "resume-state",
    ),
    "already-different": Leaf(Cause.UNEXPLAINED, "already-different"),
    "presence": ask(
        "Do both runs have this event?", "both_have_it", "layout", "control-flow", "control-flow"
    ),
    "layout": ask(
        "Have both sides the same element type and shape?",
        "same_layout",
        "is-recalled",
        "control-flow",
    ),
    "is-recalled": ask(
        "Does the other run hold this content too, at another call of the module?",
        "at_another_call",
        "control-flow",
        "is-moved",
        judged=YES,
    ),
    "is-moved": ask(
        "Do both sides hold the same content, at another place in the order?",
        "only_moved",
        "moved-optimizer",
        "is-rng",
    ),
    "moved-optimizer": ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "moved-backward",
    ),
    "moved-backward": ask(
        "Is it the backward pass alone that goes another way?",
        "only_backward_moved",
        "reduction-order",
        "other-turns",
    ),
    "other-turns": Leaf(Cause.CONTROL_FLOW, "other-turns"),
    # --- random streams
    "is-rng": ask("Is it the state of a random generator?", "is_rng", "rng-first", "is-init"),
    "rng-first": ask(
        "Did the generator differ when it was first recorded?",
        "differs_from_the_first",
        "rng-seeded",
        "rng-anew",
    ),
    "rng-anew": ask(
        "Was it seeded with another number in each run?",
        "seeded_otherwise",
        "seeded-otherwise",
        "rng-sized",
    ),
    "rng-seeded": ask(
        "Was it seeded, and with the same number in both runs?",
        "seeded_alike",
        "rng-sized",
        "rng-otherwise",
    ),
    "rng-otherwise": ask(
        "Was it seeded with another number in each run?",
        "seeded_otherwise",
        "seeded-otherwise",
        "rng-resumed",
    ),
    "seeded-otherwise": Leaf(Cause.SEED_NOT_APPLIED, "seeded-otherwise"),
    # A stream that was equal until now gives equal numbers, as far as both runs draw.
    "rng-sized": ask(
        "Has what entered the model in this step another size in each run?",
        "fed_in_another_size",
        "drawn-more",
        "rng-interleaving",
        judged=YES,
    ),
    "drawn-more": Leaf(Cause.CONTROL_FLOW, "drawn-more"),
    "rng-resumed": ask(
        "Did training go on from a checkpoint, without this stream being seeded?",
        "resumed_without_the_stream",
        "resume-state",
        "seed-not-applied",
    ),
    "rng-interleaving": ask(
        "Were there several threads that may have drawn from it?",
        "several_threads",
        "prefetch-interleaving",
        "drawn-otherwise",
        judged=YES,
    ),
    "drawn-otherwise": Leaf(Cause.RNG_STREAM, "drawn-otherwise"),
    # --- parameters at init
    "is-init": ask(
        "Is it a parameter or module buffer as it began, at init or when it appeared?",
        "is_init",
        "init-memory",
        "is-replay",
    ),
    "init-memory": ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "init-all",
        judged=YES,
    ),
    "init-all": ask(
        "Do all parameters differ at init?", "no_sibling_equal", "init-loaded", "unseeded-init"
    ),
    "init-loaded": ask(
        "Was a saved state brought back just before?",
        "loaded_just_before",
        "resume-state",
        "seed-not-applied",
        judged=YES,
    ),
    # --- what enters the model
    "is-replay": ask("Is it a replay sample?", "is_replay", "replay-first", "is-simulator"),
    "replay-first": ask(
        "Does the sampler's very first sample differ?",
        "differs_from_the_first",
        "rng-stream",
        "replay-permuted",
    ),
    "replay-permuted": ask(
        "Are the same entries there in another order?",
        "is_permuted",
        "sampler-order",
        "async-update",
    ),
    "is-simulator": ask("Does it come from a simulator?", "is_simulator", "simulator", "is-data"),
    "is-data": ask("Is it the batch that enters the model?", "is_data", "is-action", "is-hyper"),
    "is-action": ask(
        "Is it an action that went into a simulator?", "is_action", "rng-stream", "data-memory"
    ),
    "data-memory": ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "data-permuted",
        judged=YES,
    ),
    "data-permuted": ask(
        "Are the same samples there in another order?", "is_permuted", "data-order", "data-first"
    ),
    "data-first": ask(
        "Does the very first batch differ?",
        "differs_from_the_first",
        "first-threads",
        "data-threads",
    ),
    "first-threads": ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "first-unseeded",
        "rng-stream",
        judged=YES,
    ),
    "first-unseeded": ask(
        "Did the program make a generator without a seed?",
        "unseeded_generator_made",
        "rng-stream",
        "first-drawn",
        judged=YES,
    ),
    # What threads share may be drawn from as often in both runs, and by turns in another order.
    "first-drawn": ask(
        "Was a stream drawn from for it that is equal in both runs?",
        "drawn_equally",
        "prefetch-interleaving",
        "rng-stream",
        judged=EITHER,
    ),
    "data-threads": ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "data-drawn",
        "data-streams",
        judged=YES,
    ),
    "data-drawn": ask(
        "Was a stream drawn from for it that is equal in both runs?",
        "drawn_equally",
        "async-update",
        "prefetch-interleaving",
        judged=EITHER,
    ),
    "data-streams": ask(
        "Are all random streams that were drawn from in this step equal?",
        "streams_equal",
        "data-decided",
        "rng-stream",
        judged=YES,
    ),
    "data-decided": ask(
        "Was a stream drawn from for it that is equal in both runs?",
        "drawn_equally",
        "async-update",
        "data-alone",
        judged=EITHER,
    ),
    "data-alone": ask(
        "Would threads of the program have been seen?",
        "sees_threads",
        "batch-decided",
        "prefetch-interleaving",
    ),
    "batch-decided": Leaf(Cause.CONTROL_FLOW, "batch-decided"),
    # --- optimizer
    "is-hyper": ask(
        "Is it a hyper-parameter of the optimizer (learning rate, betas)?",
        "is_hyper_parameter",
        "wall-clock",
        "is-optim",
    ),
    "is-optim": ask("Is it optimizer state?", "is_optim", "optim-order", "is-grad"),
    "optim-order": ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "optim-memory",
    ),
    "optim-memory": ask(
        "Was memory read that nobody had written to?",
        "read_unwritten",
        "unwritten-state",
        "optim-first",
        judged=YES,
    ),
    "unwritten-state": Leaf(Cause.UNINITIALISED_MEMORY, "unwritten-state"),
    "optim-first": ask(
        "Did it differ in the first step already?",
        "is_first_training_step",
        "optim-loaded",
        "optimizer-state",
    ),
    "optim-loaded": ask(
        "Was a saved state brought back just before?",
        "loaded_just_before",
        "resume-state",
        "optimizer-state",
        "resume-state",
    ),
    # --- gradients
    "is-grad": ask(
        "Is it the gradient that the optimizer sees, with equal contributions?",
        "is_grad",
        "grad-scaled",
        "is-param",
    ),
    "is-param": ask(
        "Is it a parameter or module buffer after the step, with equal gradient and moments?",
        "is_param",
        "param-order",
        "computed-loaded",
    ),
    "param-order": ask(
        "Does the optimizer visit its parameters in another order?",
        "order_differs",
        "optimizer-order",
        "async-update",
    ),
    **GRADIENT,
    **WRITTEN,
    **COMPUTED,
    **{cause.value: Leaf(cause) for cause in Cause},
}
"""Node id -> node. Leaves are called like their cause."""
