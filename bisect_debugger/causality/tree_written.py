"""The part of the decision tree for parameters that changed while no optimizer was at work."""

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import Leaf, Node, ask

WRITTEN: dict[str, Node] = {
    "outside-loaded": ask(
        "Was a saved state brought back just before?",
        "loaded_just_before",
        "resume-state",
        "outside-drawn",
        "outside-midway",
    ),
    # A checkpoint is brought back before the first step begins, and not within it.
    "outside-midway": ask(
        "Was it written in the middle of a step?",
        "written_midway",
        "outside-drawn",
        "outside-first",
    ),
    "outside-first": ask(
        "Is it the first step that was recorded?",
        "is_first_training_step",
        "resume-state",
        "outside-drawn",
    ),
    "outside-drawn": ask(
        "Did an operator draw it from a generator in another state?",
        "drawn_from_another_state",
        "rng-stream",
        "outside-numbers",
    ),
    "outside-numbers": ask(
        "Was an operator given other plain numbers in each run?",
        "given_other_numbers",
        "numbers-real",
        "written-between",
    ),
    "written-between": Leaf(Cause.ASYNC_UPDATE, "written-between"),
}
"""Node id -> node; begins at `outside-loaded`."""
