"""How long a run under changed conditions may take before it is ended.

A knob may make a trainer wait for ever: a thread that is started later than the one that waits for
it, a loop until the time of day has come. Such a run must cost no more than was given for all.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bisect_debugger.errors import BisectError

LEAST_SECONDS = 60.0
TIMES_LONGER = 10.0
"""A knob may make work slower, e.g. one thread instead of many, so a run is stuck only after this
many times what the slowest run took without one, and never before the least."""


class OutOfTime(BisectError):
    """A run was ended, because the time for all of them was over."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the run was ended, because the time given for all of them was over")


class Stuck(BisectError):
    """A run was ended, because it no longer closed any step."""

    def __init__(self, seconds: float) -> None:
        """Say for how long it did not.

        Args:
            seconds: that it was waited for.
        """
        super().__init__(f"it closed no step in {seconds:.0f} s, and was ended")


@dataclass(slots=True)
class Patience:
    """How long one run is waited for.

    Attributes:
        deadline: time on `time.monotonic` at which it is ended.
        most_idle: seconds that it may go on without closing a step, or before its first.
        moved: when it began, or closed its last step.
    """

    deadline: float
    most_idle: float
    moved: float

    @classmethod
    def beginning_now(cls, deadline: float, slowest: float) -> "Patience":
        """With a run that begins now.

        Args:
            deadline: time on `time.monotonic` at which it is ended.
            slowest: seconds of the slowest run without changed conditions.
        """
        return cls(deadline, max(LEAST_SECONDS, TIMES_LONGER * slowest), time.monotonic())

    def hear(self, news: Sequence[dict[str, Any]]) -> None:
        """Look at the clock, and at what the run told since the last time.

        Raises:
            OutOfTime: the time for all runs is over.
            Stuck: it has not moved for too long.
        """
        now = time.monotonic()
        if any(note["kind"] == "step" for note in news):
            self.moved = now
        if now >= self.deadline:
            raise OutOfTime
        if now - self.moved >= self.most_idle:
            raise Stuck(self.most_idle)
