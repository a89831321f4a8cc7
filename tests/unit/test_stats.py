"""Numbers of a content: right at every size, computed once per content, in bounded memory."""

import numpy as np
import numpy.typing as npt
import pytest

from bisect_debugger.format.layouts import Layout
from probes import stats
from probes.lately import Lately
from probes.stats import KnownStats, Stats, stats_of

SIZES = (1, 2, 8191, 8192, 8193, 3 * 8192, (1 << 18) - 1, (1 << 18) + 8192 + 5)
FLOAT32 = Layout("float32", (3,))


def numbers(values: npt.NDArray[np.generic], dtype: str = "") -> Stats:
    return stats_of(values.view(np.uint8), Layout(dtype or values.dtype.name, values.shape))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
def test_norm_and_greatest_magnitude(size: int, dtype: str) -> None:
    drawn = np.random.default_rng(size).normal(0, 30, size)
    drawn[size // 2] = -120 if dtype != "uint8" else 120
    values = np.abs(drawn).astype(dtype) if dtype == "uint8" else drawn.astype(dtype)
    exact = values.astype(np.float64)
    norm, greatest, nan, inf = numbers(values)
    assert norm == pytest.approx(np.sqrt(np.square(exact).sum()), rel=1e-6)
    assert (greatest, nan, inf) == (np.abs(exact).max(), 0, 0)


@pytest.mark.parametrize("size", SIZES[2:])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_is_counted_wherever_it_stands(size: int, dtype: str) -> None:
    for value, counts in ((np.nan, (1, 0)), (np.inf, (0, 1)), (-np.inf, (0, 1))):
        for place in (0, size // 2, size - 1):
            values = np.full(size, 2.0, dtype=dtype)
            values[place] = value
            norm, greatest, *found = numbers(values)
            assert (greatest, *found) == (2.0, *counts)
            assert norm == pytest.approx(2 * np.sqrt(size - 1))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_squares_neither_vanish_nor_overflow(scale: float) -> None:
    values = np.full(10_000, scale, dtype=np.float32)
    norm, greatest, nan, inf = numbers(values)
    assert norm == pytest.approx(100 * scale, rel=1e-6)
    assert (greatest, nan, inf) == (float(np.float32(scale)), 0, 0)


def test_a_content_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[bytes] = []

    def counted(content: npt.NDArray[np.uint8], layout: Layout) -> Stats:
        looked_at.append(content.tobytes())
        return stats_of(content, layout)

    monkeypatch.setattr(stats, "stats_of", counted)
    monkeypatch.setattr(stats, "_KNOWN_STATS", 4)
    known = KnownStats()
    contents = [np.full(3, number, dtype=np.float32).view(np.uint8) for number in range(20)]
    for _ in range(3):
        for content in contents[:4]:
            expected = stats_of(content, FLOAT32)
            assert known.of(content.tobytes(), content, FLOAT32) == expected
    assert len(looked_at) == 4
    for content in contents:
        known.of(content.tobytes(), content, FLOAT32)
    assert len(looked_at) == 20


def test_what_came_lately_is_bounded_and_holds_a_generation_at_least() -> None:
    lately = Lately[int](4)
    for number in range(30):
        lately.keep(bytes((number,)), number)
        last = range(max(number - 3, 0), number + 1)
        assert [lately.get(bytes((each,))) for each in last] == list(last)
        assert sum(lately.get(bytes((each,))) is not None for each in range(30)) <= 8
