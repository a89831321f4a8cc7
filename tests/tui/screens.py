"""Driving the UI without a terminal: press keys, read the screen as text, hold it to a golden."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.session import Session
from bisect_debugger.twins import open_pair

GOLDENS = Path(__file__).parent / "goldens"
SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


@asynccontextmanager
async def opened(
    a: Path, b: Path, size: tuple[int, int] = (80, 24), *, ascii_only: bool = False
) -> AsyncIterator[tuple[BisectApp, "Pilot[None]"]]:
    """The app on two runs, with the verdict painted."""
    app = BisectApp(Session(open_pair(a, b)), ascii_only=ascii_only)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield app, pilot


async def settled(pilot: "Pilot[None]") -> None:
    """Wait until nothing is being read and everything is painted."""
    for _ in range(4):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def press(pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys, each after the last one's work is done."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def screen_text(app: BisectApp) -> str:
    """What stands on the screen, a line per row, without trailing blanks."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


def status(app: BisectApp) -> str:
    """The status line, where every answer stands."""
    return screen_text(app).splitlines()[-2].strip()


def hold_to_golden(app: BisectApp, name: str) -> None:
    """Compare the screen with its golden; UPDATE_GOLDENS=1 writes it instead."""
    golden, shown = GOLDENS / f"{name}.txt", screen_text(app)
    if os.environ.get("UPDATE_GOLDENS"):
        GOLDENS.mkdir(exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    assert golden.exists(), f"no golden {name}: write it with UPDATE_GOLDENS=1 and look at it"
    assert shown == golden.read_text(encoding="utf-8")
