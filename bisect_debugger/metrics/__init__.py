"""The numbers of a difference: arrays in, frozen data out; pure numpy, no files."""

from bisect_debugger.metrics.compare import compare_arrays, gather_norms
from bisect_debugger.metrics.difference import Difference, Side
from bisect_debugger.metrics.elements import ElementPair, neighbourhood
from bisect_debugger.metrics.places import difference_map
from bisect_debugger.metrics.totals import Norms
from bisect_debugger.metrics.words import describe, judge, percent

__all__ = [
    "Difference",
    "ElementPair",
    "Norms",
    "Side",
    "compare_arrays",
    "describe",
    "difference_map",
    "gather_norms",
    "judge",
    "neighbourhood",
    "percent",
]
