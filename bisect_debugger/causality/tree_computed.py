"""The part of the decision tree for what is computed: forward, loss, backward, by hand.

It is walked where neither a generator nor a batch, neither an optimizer nor a parameter is what
differs first.
"""

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import EITHER, YES, Leaf, Node, ask

WRITTEN_OUTSIDE = "written-outside"
"""The conclusion that blames a module for what another one returned."""

GATHERED_QUESTION = "Does an operator put results together in another order in each run?"

COMPUTED: dict[str, Node] = {
    "computed-loaded": ask(
        "Was a saved state brought back in the middle of this step?",
        "loaded_in_this_step",
        "resume-state",
        "computed-drawn",
        judged=YES,
    ),
    # What single operators tell goes before what only the sizes of differences speak for.
    "computed-drawn": ask(
        "Did an operator draw it from a generator in another state?",
        "drawn_from_another_state",
        "private-generator",
        "computed-numbers",
    ),
    "computed-numbers": ask(
        "Was an operator given other plain numbers in each run?",
        "given_other_numbers",
        "numbers-real",
        "computed-memory",
    ),
    "numbers-real": ask(
        "Are they real numbers, and not sizes, indices or switches?",
        "numbers_are_real",
        "numbers-drawn",
        "other-sizes",
        judged=EITHER,
    ),
    "other-sizes": Leaf(Cause.CONTROL_FLOW, "other-sizes"),
    "numbers-drawn": ask(
        "Did the program make a generator without a seed?",
        "unseeded_generator_made",
        "rng-stream",
        "other-number",
        judged=EITHER,
    ),
    "other-number": Leaf(Cause.WALL_CLOCK, "other-number"),
    "computed-memory": ask(
        "Do the values look like memory that nobody wrote?",
        "looks_uninitialised",
        "uninitialised-memory",
        "computed-environment",
        judged=YES,
    ),
    "computed-environment": ask(
        "Do the runs differ in something that decides how kernels add up (threads, versions, "
        "device, determinism flags)?",
        "environment_differs",
        "environment",
        "computed-threads",
        judged=YES,
    ),
    "computed-threads": ask(
        "Were there several threads that may have made it?",
        "several_threads",
        "computed-written",
        "is-backward",
        judged=YES,
    ),
    "computed-written": ask(
        "Are parameters that it was computed with written outside the optimizer's steps?",
        "computed_while_written",
        "written-outside",
        "is-backward",
        judged=YES,
    ),
    "written-outside": Leaf(Cause.ASYNC_UPDATE, WRITTEN_OUTSIDE),
    "is-backward": ask(
        "Was it computed in the backward pass?", "is_backward", "backward-gathered", "is-forward"
    ),
    "is-forward": ask(
        "Is it the output of a module whose inputs and parameters are equal?",
        "is_module_output",
        "forward-draw",
        "is-between",
    ),
    "forward-draw": ask(
        "Does every element differ, by as much as another draw?",
        "is_another_draw",
        "forward-drawing",
        "forward-gathered",
        judged=EITHER,
    ),
    "forward-drawing": ask(
        "Is it a module of torch's own that draws nothing?",
        "draws_nothing",
        "async-update",
        "private-generator",
    ),
    "private-generator": Leaf(Cause.RNG_STREAM, "private-generator"),
    "forward-gathered": ask(
        GATHERED_QUESTION, "works_on_other_results", "gathered-forward", "forward-raced"
    ),
    "forward-raced": ask(
        "Did threads of the program's own compute it, from what is no tensor of theirs alone?",
        "raced_for_state",
        "raced-forward",
        "forward-kernel",
    ),
    "raced-forward": Leaf(Cause.FORWARD_KERNEL, "raced"),
    "backward-gathered": ask(
        GATHERED_QUESTION, "works_on_other_results", "gathered-backward", "backward-kernel"
    ),
    "gathered-forward": Leaf(Cause.FORWARD_KERNEL, "gathered"),
    "gathered-backward": Leaf(Cause.BACKWARD_KERNEL, "gathered"),
    "is-between": ask(
        "Is it the input of a module, computed by the code between modules?",
        "is_module_input",
        "between-values",
        "is-loss",
    ),
    "between-values": ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "forward-gathered",
        "between-part",
        "rng-stream",
        judged=EITHER,
    ),
    "between-part": ask(
        "Is a good part of the elements equal?",
        "is_equal_in_part",
        "forward-gathered",
        "rng-stream",
        judged=EITHER,
    ),
    "is-loss": ask(
        "Is it a loss whose model outputs are equal?", "is_loss", "loss-rounding", "is-user"
    ),
    "loss-rounding": ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "forward-gathered",
        "loss-turns",
        judged=EITHER,
    ),
    "loss-turns": ask(
        "Are the calls that made it the same in both runs, in another order?",
        "works_on_other_results",
        "other-turns",
        "unexplained",
    ),
    "is-user": ask("Was it recorded by hand?", "is_user", "user-rounding", "unexplained"),
    "user-rounding": ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "unexplained",
        "rng-stream",
        "unexplained",
    ),
}
"""Node id -> node; begins at `computed-loaded`."""
