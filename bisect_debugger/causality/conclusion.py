"""Walking the decision tree for one origin, and printing it."""

from collections.abc import Mapping
from dataclasses import dataclass

from bisect_debugger.causality.case import Answer, Case, TrailStep
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.nodes import Leaf, Node, Question
from bisect_debugger.causality.own_nodes import tree_in_force
from bisect_debugger.causality.tree import ROOT, WINDOW

_MOST_ALTERNATIVES = 2


@dataclass(frozen=True, slots=True)
class Alternative:
    """A cause that is less likely.

    Attributes:
        cause: kind of fault.
        why: the judgement that would have to be otherwise, with its evidence.
    """

    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Where a walk through the tree ended, and the questions on the way.

    Attributes:
        leaf: where it ended.
        trail: every question with its evidence and answer.
        alternatives: where it would have ended if a judgement were otherwise, likeliest first.
    """

    leaf: Leaf
    trail: tuple[TrailStep, ...]
    alternatives: tuple[Alternative, ...] = ()


def conclude(case: Case, tree: Mapping[str, Node] | None = None) -> Conclusion:
    """Walk the tree for one origin.

    Args:
        case: the origin and its evidence.
        tree: the tree to walk; by default the one in force, see `own_nodes`.

    Returns:
        The leaf, every question with its evidence and answer, and what else it may be.
    """
    tree = tree_in_force() if tree is None else tree
    steps = _walk(case, tree, WINDOW if case.opened else ROOT)
    leaf = tree[steps.end]
    assert isinstance(leaf, Leaf), "a walk ends at a leaf"
    found: dict[Cause, str] = {}
    for question, trail_step, taken in reversed(steps.asked):
        if Answer(trail_step.answer) not in question.doubtful:
            continue
        for other in dict.fromkeys((question.yes, question.no)):
            end = tree[_walk(case, tree, other).end]
            if other != taken and isinstance(end, Leaf) and end.cause is not leaf.cause:
                words = f"{trail_step.question} {trail_step.answer} ({trail_step.evidence})"
                found.setdefault(end.cause, words)
    alternatives = [Alternative(cause, why) for cause, why in found.items()]
    return Conclusion(
        leaf,
        tuple(step for _, step, _ in steps.asked),
        tuple(alternatives[:_MOST_ALTERNATIVES]),
    )


@dataclass(frozen=True, slots=True)
class _Walked:
    """The questions of a walk with what was answered and where that led, and its end."""

    asked: tuple[tuple[Question, TrailStep, str], ...]
    end: str


def _walk(case: Case, tree: Mapping[str, Node], start: str) -> _Walked:
    asked: list[tuple[Question, TrailStep, str]] = []
    node_id = start
    while isinstance(node := tree[node_id], Question):
        finding = node.ask(case)
        following = {
            Answer.YES: node.yes,
            Answer.NO: node.no,
            Answer.NOT_RECORDED: node.not_recorded,
        }[finding.answer]
        step = TrailStep(node.text, finding.evidence, finding.answer.value, node_id)
        asked.append((node, step, following))
        node_id = following
    return _Walked(tuple(asked), node_id)


def render_tree(tree: Mapping[str, Node] | None = None) -> str:
    """The tree as indented text, every node once; by default the one in force."""
    whole = tree_in_force() if tree is None else tree
    lines: list[str] = []
    shown: set[str] = set()

    def show(node_id: str, depth: int, label: str) -> None:
        node = whole[node_id]
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
        show(node.no, depth if isinstance(whole[node.no], Question) else depth + 1, "no: ")
        if node.not_recorded not in (node.yes, node.no):
            show(node.not_recorded, depth + 1, "not recorded: ")

    show(WINDOW, 0, "where a window opens: ")
    show(ROOT, 0, "")
    return "\n".join(lines)
