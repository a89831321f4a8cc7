"""The trail as the note tells it: a flowchart, and the same as numbered lists."""

from collections.abc import Sequence

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.diagnosis.model import Diagnosis
from bisect_debugger.diagnosis.trail import FORK
from bisect_debugger.note.escape import code, text
from bisect_debugger.note.flowchart import Branch, render_flowchart

BRANCHES_SHOWN = 5
"""Origins whose walk is shown; a flowchart of dozens is no help."""

_FOLDED = ("<details>", "<summary>The questions that were asked, and their answers</summary>")


def render_trail(diagnosis: Diagnosis) -> str:
    """The section, or nothing where there is no trail."""
    search, branches = split_trail(diagnosis)
    if not search:
        return ""
    lines = ["## Trail", "", *_FOLDED, "", render_flowchart(search, branches), "", *_list(search)]
    for number, branch in enumerate(branches, 1):
        lines += ["", f"Origin {number}, {code(branch.component)}:", "", *_list(branch.steps)]
        lines.append(f"{len(branch.steps) + 1}. Conclusion: **{branch.cause}**")
    left = len(diagnosis.origins) - len(branches)
    if branches and left > 0:
        lines += ["", f"{left} more origins were classified in the same way."]
    return "\n".join([*lines, "", "</details>"])


def split_trail(diagnosis: Diagnosis) -> tuple[tuple[TrailStep, ...], tuple[Branch, ...]]:
    """The search that all origins share, and the walk of each origin through the tree."""
    nodes = [step.node for step in diagnosis.trail]
    if FORK not in nodes:
        return diagnosis.trail, ()
    search = diagnosis.trail[: nodes.index(FORK) + 1]
    branches = [
        Branch(origin.component, origin.trail, origin.cause.value)
        for origin in diagnosis.origins[:BRANCHES_SHOWN]
    ]
    return search, tuple(branches)


def _list(steps: Sequence[TrailStep]) -> list[str]:
    return [
        f"{number}. {text(step.question, 400)} **{text(step.answer, 400) or '-'}** "
        f"({text(step.evidence, 1000)})"
        for number, step in enumerate(steps, 1)
    ]
