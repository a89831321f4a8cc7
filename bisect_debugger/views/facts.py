"""What two runs say about themselves, side by side; what differs comes first."""

from dataclasses import dataclass

from bisect_debugger.diagnosis.cases import environment_differences
from bisect_debugger.runs import RunFacts

ABSENT = "not recorded"


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact of both runs."""

    name: str
    a: str
    b: str
    differs: bool


def fact_rows(a: RunFacts, b: RunFacts) -> tuple[FactRow, ...]:
    """Every recorded fact: first what differs and can matter, then the rest by name.

    What differs between any two runs, such as the time, is not said to differ.
    """
    differing = set(environment_differences(a, b))
    own = [
        FactRow(name, left, right, left != right and name in _JUDGED)
        for name, left, right in _about(a, b)
    ]
    names = sorted({*a.environment, *b.environment}, key=lambda name: (name not in differing, name))
    rows = [
        FactRow(
            name,
            a.environment.get(name, ABSENT),
            b.environment.get(name, ABSENT),
            name in differing,
        )
        for name in names
    ]
    every = [*own, *rows]
    return (*(x for x in every if x.differs), *(x for x in every if not x.differs))


_JUDGED = frozenset({"level", "window", "ended", "seeding calls"})
"""Facts of the recording whose difference a reader must know of."""


def _about(a: RunFacts, b: RunFacts) -> list[tuple[str, str, str]]:
    return [
        (name, one, other)
        for (name, one), (_, other) in zip(_facts_of(a), _facts_of(b), strict=True)
    ]


def _facts_of(run: RunFacts) -> list[tuple[str, str]]:
    return [
        ("recorded at", run.created or ABSENT),
        ("level", run.level),
        ("window", run.window or "every step"),
        ("rank", f"{run.rank} of {run.world_size}"),
        ("ended", run.end_reason or "normally"),
        ("seeding calls", _seeding(run)),
        ("not covered", "; ".join(run.uncovered) or "nothing"),
    ]


def _seeding(run: RunFacts) -> str:
    calls = [f"{call.call}({call.argument})" for call in run.seeding]
    return ", ".join(calls) if calls else "none was seen"
