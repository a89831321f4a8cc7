"""Ratios against a required column: what was measured, and whether it is enough."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Measured:
    """Ratios (or sizes) of several rounds against what is required.

    Attributes:
        what: what was measured.
        values: one value a round.
        required: the largest median that is good enough.
        detail: anything else worth a word.
    """

    what: str
    values: Sequence[float]
    required: float
    detail: str = ""

    @property
    def is_met(self) -> bool:
        """The median is within the required column."""
        return statistics.median(self.values) <= self.required

    def line(self) -> str:
        """One line of the table."""
        verdict = "met" if self.is_met else "missed"
        spread = f"{min(self.values):.2f}-{max(self.values):.2f}"
        return (
            f"{self.what:34s} {statistics.median(self.values):8.2f} {spread:>13s} "
            f"{self.required:9.2f}  {verdict:6s} {self.detail}"
        ).rstrip()


HEAD = f"{'':34s} {'median':>8s} {'range':>13s} {'required':>9s}"
"""Heading of the lines."""


def show(measured: Measured) -> None:
    """Print one line at once, so that an interrupted benchmark has said what it knows."""
    print(measured.line(), flush=True)


def seconds_of(step: Callable[[], object], steps: int) -> float:
    """Median seconds of a step over a stretch of some."""
    taken = []
    for _ in range(steps):
        began = perf_counter()
        step()
        taken.append(perf_counter() - began)
    return statistics.median(taken)
