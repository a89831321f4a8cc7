"""What is looked at is read while a diagnosis goes on: held as an order of events."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.reader import BACKGROUND, LONG, SEARCH, URGENT, Reader
from bisect_debugger.tui.screens.timeline import TimelineScreen
from bisect_debugger.tui.session import Session
from bisect_debugger.tui.widgets.ribbon import RibbonView
from bisect_debugger.twins import Pair, open_pair
from tests.runs import Event, values, write_run
from tests.tui.screens import AnyPilot, press, screen_text, settled

_LIMIT_SECONDS = 60.0
"""Where the order is wrong, something waits for ever; no test is as slow as this."""

_BEFORE_IT_STANDS = 40
"""Reads of the diagnosis before it stands: it is in the middle of its work."""


@pytest.mark.parametrize(
    ("running", "asked"),
    [(LONG, URGENT), (LONG, SEARCH), (SEARCH, URGENT), (BACKGROUND, LONG), (BACKGROUND, URGENT)],
)
async def test_the_more_urgent_is_answered_within_what_runs(running: int, asked: int) -> None:
    reader, begun, answered = Reader(), threading.Event(), threading.Event()
    order: list[str] = []

    def long() -> None:
        begun.set()
        while not answered.is_set():
            reader.check()
        order.append("long")

    def small() -> None:
        order.append("small")
        answered.set()

    async with asyncio.timeout(_LIMIT_SECONDS):
        waiting = asyncio.ensure_future(reader.ask(long, running))
        await asyncio.to_thread(begun.wait)
        await reader.ask(small, asked)
        await waiting
    reader.close(lambda: None)
    assert order == ["small", "long"]


@pytest.mark.parametrize(
    ("running", "asked"), [(URGENT, URGENT), (LONG, LONG), (LONG, BACKGROUND), (URGENT, LONG)]
)
async def test_what_is_not_more_urgent_waits(running: int, asked: int) -> None:
    reader, begun, put = Reader(), threading.Event(), threading.Event()
    order: list[str] = []

    def long() -> None:
        begun.set()
        put.wait()
        for _ in range(100):
            reader.check()
        order.append("running")

    async with asyncio.timeout(_LIMIT_SECONDS):
        waiting = asyncio.ensure_future(reader.ask(long, running))
        await asyncio.to_thread(begun.wait)
        other = asyncio.ensure_future(reader.ask(lambda: order.append("asked"), asked))
        await asyncio.sleep(0)
        put.set()
        await asyncio.gather(waiting, other)
    reader.close(lambda: None)
    assert order == ["running", "asked"]


async def test_what_fails_within_fails_for_who_asked_it_alone() -> None:
    reader, begun, ended = Reader(), threading.Event(), threading.Event()

    def long() -> str:
        begun.set()
        while not ended.is_set():
            reader.check()
        return "found"

    def broken() -> None:
        ended.set()
        raise KeyError("a page")

    async with asyncio.timeout(_LIMIT_SECONDS):
        waiting = asyncio.ensure_future(reader.ask(long, LONG))
        await asyncio.to_thread(begun.wait)
        with pytest.raises(KeyError):
            await reader.ask(broken)
        assert await waiting == "found"
    reader.close(lambda: None)


def _diverging(folder: Path, steps: int, onset: int) -> Pair:
    plain: list[Event] = [(Group.FORWARD, "net.out", values(3)), (Group.LOSS, "loss", values(5))]
    other: list[Event] = [(Group.FORWARD, "net.out", values(4)), (Group.LOSS, "loss", values(6))]
    a = write_run(folder / "a.h5", [plain] * steps, level="digest")
    b = write_run(folder / "b.h5", [plain] * onset + [other] * (steps - onset), level="digest")
    return open_pair(a, b)


@contextmanager
def _diagnosis_that_stands(session: Session, pair: Pair) -> Iterator[threading.Event]:
    """The diagnosis stays at one of its reads until the event is set; it checks meanwhile."""
    reader, go_on, reads = session._reader, threading.Event(), 0

    def stand() -> None:
        nonlocal reads
        reads += 1
        reader.check()
        current = reader._current
        while reads > _BEFORE_IT_STANDS and current is not None and current.priority == LONG:
            reader.check()
            if go_on.wait(0.001):
                return

    pair.a.watch(stand)
    try:
        yield go_on
    finally:
        go_on.set()


async def test_pages_are_read_and_painted_while_the_diagnosis_goes_on(tmp_path: Path) -> None:
    pair = _diverging(tmp_path, 6000, 5000)
    session = Session(pair)
    app = BisectApp(session)
    with _diagnosis_that_stands(session, pair) as go_on:
        async with asyncio.timeout(_LIMIT_SECONDS), app.run_test(size=(80, 24)) as pilot:
            await _until(pilot, lambda: "Comparing the runs" in screen_text(app))
            await pilot.press("3")
            await _until(pilot, lambda: isinstance(app.screen, TimelineScreen))
            ribbon = app.screen.query_one(RibbonView)
            await _until(pilot, lambda: ribbon.cursor_cell is not None)
            await pilot.press("pagedown")
            await _until(pilot, lambda: "enter: events  step 69" in screen_text(app))
            assert not _is_diagnosed(session), "the page came first"
            go_on.set()
            await settled(pilot)
            assert _is_diagnosed(session)
            assert "step 69" in screen_text(app), "who moved meanwhile is not moved back"
            await press(pilot, "1")
            assert "Verdict: diverged" in screen_text(app)


def _is_diagnosed(session: Session) -> bool:
    return session.diagnosis is not None


async def _until(pilot: AnyPilot, there: Callable[[], bool]) -> None:
    while not there():
        await pilot.pause(0.01)
