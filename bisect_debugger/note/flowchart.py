"""The trail as a Mermaid flowchart: questions are boxes, answers stand on the arrows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.note.escape import mermaid

_ANSWER_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Branch:
    """The way of one origin through the decision tree.

    Attributes:
        component: of the origin.
        steps: the questions as they were answered.
        cause: what they led to.
    """

    component: str
    steps: tuple[TrailStep, ...]
    cause: str


def render_flowchart(search: Sequence[TrailStep], branches: Sequence[Branch] = ()) -> str:
    """A fenced flowchart.

    Args:
        search: the questions that all origins share, at least one. Where there are no
            branches, its last answer is the conclusion.
        branches: what follows on the last of them, one way for each origin.
    """
    lines = ["```mermaid", "flowchart TD"]
    lines += _chain("q", search)
    if not branches:
        lines.append(_conclusion("c0", search[-1].answer))
        lines.append(_arrow(f"q{len(search) - 1}", search[-1].answer, "c0"))
    for number, branch in enumerate(branches, 1):
        lines += _branch(number, branch, f"q{len(search) - 1}")
    return "\n".join([*lines, "```"])


def _branch(number: int, branch: Branch, fork: str) -> Iterator[str]:
    prefix, conclusion = f"b{number}q", f"c{number}"
    yield from _chain(prefix, branch.steps)
    yield _conclusion(conclusion, branch.cause)
    yield _arrow(fork, branch.component, f"{prefix}0" if branch.steps else conclusion)
    if branch.steps:
        last = len(branch.steps) - 1
        yield _arrow(f"{prefix}{last}", branch.steps[last].answer, conclusion)


def _chain(prefix: str, steps: Sequence[TrailStep]) -> Iterator[str]:
    """Boxes one below the other, with the arrows between them."""
    for number, step in enumerate(steps):
        yield f'    {prefix}{number}["{mermaid(step.question, 200)}"]'
    for number, step in enumerate(steps[:-1]):
        yield _arrow(f"{prefix}{number}", step.answer, f"{prefix}{number + 1}")


def _conclusion(node: str, words: str) -> str:
    return f'    {node}(["{mermaid(words)}"])'


def _arrow(source: str, words: str, target: str) -> str:
    return f'    {source} -->|"{mermaid(words, _ANSWER_CHARACTERS)}"| {target}'
