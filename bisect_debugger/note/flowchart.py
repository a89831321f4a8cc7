"""The trail as a Mermaid flowchart: questions down the left, evidence on the arrows."""

from collections.abc import Sequence

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.note.escape import mermaid


def render_flowchart(trail: Sequence[TrailStep]) -> str:
    """A fenced Mermaid flowchart with one node per question and one for the conclusion."""
    lines = ["```mermaid", "flowchart TD"]
    for number, step in enumerate(trail):
        lines.append(f'    q{number}["{mermaid(step.question)}"]')
    lines.append(f'    end0(["{mermaid(trail[-1].answer)}"])')
    for number, step in enumerate(trail):
        target = f"q{number + 1}" if number + 1 < len(trail) else "end0"
        lines.append(f'    q{number} -->|"{mermaid(step.answer, 60)}"| {target}')
    lines.append("```")
    return "\n".join(lines)
