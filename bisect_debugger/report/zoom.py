"""Operator, line and isolation of the culprit, in words."""

from bisect_debugger.diagnosis.model import Isolation, Origin, Repeats
from bisect_debugger.errors import printable

MARK = ">"
"""Stands before the line that is meant."""


def operator_words(origin: Origin) -> str:
    """The operator and its line, or empty where none is known."""
    if not origin.location:
        return ""
    where = f"at {printable(origin.location)}"
    if origin.operator:
        return f"{printable(origin.operator)} {where}"
    entered = origin.zoom is not None and origin.zoom.found == "entered"
    return f"first read {where}, from outside torch" if entered else f"first seen {where}"


def operator_line(origin: Origin) -> str:
    """The same with a word before it, as a line of a report; empty where none is known."""
    words = operator_words(origin)
    return f"{'operator' if origin.operator else 'line'}: {words}" if words else ""


def excerpt_lines(origin: Origin) -> list[str]:
    """The source lines around the operator, the one that is meant marked; none where unknown."""
    excerpt = origin.zoom.excerpt if origin.zoom is not None else None
    if excerpt is None:
        return []
    meant = origin.location.rpartition(":")[2]
    last = len(str(excerpt.first + len(excerpt.lines)))
    numbered = enumerate(excerpt.lines, excerpt.first)
    return [
        f"{MARK if str(number) == meant else ' '} {number:>{last}}  {printable(line)}".rstrip()
        for number, line in numbered
    ]


def isolation_words(isolation: Isolation) -> str:
    """What came of executing the culprit alone, in one sentence."""
    what = printable(isolation.component)
    if isolation.operator:
        what = f"{printable(isolation.operator)} of {what}"
    counts = ", ".join(
        f"{name} {_count(repeats)}"
        for name, repeats in (("forward", isolation.forward), ("backward", isolation.backward))
    )
    return f"{what}, executed alone from its saved inputs: {counts}; {_conclusion(isolation)}."


def _count(repeats: Repeats | None) -> str:
    if repeats is None:
        return "not executed"
    return f"{repeats.different}/{repeats.repeats} different"


def _conclusion(isolation: Isolation) -> str:
    if isolation.is_reproduced:
        return "reproduced in isolation"
    if not isolation.as_recorded:
        return (
            "not reproduced in isolation, but what it returned in the training came not once: it "
            "depends on something that was not saved with it (the process, threads beside it, time)"
        )
    return (
        "not reproduced in isolation, so the fault lies elsewhere: in what hands it its inputs, in "
        "the state of the generators that it was given, in threads beside it, or in what a process "
        "has once (hash seed, thread count)"
    )
