"""Both values around the first difference of each origin: what the UI's Buffer screen shows."""

from collections.abc import Sequence

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.errors import printable
from bisect_debugger.metrics import Difference, ElementPair, neighbourhood
from bisect_debugger.twins import Pair, Row

AROUND = 4
"""Elements shown on either side of the first difference."""

_BAR = 24


def render_values(pair: Pair, diagnosis: Diagnosis) -> str:
    """Values in decimal and hex and the histogram of ULP, of every origin with payload."""
    parts = [_values(pair, origin) for origin in diagnosis.origins]
    return "\n".join(part for part in parts if part)


def _values(pair: Pair, origin: Origin) -> str:
    row = _row_of(pair, origin)
    if row is None or row.a is None or origin.difference is None:
        return ""
    left, right = pair.values(row)
    if left is None or right is None:
        return ""
    around = neighbourhood(left, right, row.a.layout, origin.difference.first_index, AROUND)
    lines = [
        f"  {printable(origin.buffer)}, {step_words(origin.step)}",
        *_elements(around),
        *_histogram(origin.difference),
    ]
    return "\n".join(lines)


def _row_of(pair: Pair, origin: Origin) -> Row | None:
    common_row = pair.row_of_step(origin.step)
    if common_row is None:
        return None
    for row in pair.rows(common_row):
        if row.name == origin.buffer and row.any_side.sequence == origin.event:
            return row
    return None


def _elements(around: Sequence[ElementPair]) -> list[str]:
    cells = [
        (
            f"({', '.join(map(str, element.index))})",
            element.a.decimal,
            element.a.hex,
            element.b.decimal,
            element.b.hex,
        )
        for element in around
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        f"  {'>' if element.differs else ' '} "
        + "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for element, row in zip(around, cells, strict=True)
    ]


def _histogram(difference: Difference) -> list[str]:
    """One bar per power of two, in elements."""
    if not difference.ulp_histogram:
        return []
    most = max(count for _, _, count in difference.ulp_histogram)
    bars = [
        (str(low) if low == high else f"{low}..{high}", max(1, round(_BAR * count / most)), count)
        for low, high, count in difference.ulp_histogram
    ]
    width = max(len(label) for label, _, _ in bars)
    return [
        "    elements by distance in ULP",
        *(f"    {label:>{width}} {'#' * length:<{_BAR}} {count}" for label, length, count in bars),
    ]
