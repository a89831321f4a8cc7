"""What twins were told differently: their commands and their seeds."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from bisect_debugger.causality.circumstances import ENTROPY
from bisect_debugger.errors import printable
from bisect_debugger.runs import RunFacts, SeedingCall

_MOST = 4


def command_differences(a: RunFacts, b: RunFacts) -> tuple[tuple[str, str], ...]:
    """Stretches in which the commands differ, but for the names of the recorded files."""
    left, right = _words(a), _words(b)
    return tuple(
        (" ".join(left[lo_a:hi_a]), " ".join(right[lo_b:hi_b]))
        for tag, lo_a, hi_a, lo_b, hi_b in SequenceMatcher(None, left, right, False).get_opcodes()
        if tag != "equal"
    )


def seed_differences(a: RunFacts, b: RunFacts) -> tuple[tuple[SeedingCall, SeedingCall], ...]:
    """Seeding calls that got other arguments in both runs, none of them from entropy."""
    return tuple(_other_seeds(a.seeding, b.seeding))


def command_remarks(a: RunFacts, b: RunFacts) -> Iterator[str]:
    """What is to be said first: twins that were not asked to do the same."""
    told = command_differences(a, b)
    if told:
        listed = "; ".join(
            f"{printable(one or 'nothing')} against {printable(other or 'nothing')}"
            for one, other in told[:_MOST]
        )
        yield f"The commands differ: {listed}."
    seeds = seed_differences(a, b)
    if seeds:
        listed = "; ".join(seed_words(*calls) for calls in seeds[:_MOST])
        yield f"The runs were seeded with other values: {listed}."


def seed_words(one: SeedingCall, other: SeedingCall) -> str:
    """Two seeding calls held against each other."""
    where = f" at {printable(one.location)}" if one.location else ""
    return (
        f"{printable(one.call)}({printable(one.argument)}) against ({printable(other.argument)})"
        f"{where}"
    )


def _other_seeds(
    a: tuple[SeedingCall, ...], b: tuple[SeedingCall, ...]
) -> Iterator[tuple[SeedingCall, SeedingCall]]:
    """Calls of one place whose argument the other run has at no call of that place.

    Threads seed in an order of their own, and a run that was stopped has fewer calls: neither
    makes a seed another one.
    """
    left, right = _by_place(a), _by_place(b)
    for place, calls in left.items():
        others = right.get(place, [])
        common = min(len(calls), len(others))
        known = ({call.argument for call in others}, {call.argument for call in calls})
        mine = (call for call in calls[:common] if call.argument not in known[0] | {ENTROPY})
        yours = (call for call in others[:common] if call.argument not in known[1] | {ENTROPY})
        yield from zip(mine, yours, strict=False)


def _by_place(calls: tuple[SeedingCall, ...]) -> dict[tuple[str, str], list[SeedingCall]]:
    places: dict[tuple[str, str], list[SeedingCall]] = {}
    for call in calls:
        places.setdefault((call.call, call.location), []).append(call)
    return places


def _words(facts: RunFacts) -> list[str]:
    text = facts.environment.get("argv", "")
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = text.split()
    words = [str(word) for word in words] if isinstance(words, list) else [text]
    # Twins are recorded into two files, which a command may name.
    return ["RUN" if Path(word).name == facts.path.name else word for word in words]
