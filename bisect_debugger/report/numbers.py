"""The numbers of a difference, without those that say nothing at its size."""

from dataclasses import replace

from bisect_debugger.metrics import Difference, describe

ROUNDING_REL_FRO = 1e-3
"""Largest relFro at which a distance in ULP is worth reading. Above it the values are no roundings
of each other, and the distance only counts the floats between two unrelated numbers."""


def difference_lines(difference: Difference) -> tuple[str, ...]:
    """What a person reads about a difference, one line each; the JSON has every number."""
    if difference.rel_fro <= ROUNDING_REL_FRO:
        return describe(difference)
    return describe(replace(difference, max_ulp=None))
