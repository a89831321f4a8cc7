"""The chart of growth as plain characters."""

import math

import pytest

from bisect_debugger.views.chart import log_chart


def _body(lines: list[str]) -> list[str]:
    return [line.split("|")[1] for line in lines if line.count("|") == 2]


def test_zero_small_great_and_unknown_stand_at_their_places() -> None:
    values = [(0, 0.0), (1, 1e-6), (2, 1e-3), (3, 1.0), (4, None), (5, math.nan), (6, math.inf)]
    lines = log_chart(values, width=24, height=12, unit="relFro, log scale")
    body = _body(lines)
    assert lines[0] == "relFro, log scale"
    assert body[-1][0] == "="
    assert "?" in body[-1]
    assert body[0].count("!") == 2
    heights = {row: line.index("*") for row, line in enumerate(body) if "*" in line}
    # The greater the value, the further up and, growing, the further right.
    assert list(heights.values()) == sorted(heights.values(), reverse=True)
    assert len(heights) == 3


def test_the_axis_is_labelled_with_powers_of_ten_and_the_last_compared_step() -> None:
    lines = log_chart([(-1, 1e-7), (40, 1e-2)], width=80, height=14, unit="relFro")
    labels = [line.split("|")[0].strip() for line in lines if line.count("|") == 2]
    assert "1e-7" in labels
    assert "1e-2" in labels
    assert labels[-1] == "0"
    assert "init" in lines[-1]
    assert lines[-1].rstrip().endswith("step 40: last compared")


@pytest.mark.parametrize("width", [24, 60, 200])
@pytest.mark.parametrize("height", [6, 7, 60])
@pytest.mark.parametrize(
    "values",
    [
        [],
        [(3, None)],
        [(3, math.nan)],
        [(0, 0.0), (1, 0.0)],
        [(k, 10.0 ** (k % 40 - 30)) for k in range(1000)],
        [(0, 5e-324), (10**12, 1.7e308)],
    ],
    ids=["empty", "unknown", "nan", "zeros", "many", "extremes"],
)
def test_no_line_is_wider_than_asked_for(
    values: list[tuple[int, float | None]], width: int, height: int
) -> None:
    lines = log_chart(values, width=width, height=height, unit="relFro")
    assert max(map(len, lines)) <= width
    assert len(lines) <= max(height, 6) + 1
