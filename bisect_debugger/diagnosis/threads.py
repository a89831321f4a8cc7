"""Several threads that step optimizers: which of them closes a step is decided by the system."""

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins import Pair

RACED_WORDS = (
    "Inconclusive: several threads step optimizers, and the step that differs first was closed by "
    "another thread in each run; what such a step holds is decided by the system, so the steps "
    "cannot be held against each other. Record one thread's model and optimizer at a time."
)

_STEPPED = (Group.GRAD, Group.OPTIM)
"""Groups that are recorded by the thread that steps."""


def stepped_otherwise(pair: Pair, row: int) -> bool:
    """Another thread closed this common step in each run."""
    a: set[int] = set()
    b: set[int] = set()
    for event in pair.rows(row):
        for side, threads in ((event.a, a), (event.b, b)):
            if side is None or event.group not in _STEPPED:
                continue
            if EventFlag.BACKGROUND not in side.flags:
                threads.add(side.thread)
    return bool(a) and bool(b) and a != b
