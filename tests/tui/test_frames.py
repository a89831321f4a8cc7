"""What a key costs, as counts: one painting, no layout; and what gives way in low windows."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.session import Session
from bisect_debugger.tui.widgets import ribbon as ribbon_module
from bisect_debugger.tui.widgets.prose import in_lines
from bisect_debugger.tui.widgets.ribbon import RibbonView
from bisect_debugger.tui.widgets.ribbon_page import groups_in_view
from bisect_debugger.tui.widgets.still import Still
from bisect_debugger.twins import open_pair
from tests.runs import Event, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text, settled

TWO_ORIGINS = (SAMPLES / "two_origins/a.h5", SAMPLES / "two_origins/b.h5")


def _long(folder: Path, steps: int) -> BisectApp:
    plain: list[Event] = [(Group.FORWARD, "net.out", values(3, (2,)))]
    other: list[Event] = [(Group.FORWARD, "net.out", values(4, (2,)))]
    a = write_run(folder / "a.h5", [plain] * steps, level="coarse")
    b = write_run(folder / "b.h5", [plain] * (steps // 2) + [other] * (steps // 2), level="coarse")
    return BisectApp(Session(open_pair(a, b)))


async def test_a_page_is_painted_once_and_lays_out_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow this machine reads a page.
    monkeypatch.setattr(ribbon_module, "PATIENCE_SECONDS", 600.0)
    app = _long(tmp_path, 6000)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "3", "g")
        counted: Counter[str] = Counter()
        ribbon, compositor = app.screen.query_one(RibbonView), app.screen._compositor
        paint, reflow = ribbon.render_line, compositor.reflow
        monkeypatch.setattr(
            ribbon, "render_line", lambda y: (counted.update([f"line {y}"]), paint(y))[1]
        )
        monkeypatch.setattr(
            compositor, "reflow", lambda *x: (counted.update(["layout"]), reflow(*x))[1]
        )
        await press(pilot, *["pagedown"] * 3)
        assert "step 209" in screen_text(app)
        assert counted["layout"] == 0
        assert {counted[f"line {y}"] for y in range(ribbon.size.height)} == {3}


async def test_a_page_of_events_reads_nothing_and_lays_out_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = [(Group.FORWARD, f"net.{n}.out", values(n, (2,))) for n in range(400)]
    other: list[Event] = [
        (Group.FORWARD, f"net.{n}.out", values(n + 999, (2,))) for n in range(400)
    ]
    pair = open_pair(
        *(
            write_run(tmp_path / f"{n}.h5", [x], level="digest")
            for n, x in enumerate((events, other))
        )
    )
    app = BisectApp(Session(pair))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await press(pilot, "f", "u", "pagedown")
        counted: Counter[str] = Counter()
        compositor = app.screen._compositor
        reflow = compositor.reflow
        monkeypatch.setattr(
            compositor, "reflow", lambda *x: (counted.update(["layout"]), reflow(*x))[1]
        )
        before = [dict(run.rows_read) for run in (pair.a, pair.b)]
        await press(pilot, *["pagedown"] * 3)
        text = screen_text(app)
        assert "141/400  net.140.out" in text.splitlines()[-2]
        assert "│ net.140.out" in text, "its numbers, or why there are none, stand beside"
        assert counted["layout"] == 0
        assert [dict(run.rows_read) for run in (pair.a, pair.b)] == before


async def test_a_line_that_says_the_same_is_not_painted_again(tmp_path: Path) -> None:
    app = _long(tmp_path, 100)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        title = app.screen.query_one("#title", Still)
        painted: list[object] = []
        title.update = lambda content="", *, layout=True: painted.append(content)  # type: ignore[method-assign]
        for words in ("one", "one", Text("one"), Text("one", "bold"), "two"):
            title.say(words)
        assert [str(each) for each in painted] == ["one", "one", "two"]


@given(count=st.integers(1, 12), chosen=st.integers(0, 11), height=st.integers(0, 20))
def test_the_group_under_the_cursor_is_always_in_view(count: int, chosen: int, height: int) -> None:
    chosen = min(chosen, count - 1)
    lines = groups_in_view(count, chosen, height)
    assert chosen in lines
    assert 0 <= lines.start < lines.stop <= count
    if height >= 3:
        # Marks and numbers of steps stay, and no line is left empty.
        assert len(lines) == count or len(lines) + 2 == height


async def test_the_smallest_window_shows_steps_and_every_group() -> None:
    async with opened(*TWO_ORIGINS, size=(60, 15)) as (app, pilot):
        await press(pilot, "3", *["k"] * 12)
        first = screen_text(app).splitlines()
        assert first[1].startswith("1 more ")
        assert [line.split()[0] for line in (first[2], first[-3])] == ["rng", "step"]
        await press(pilot, *["j"] * 12)
        last = screen_text(app).splitlines()
        assert [line.split()[0] for line in (last[2], last[-4], last[-3])] == [
            "replay",
            "user",
            "step",
        ]
        await pilot.click(RibbonView, offset=(11, 2))
        await settled(pilot)
        assert "init, data: not recorded" in screen_text(app)


async def test_the_smallest_window_says_what_to_do() -> None:
    async with opened(*TWO_ORIGINS, size=(60, 15)) as (app, _):
        text = screen_text(app)
        assert "Do first: Something takes its seed from the system" in text
        assert text.splitlines()[-2] == "enter: values  2: why  3: steps  tab: scroll the text"


def test_what_has_no_room_is_not_cut_in_silence() -> None:
    console = Console(width=20)
    text = Text("one two three four five six")
    assert in_lines(text, 9, 9, console).plain == text.plain
    assert in_lines(text, 9, 2, console).plain == "one two\nthree …"
    assert in_lines(Text("one"), 9, 1, console).plain == "one"
