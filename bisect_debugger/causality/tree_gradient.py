"""The part of the decision tree for gradients that changed between backward and the optimizer."""

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import EITHER, Leaf, Node, ask

GRADIENT: dict[str, Node] = {
    "grad-scaled": ask(
        "Do all its elements differ by one common factor?",
        "has_common_factor",
        "scaled-rounding",
        "grad-changed",
    ),
    # A norm that was added up in another order is a number too, and as near to the other one.
    "scaled-rounding": ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "scaled-gradient",
        "scaled-numbers",
    ),
    "scaled-numbers": ask(
        "Was an operator given other plain numbers in each run?",
        "given_other_numbers",
        "numbers-real",
        "scaled-gradient",
    ),
    "scaled-gradient": Leaf(Cause.REDUCTION_ORDER, "scaled-gradient"),
    "grad-changed": ask(
        "Do few elements differ, or all by more than the order of a sum explains?",
        "is_no_reordered_sum",
        "changed-drawn",
        "reduction-order",
        judged=EITHER,
    ),
    "changed-drawn": ask(
        "Did an operator draw it from a generator in another state?",
        "drawn_from_another_state",
        "drawn-gradient",
        "changed-entered",
    ),
    "changed-entered": ask(
        "Did numbers come in from outside torch's operators, and differ?",
        "came_in_from_outside",
        "changed-noise",
        "changed-gradient",
    ),
    "changed-noise": ask(
        "Is no element equal, as after a draw for each?",
        "differs_throughout",
        "drawn-gradient",
        "changed-gradient",
        judged=EITHER,
    ),
    "drawn-gradient": Leaf(Cause.RNG_STREAM, "drawn-gradient"),
    "changed-gradient": Leaf(Cause.REDUCTION_ORDER, "changed-gradient"),
}
"""Node id -> node; begins at `grad-scaled`."""
