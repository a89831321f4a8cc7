"""Long runs: what is read for a page does not depend on how long the run is."""

import asyncio
import threading
from pathlib import Path

import pytest

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.reader import BACKGROUND, URGENT, Reader
from bisect_debugger.tui.screens.timeline import TimelineScreen
from bisect_debugger.tui.session import Session
from bisect_debugger.twins import Pair, open_pair
from tests.runs import Event, values, write_run
from tests.tui.screens import press, screen_text, settled


def _long_pair(folder: Path, steps: int, onset: int, level: str = "coarse") -> Pair:
    plain: list[Event] = [(Group.FORWARD, "net.out", values(3, (2,)))]
    other: list[Event] = [(Group.FORWARD, "net.out", values(4, (2,)))]
    a = write_run(folder / f"a{steps}.h5", [plain] * steps, level=level)
    b = write_run(folder / f"b{steps}.h5", [plain] * onset + [other] * (steps - onset), level=level)
    return open_pair(a, b)


def _read(pair: Pair) -> int:
    return sum(sum(run.rows_read.values()) for run in (pair.a, pair.b))


async def _pages(pair: Pair, keys: list[str]) -> list[int]:
    """Rows read for each key in the timeline at one step a cell."""
    counts = []
    app = BisectApp(Session(pair))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "3")
        assert isinstance(app.screen, TimelineScreen)
        await press(pilot, *["z"] * 12)
        assert "one step a cell" in screen_text(app)
        for key in keys:
            before = _read(pair)
            await press(pilot, key)
            counts.append(_read(pair) - before)
            assert "?" not in screen_text(app).partition("step ")[0], "the page is painted whole"
    return counts


async def test_a_page_reads_as_many_rows_however_long_the_run_is(tmp_path: Path) -> None:
    keys = ["g", "pagedown", "pagedown", "pagedown", "pageup", "g"]
    pages = [
        await _pages(_long_pair(tmp_path, steps, steps * 6 // 10), keys)
        for steps in (1000, 16_000, 64_000)
    ]
    # 80 columns are 70 steps: the number and the group digests of each, of both runs. Nothing is
    # read again; the first page may have been read while the timeline was zoomed.
    page = 70 * 2 * 2
    assert [counts[1:] for counts in pages] == [[page, page, page, 0, 0]] * 3
    assert {counts[0] for counts in pages} <= {0, page}


@pytest.mark.parametrize("steps", [1000, 16_000])
async def test_the_whole_run_at_once_reads_a_bounded_part_of_it(steps: int, tmp_path: Path) -> None:
    pair = _long_pair(tmp_path, steps, steps * 6 // 10)
    app = BisectApp(Session(pair))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "3")
        before = _read(pair)
        await press(pilot, *["Z"] * 9)
        assert "steps a cell" in screen_text(app)
        assert "≠" in screen_text(app)
        # 70 cells at each of at most 9 zooms, and of each some first rows of both runs.
        assert _read(pair) - before <= 9 * 70 * 64 * 2 * 2


async def test_a_run_that_fits_begins_at_one_step_a_cell(tmp_path: Path) -> None:
    for onset in (40, 30):
        (tmp_path / str(onset)).mkdir()
        app = BisectApp(Session(_long_pair(tmp_path / str(onset), 40, onset)))
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            await press(pilot, "3")
            assert "40 steps, one step a cell" in screen_text(app)


async def test_the_next_and_previous_difference_are_found_by_blocks(tmp_path: Path) -> None:
    pair = _long_pair(tmp_path, 16_000, 15_990)
    app = BisectApp(Session(pair))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "3", "g", "n")
        assert "step 15989" in screen_text(app)
        await press(pilot, "N")
        assert "no earlier step differs" in screen_text(app)


async def test_a_filter_that_leaves_nothing_looks_once_at_each_step(tmp_path: Path) -> None:
    pair = _long_pair(tmp_path, 300, 0, level="digest")
    app = BisectApp(Session(pair))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "f", "slash", *"nowhere", "enter")
        before = _read(pair)
        await press(pilot, "n")
        assert "no later event of the filter differs" in screen_text(app)
        assert _read(pair) - before <= 300 * 2 * 10


async def test_a_read_that_nobody_waits_for_is_given_up() -> None:
    reader, begun, ended = Reader(), threading.Event(), threading.Event()

    def endless() -> None:
        begun.set()
        try:
            while True:
                reader.check()
        finally:
            ended.set()

    asked = asyncio.ensure_future(reader.ask(endless))
    await asyncio.to_thread(begun.wait)
    asked.cancel()
    assert await reader.ask(lambda: 7) == 7
    assert ended.is_set()
    reader.close(lambda: None)


async def test_what_is_looked_at_goes_before_what_is_read_ahead() -> None:
    reader, first = Reader(), threading.Event()
    order: list[str] = []
    asks = [
        asyncio.ensure_future(reader.ask(first.wait)),
        asyncio.ensure_future(reader.ask(lambda: order.append("ahead"), BACKGROUND)),
        asyncio.ensure_future(reader.ask(lambda: order.append("looked at"), URGENT)),
    ]
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(*asks)
    assert order == ["looked at", "ahead"]
    reader.close(lambda: order.append("closed"))
    assert order[-1] == "closed"
    with pytest.raises(asyncio.CancelledError):
        await reader.ask(lambda: None)
