"""Everything that is shown of one event: numbers, values around a place, map, histogram."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import Difference, difference_map, neighbourhood
from bisect_debugger.metrics.bits import place, unequal, words_of
from bisect_debugger.twins import Pair, Row, Status
from bisect_debugger.views.digits import SideBySide, side_by_side

AROUND = 4
"""Elements shown on either side of a difference."""

MAP_ROWS, MAP_COLUMNS = 8, 32
"""Greatest size of the picture of where the differences lie."""

_SHADES = " .:+#"
"""From no differing element in a part of the tensor to nothing but differing ones."""


@dataclass(frozen=True, slots=True)
class DifferenceMap:
    """Where in the tensor the differences lie.

    Attributes:
        lines: one character a part of the tensor, the fuller the more of it differs.
        rows_each, columns_each: about how many rows and columns of the tensor a character is.
    """

    lines: tuple[str, ...]
    rows_each: int
    columns_each: int


@dataclass(frozen=True, slots=True)
class BufferView:
    """What the Buffer screen shows of one row.

    Attributes:
        row: the event in both runs.
        difference: the numbers, or None where there are none.
        around: elements around the place.
        place: number of the differing element in the middle, counted from 0.
        places: differing elements there are.
        map: a picture, for two axes and more.
        level: the level of both recordings, or of the one that kept less.
    """

    row: Row
    difference: Difference | None
    around: tuple[SideBySide, ...]
    place: int
    places: int
    map: DifferenceMap | None
    level: str


def buffer_view(pair: Pair, row: Row, wanted: int = 0) -> BufferView:
    """Read and compare one event.

    Args:
        pair: the twins.
        row: one of its rows.
        wanted: which differing element stands in the middle; clipped to those there are.
    """
    difference, level = pair.difference(row), level_of(pair)
    left, right = pair.values(row) if difference is not None else (None, None)
    if difference is None or row.a is None or left is None or right is None:
        return replace(without_values(row, level), difference=difference)
    layout = row.a.layout
    number, index = _differing(left, right, layout, difference, wanted)
    elements = neighbourhood(left, right, layout, index, AROUND)
    around = tuple(side_by_side(element, layout.dtype) for element in elements)
    picture = _map(left, right, layout) if len(layout.shape) >= 2 else None
    return BufferView(row, difference, around, number, difference.differing, picture, level)


def level_of(pair: Pair) -> str:
    """The level of both recordings, or of the one that kept less."""
    levels = (pair.a.facts.level, pair.b.facts.level)
    return next((level for level in levels if level != "full"), "full")


def without_values(row: Row, level: str) -> BufferView:
    """What there is to show where no contents are kept: nothing that had to be read."""
    return BufferView(row, None, (), 0, 0, None, level)


def why_no_numbers(row: Row, level: str) -> str:
    """Why nothing can be said about how far the sides are apart."""
    if row.a is None or row.b is None:
        only = "first" if row.a else "second"
        return f"Only the {only} run has this event: the runs did not do the same things here."
    if row.a.layout != row.b.layout:
        return (
            f"{printable(row.a.layout.text)} in the first run, {printable(row.b.layout.text)} in "
            "the second: values of other type or shape cannot be held against each other."
        )
    if row.status is Status.EQUAL:
        moved = ", but at another place in the order of the step" if row.moved else ""
        return f"Bit-equal{moved}, {printable(row.a.layout.text)}."
    if row.group is Group.RNG:
        return (
            "The states of this generator differ. A state is kept as a digest only, at every "
            "level: its bytes are no numbers that could be held against each other. What matters "
            "is where the streams part: look for the first step and event in which it differs, "
            "and at the seeding calls in the note."
        )
    differ = f"The contents differ, {printable(row.a.layout.text)}, and no values were recorded"
    if level != "full":
        return f"{differ}: record at level full to see them."
    return f"{differ}: the recordings keep none of this step, or none of this buffer."


def _differing(
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
    layout: Layout,
    difference: Difference,
    wanted: int,
) -> tuple[int, tuple[int, ...]]:
    """Number and index of a differing element."""
    number = max(0, min(wanted, difference.differing - 1))
    if number == 0:
        return 0, difference.first_index
    where = np.flatnonzero(unequal(words_of(left, layout), words_of(right, layout)))
    return number, place(int(where[number]), layout.shape)


def _map(left: npt.NDArray[Any], right: npt.NDArray[Any], layout: Layout) -> DifferenceMap | None:
    if not layout.elements:
        return None
    counts = difference_map(left, right, layout, MAP_ROWS, MAP_COLUMNS)
    height, width = layout.elements // layout.shape[-1], layout.shape[-1]
    sizes = np.outer(_part_sizes(height, counts.shape[0]), _part_sizes(width, counts.shape[1]))
    return DifferenceMap(
        tuple("".join(map(_shade, *rows)) for rows in zip(counts, sizes, strict=True)),
        -(-height // counts.shape[0]),
        -(-width // counts.shape[1]),
    )


def _part_sizes(length: int, parts: int) -> npt.NDArray[np.int64]:
    """How many of ``length`` indices i fall into each part ``i * parts // length``."""
    # Part p begins at the first i with i * parts >= p * length.
    starts = [-(-part * length // parts) for part in range(parts + 1)]
    edges = np.array(starts, dtype=np.int64)
    return edges[1:] - edges[:-1]


def _shade(differing: int, elements: int) -> str:
    if not differing:
        return _SHADES[0]
    return _SHADES[-1] if differing == elements else _SHADES[1 + min(2, 3 * differing // elements)]


def map_lines(picture: DifferenceMap) -> list[str]:
    """The picture in a frame, and what it means."""
    width = len(picture.lines[0])
    edge = f"+{'-' * width}+"
    lines = [edge, *(f"|{line}|" for line in picture.lines), edge]
    part = f"{picture.rows_each} x {picture.columns_each}"
    if (picture.rows_each, picture.columns_each) == (1, 1):
        return [*lines, "one character an element: # differs"]
    return [*lines, f"one character about {part} elements: # all differ, + : . fewer, blank none"]


def histogram_lines(difference: Difference, bar_width: int = 24) -> list[str]:
    """Elements by their distance in ULP, a bar for each power of two."""
    if not difference.ulp_histogram:
        return []
    most = max(count for _, _, count in difference.ulp_histogram)
    bins: Sequence[tuple[str, int]] = [
        (str(low) if low == high else f"{low}..{high}", count)
        for low, high, count in difference.ulp_histogram
    ]
    width = max(len(label) for label, _ in bins)
    return [
        f"{label:>{width}} {'#' * max(1, round(bar_width * count / most)):<{bar_width}} {count}"
        for label, count in bins
    ]
