"""One origin as a section: where, what to change, why, how far it got, its numbers."""

from collections.abc import Sequence

from bisect_debugger.diagnosis.model import Origin, Reached
from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.note.escape import block, code, text
from bisect_debugger.report.numbers import difference_lines
from bisect_debugger.report.said import Said, say_once
from bisect_debugger.report.zoom import excerpt_lines, operator_words

ORIGINS_SHOWN = 10
"""Origins with a section of their own; a note must fit a comment, which GitHub cuts at 65,536
characters."""

_LISTED = 100
_REACHED_SHOWN = 12
_SENTENCE_CHARACTERS = 1000


def render_origins(origins: Sequence[Origin]) -> list[str]:
    """One section each; of many origins those behind the first ten share a list."""
    shown = zip(origins[:ORIGINS_SHOWN], say_once(origins), strict=False)
    sections = [
        render_origin(number, origin, said) for number, (origin, said) in enumerate(shown, 1)
    ]
    further = origins[ORIGINS_SHOWN:]
    if further:
        lines = [
            f"- {code(origin.component)}, {origin.cause.value}: {code(origin.buffer)} in "
            f"{step_words(origin.step)}"
            for origin in further[:_LISTED]
        ]
        left = len(further) - _LISTED
        more = [f"- and {left} more"] if left > 0 else []
        sections.append("\n".join(["## Further origins", "", *lines, *more]))
    return sections


def render_origin(number: int, origin: Origin, said: Said) -> str:
    """The section of one origin.

    Args:
        number: its place, 1 is the one to fix first.
        origin: what to tell.
        said: its evidence and advice, without what stands under an earlier origin.
    """
    proven = ", proven" if origin.proven else ""
    lines = [
        f"## Origin {number}: {code(origin.component)}, {origin.cause.value}{proven}",
        "",
        _lead(origin),
        "",
        *_operator(origin),
        *_section(
            "What to change:",
            [f"{rank}. {_sentence(line)}" for rank, line in enumerate(said.advice, 1)],
        ),
        *_section("Evidence:", [f"- {_sentence(line)}" for line in said.evidence]),
        *_section(
            "It may also be, likeliest first:",
            [f"- {each.cause.value}: {_sentence(each.why)}" for each in origin.alternatives],
        ),
    ]
    if said.confirm:
        lines += ["", f"What would confirm it: {_sentence(said.confirm)}"]
    if said.as_for:
        more = "The rest of the evidence, what" if said.repeats_evidence else "What"
        lines += ["", f"{more} to change and what would confirm it: as for origin {said.as_for}."]
    lines += _section("How far it got, and how large it is:", [*_reach(origin), *_numbers(origin)])
    return "\n".join(lines)


def _lead(origin: Origin) -> str:
    where = f", code at {code(origin.source)}" if origin.source else ""
    event = f"{code(origin.buffer)} (group {code(origin.group.label)}{where})"
    if origin.moved:
        return (
            f"{event} comes at another place in the order of {step_words(origin.step)} in each "
            "run; its content is the same."
        )
    return (
        f"{event} differs in {step_words(origin.step)}, although no difference was recorded in "
        "anything it was computed from."
    )


def _reach(origin: Origin) -> list[str]:
    lines = [f"- {_dormancy(origin)}"]
    gradient = origin.first_gradient
    if gradient is not None:
        lines.append(
            f"- first gradient of another component: {code(gradient.buffer)} of "
            f"{code(gradient.component)} in {step_words(gradient.step)}"
        )
    else:
        lines.append("- it was not seen in a gradient of another component")
    if origin.contaminated:
        shown = ", ".join(map(code, origin.contaminated[:_REACHED_SHOWN]))
        left = len(origin.contaminated) - _REACHED_SHOWN
        more = f" and {left} more" if left > 0 else ""
        lines.append(f"- components it reached, in order: {shown}{more}")
    return lines


def _dormancy(origin: Origin) -> str:
    reached = origin.first_reached
    if reached is None:
        return (
            f"**dormant** since {step_words(origin.step)}: it was not seen to reach another "
            "component"
        )
    if origin.dormant:
        return (
            f"**dormant** from {step_words(origin.step)} until {step_words(reached.step)}, when it "
            f"reached {_place(reached)}"
        )
    return f"reached {_place(reached)} in {step_words(reached.step)}"


def _place(reached: Reached) -> str:
    return f"{code(reached.component)} (in {code(reached.buffer)})"


def _numbers(origin: Origin) -> list[str]:
    if origin.moved:
        return ["- the content is the same in both runs, so there are no numbers"]
    if origin.difference is None:
        if origin.group is Group.RNG:
            return ["- the state of a generator is kept as a digest only, so there are no numbers"]
        return ["- no values were recorded, so there are no numbers (level full has them)"]
    return [f"- {text(line, 400)}" for line in difference_lines(origin.difference)]


def _operator(origin: Origin) -> list[str]:
    words = operator_words(origin)
    if not words:
        return []
    shown = f"Operator {code(origin.operator)} at" if origin.operator else "First seen at"
    excerpt = excerpt_lines(origin)
    return [
        f"{shown} {code(origin.location)}{':' if excerpt else '.'}",
        *(["", block(excerpt, "text")] if excerpt else []),
    ]


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, "", *lines] if lines else []


def _sentence(line: str) -> str:
    return text(line, _SENTENCE_CHARACTERS)
