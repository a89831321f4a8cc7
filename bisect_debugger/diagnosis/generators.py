"""Generators of the program's own that an operator was seen to draw from."""

from collections.abc import Sequence
from dataclasses import replace

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.model import Origin
from bisect_debugger.errors import printable
from bisect_debugger.twins.operators import Ended

_MADE_BY_THE_PROGRAM = "rng.Generator."
"""How streams of a ``torch.Generator`` are called: torch's operators draw from these."""

_DREW = Ended.DRAW.name.lower()


def drawn_by(case: Case) -> Case:
    """The case, where an operator drew, without its generators among those not drawn from."""
    if case.operator is None or case.operator.ended is not Ended.DRAW:
        return case
    idle = (name for name in case.idle_streams if not name.startswith(_MADE_BY_THE_PROGRAM))
    return replace(case, idle_streams=tuple(idle))


def drawn_from(
    origins: Sequence[Origin], silent: Sequence[Found]
) -> tuple[tuple[Origin, ...], list[Found]]:
    """Origins that were drawn, with the generators that may have given the numbers.

    A generator is recorded at boundaries, and what drew from it in between does not show in its
    states. Where an operator drew from a generator whose state differs, such a one has reached the
    training, and must not be said not to have.

    Args:
        origins: as they are told so far.
        silent: what differs and was not seen to reach the training.

    Returns:
        The origins, and what is left of `silent`.
    """
    drawn = [origin.zoom is not None and origin.zoom.found == _DREW for origin in origins]
    own = [found for found in silent if found.row.component.startswith(_MADE_BY_THE_PROGRAM)]
    if not own or not any(drawn):
        return tuple(origins), list(silent)
    names = ", ".join(printable(found.row.component) for found in own)
    words = f"Generators of the program's own that differ: {names}."
    told = tuple(
        replace(origin, evidence=(*origin.evidence[:1], words, *origin.evidence[1:]))
        if is_drawn
        else origin
        for origin, is_drawn in zip(origins, drawn, strict=True)
    )
    return told, [found for found in silent if found not in own]
