"""Where a stream was seeded: the line to change when the seed did not reach a generator."""

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.circumstances import ENTROPY, seeders_of
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import SeedingCall

_OWN_SEEDERS = ("numpy.random.default_rng",)
"""Calls that make a generator of the program's own, already seeded."""


def seeding_source(case: Case, cause: Cause) -> str:
    """``file:line`` of the call that seeded the stream, or empty where none was recorded.

    Args:
        case: the origin; only a stream has such a line.
        cause: what the tree concluded.
    """
    row = case.row
    if row.group is not Group.RNG or cause is not Cause.SEED_NOT_APPLIED:
        return ""
    calls = [call for call in case.facts_a.seeding if call.step <= row.step]
    others = [call for call in case.facts_b.seeding if call.step <= row.step]
    own = [number for number, call in enumerate(calls) if _seeds(call, row.component)]
    at_fault = [
        number
        for number in own
        if calls[number].argument == ENTROPY
        or (number < len(others) and others[number].argument != calls[number].argument)
    ]
    if not seeders_of(row.component):
        # Which of several generators a call made is not recorded.
        return calls[at_fault[0]].location if len(at_fault) == 1 else ""
    chosen = (at_fault or own)[-1:]
    return calls[chosen[0]].location if chosen else ""


def _seeds(call: SeedingCall, stream: str) -> bool:
    return call.call in (seeders_of(stream) or _OWN_SEEDERS)
