"""The decision tree that turns an origin into a cause: plain data, printable, extensible.

Each question names the look that answers it (`looks.LOOKS`). Where the recording does not
hold the answer, the walk takes the ``not_recorded`` branch and says so in the trail.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bisect_debugger.causality.case import Answer, Case, TrailStep
from bisect_debugger.causality.causes import REMEDIES, VARIANTS, Cause, Remedy
from bisect_debugger.causality.looks import LOOKS


@dataclass(frozen=True, slots=True)
class Question:
    """An inner node.

    Attributes:
        text: the question as a person reads it.
        look: name of the look that answers it.
        yes: id of the next node.
        no: id of the next node.
        not_recorded: id of the next node where the recording does not tell.
    """

    text: str
    look: str
    yes: str
    no: str
    not_recorded: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A conclusion; ``variant`` names what is known beyond the cause, in `causes.VARIANTS`."""

    cause: Cause
    variant: str = ""

    @property
    def remedy(self) -> Remedy:
        """What is known about it."""
        return VARIANTS[self.variant] if self.variant else REMEDIES[self.cause]


Node = Question | Leaf

ROOT = "is-outside"
WINDOW = "opened-late"
"""Where the walk begins for what differs where a window opens."""


def _ask(text: str, look: str, yes: str, no: str, not_recorded: str = "") -> Question:
    return Question(text, look, yes, no, not_recorded or no)


TREE: dict[str, Node] = {
    # Such an event stands only in a run that changed the value, so this is asked before presence.
    "is-outside": _ask(
        "Did a parameter change between two steps, outside any optimizer step?",
        "changed_outside_step",
        "outside-first",
        "presence",
    ),
    "outside-first": _ask(
        "Is it the first step that was recorded?",
        "is_first_training_step",
        "resume-state",
        "async-update",
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
        "is-moved",
        "control-flow",
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
        "control-flow",
    ),
    # --- random streams
    "is-rng": _ask("Is it the state of a random generator?", "is_rng", "rng-first", "is-init"),
    "rng-first": _ask(
        "Did the generator differ when it was first recorded?",
        "differs_from_the_first",
        "seed-not-applied",
        "rng-interleaving",
    ),
    "rng-interleaving": _ask(
        "Do several threads appear in the recording?",
        "several_threads",
        "prefetch-interleaving",
        "rng-stream",
    ),
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
        "Are all random streams that were drawn from in this step equal?",
        "streams_equal",
        "prefetch-interleaving",
        "rng-stream",
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
        "resume-state",
        "optimizer-state",
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
    ),
    "changed-gradient": Leaf(Cause.REDUCTION_ORDER, "changed-gradient"),
    "is-param": _ask(
        "Is it a parameter or module buffer after the step, with equal gradient and moments?",
        "is_param",
        "param-order",
        "computed-memory",
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
    ),
    "computed-environment": _ask(
        "Do the runs differ in something that decides how kernels add up (threads, versions, "
        "device, determinism flags)?",
        "environment_differs",
        "environment",
        "is-backward",
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
        "private-generator",
        "forward-kernel",
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
        "rng-stream",
        "rng-stream",
    ),
    "is-loss": _ask(
        "Is it a loss whose model outputs are equal?", "is_loss", "loss-rounding", "is-user"
    ),
    "loss-rounding": _ask(
        "Is it only a small difference in the last digits?",
        "is_rounding",
        "forward-kernel",
        "unexplained",
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


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Where a walk through the tree ended, and the questions on the way."""

    leaf: Leaf
    trail: tuple[TrailStep, ...]


def classify(case: Case, tree: Mapping[str, Node] = TREE) -> tuple[Cause, tuple[TrailStep, ...]]:
    """The cause of one origin, and every question on the way; see `conclude`."""
    conclusion = conclude(case, tree)
    return conclusion.leaf.cause, conclusion.trail


def conclude(case: Case, tree: Mapping[str, Node] = TREE) -> Conclusion:
    """Walk the tree for one origin.

    Args:
        case: the origin and its evidence.
        tree: the tree to walk; a user's own nodes may be merged into `TREE`.

    Returns:
        The leaf, and every question with its evidence and answer.
    """
    trail: list[TrailStep] = []
    node_id = WINDOW if case.opened else ROOT
    while True:
        node = tree[node_id]
        if isinstance(node, Leaf):
            return Conclusion(node, tuple(trail))
        finding = LOOKS[node.look](case)
        trail.append(TrailStep(node.text, finding.evidence, finding.answer.value, node_id))
        node_id = {
            Answer.YES: node.yes,
            Answer.NO: node.no,
            Answer.NOT_RECORDED: node.not_recorded,
        }[finding.answer]


def render_tree(tree: Mapping[str, Node] = TREE) -> str:
    """The tree as indented text, every node once."""
    lines: list[str] = []
    shown: set[str] = set()

    def show(node_id: str, depth: int, label: str) -> None:
        node = tree[node_id]
        indent = "  " * depth
        if isinstance(node, Leaf):
            lines.append(f"{indent}{label}=> {node.cause.value}")
            return
        again = node_id in shown
        lines.append(f"{indent}{label}{node.text} [{node_id}]{' (see above)' if again else ''}")
        if again:
            return
        shown.add(node_id)
        show(node.yes, depth + 1, "yes: ")
        # The long "no" chain stays at one depth, so that the tree fits a narrow terminal.
        show(node.no, depth if isinstance(tree[node.no], Question) else depth + 1, "no: ")
        if node.not_recorded not in (node.yes, node.no):
            show(node.not_recorded, depth + 1, "not recorded: ")

    show(WINDOW, 0, "where a window opens: ")
    show(ROOT, 0, "")
    return "\n".join(lines)
