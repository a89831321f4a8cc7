"""Comparing two contents of one layout, in blocks, so that memory stays bounded.

Equality is judged on bits: two NaN of one bit pattern are equal, -0 and 0 are not. Distances
are computed in float64 from the decoded values. Every number is the same for every block
length (`sums` says why).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics.bits import Words, is_number, place, unequal, words_of
from bisect_debugger.metrics.difference import Difference
from bisect_debugger.metrics.elements import side_of
from bisect_debugger.metrics.places import DifferingPlaces
from bisect_debugger.metrics.rows import sign_flipped_rows
from bisect_debugger.metrics.sums import whole_chunks
from bisect_debugger.metrics.totals import Norms, Totals, add_norms
from bisect_debugger.metrics.ulp import UlpHistogram, ulp_distance

BLOCK_ELEMENTS = 1 << 18
"""Elements per block: temporaries are about a dozen float64 arrays of this length (2 MB)."""


def compare_arrays(
    a: npt.NDArray[Any], b: npt.NDArray[Any], layout: Layout, block: int = BLOCK_ELEMENTS
) -> Difference | None:
    """The numbers of a difference.

    Args:
        a: first content, in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape of both.
        block: elements per block, rounded to whole chunks of 256.

    Returns:
        None where the contents are bit-equal.

    Raises:
        ValueError: an array has another dtype or shape than the layout says.
    """
    left, right = words_of(a, layout), words_of(b, layout)
    block = whole_chunks(block)
    if all(np.array_equal(x, y) for _, x, y in _blocks(left, right, block)):
        return None
    totals, places, histogram = Totals(), DifferingPlaces(layout.shape), UlpHistogram()
    for start, words_a, words_b in _blocks(left, right, block):
        differs = unequal(words_a, words_b)
        where = np.flatnonzero(differs)
        places.add(where + start)
        totals.add(words_a, words_b, differs, layout.dtype, start)
        distances = ulp_distance(words_a[where], words_b[where], layout.dtype)
        if distances is not None:
            histogram.add(distances)
    flipped, rows = sign_flipped_rows(left, right, layout, block)
    first = slice(places.first, places.first + 1)
    return Difference(
        dtype=layout.dtype,
        shape=layout.shape,
        elements=layout.elements,
        differing=places.count,
        rel_fro=totals.norms.rel_fro,
        max_abs=totals.max_abs,
        mean_abs=totals.mean_abs,
        max_ulp=histogram.greatest,
        ulp_histogram=histogram.bins(),
        first_index=place(places.first, layout.shape),
        last_index=place(places.last, layout.shape),
        axis_ranges=places.ranges,
        first_a=side_of(left[first], layout.dtype),
        first_b=side_of(right[first], layout.dtype),
        nan_a=totals.nan_a,
        nan_b=totals.nan_b,
        inf_a=totals.inf_a,
        inf_b=totals.inf_b,
        negative_zero=totals.negative_zero,
        implausible_a=totals.implausible_a,
        implausible_b=totals.implausible_b,
        sign_flipped_rows=flipped,
        rows=rows,
        max_abs_index=None if totals.max_at is None else place(totals.max_at, layout.shape),
    )


def gather_norms(norms: Norms, a: npt.NDArray[Any], b: npt.NDArray[Any], layout: Layout) -> None:
    """Add two contents to sums that go over many tensors, for one relFro of them all.

    Args:
        norms: the sums so far; changed in place.
        a: first content, in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape of both; text and bytes add nothing.
    """
    if not is_number(layout.dtype):
        return
    for _, x, y in _blocks(words_of(a, layout), words_of(b, layout), BLOCK_ELEMENTS):
        add_norms(norms, x, y, layout.dtype)


def _blocks(a: Words, b: Words, block: int) -> Iterator[tuple[int, Words, Words]]:
    for start in range(0, len(a), block):
        yield start, a[start : start + block], b[start : start + block]
