"""The numbers of a difference; pure numpy, no files."""

from bisect_debugger.metrics.compare import compare_arrays
from bisect_debugger.metrics.difference import Difference, Side
from bisect_debugger.metrics.elements import ElementPair, neighbourhood
from bisect_debugger.metrics.words import describe, judge

__all__ = [
    "Difference",
    "ElementPair",
    "Side",
    "compare_arrays",
    "describe",
    "judge",
    "neighbourhood",
]
