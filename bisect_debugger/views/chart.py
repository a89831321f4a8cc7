"""A chart of plain characters: steps along, a logarithmic axis upwards."""

import math
from collections.abc import Sequence

_LABEL = 8
_POINT, _ZERO, _NOT_FINITE, _UNKNOWN = "*", "=", "!", "?"


def log_chart(
    values: Sequence[tuple[int, float | None]], *, width: int, height: int, unit: str
) -> list[str]:
    """Lines of a chart, its last one the labels of the steps.

    ``*`` is a value, ``=`` stands on the line of zero, ``!`` at the top is NaN or Inf, ``?`` at the
    bottom was not recorded. The vertical line behind the last step says where comparing ended.

    Args:
        values: (step, value), ascending steps; None where it is not known, NaN and Inf allowed.
        width: columns for all of it, at least 24.
        height: lines for all of it, at least 6.
        unit: what stands over the axis.
    """
    if not values:
        return [unit, "no step to show"]
    columns, rows = max(8, width - _LABEL - 2), max(2, height - 4)
    low, high = _decades([value for _, value in values if value is not None])
    grid = [[" "] * columns for _ in range(rows + 1)]
    first, last = values[0][0], values[-1][0]
    for step, value in values:
        column = 0 if last == first else round((step - first) * (columns - 1) / (last - first))
        row, mark = _place(value, low, high, rows)
        if _graver(mark, grid[row][column]):
            grid[row][column] = mark
    lines = [unit]
    labels = _labels(low, high, rows)
    for row, cells in enumerate(grid):
        lines.append(f"{labels.get(row, ''):>{_LABEL - 1}} |{''.join(cells)}|")
    lines.append(f"{'':>{_LABEL - 1}} +{'-' * columns}+")
    return [line[:width] for line in [*lines, _step_labels(first, last, columns)]]


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Powers of ten that hold every finite value above zero."""
    finite = [value for value in values if value > 0 and math.isfinite(value)]
    if not finite:
        return -1, 0
    low, high = math.floor(math.log10(min(finite))), math.ceil(math.log10(max(finite)))
    return low, max(high, low + 1)


def _place(value: float | None, low: int, high: int, rows: int) -> tuple[int, str]:
    """Row from the top, and the mark; the last row is that of zero."""
    if value is None:
        return rows, _UNKNOWN
    if not math.isfinite(value):
        return 0, _NOT_FINITE
    if value <= 0:
        return rows, _ZERO
    share = (math.log10(value) - low) / (high - low)
    return min(rows - 1, max(0, round((1 - share) * (rows - 1)))), _POINT


def _graver(new: str, old: str) -> bool:
    order = (" ", _ZERO, _UNKNOWN, _POINT, _NOT_FINITE)
    return order.index(new) >= order.index(old)


def _labels(low: int, high: int, rows: int) -> dict[int, str]:
    """Label by row: some powers of ten between the lowest and the highest, and zero."""
    labels = {rows: "0"}
    for power in range(low, high + 1):
        row = round((high - power) * (rows - 1) / (high - low))
        labels.setdefault(row, f"1e{power:+d}" if power else "1")
    return labels


def _step_labels(first: int, last: int, columns: int) -> str:
    left = "init" if first < 0 else f"step {first}"
    right = f"step {last}: last compared" if last != first else "the only step"
    gap = columns + 2 - len(left) - len(right)
    head = " " * (_LABEL - 1)
    return f"{head} {left}{' ' * gap}{right}" if gap > 0 else f" {right}"
