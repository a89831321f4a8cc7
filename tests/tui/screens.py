"""Driving the UI without a terminal: press keys, read the screen as text, hold it to a golden."""

import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from difflib import unified_diff
from itertools import chain, groupby
from pathlib import Path
from typing import TypeAlias

from textual.pilot import Pilot

from bisect_debugger.errors import BisectError
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.screens.typed import TypedScreen
from bisect_debugger.tui.session import Session
from bisect_debugger.twins import open_pair

AnyPilot: TypeAlias = Pilot[BisectError | None]

GOLDENS = Path(__file__).parent / "goldens"
SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


@asynccontextmanager
async def opened(
    a: Path,
    b: Path,
    size: tuple[int, int] = (80, 24),
    *,
    ascii_only: bool = False,
    light: bool = False,
) -> AsyncIterator[tuple[BisectApp, AnyPilot]]:
    """The app on two runs, with the verdict painted."""
    app = BisectApp(Session(open_pair(a, b)), ascii_only=ascii_only, light=light)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield app, pilot


async def settled(pilot: AnyPilot) -> None:
    """Wait until nothing is being read and everything is painted."""
    quiet = 0
    while quiet < 2:
        await pilot.pause()
        busy = [worker for worker in pilot.app.workers if not worker.is_finished]
        quiet = 0 if busy else quiet + 1
        await pilot.app.workers.wait_for_complete(busy)
    await pilot.pause()


async def press(pilot: AnyPilot, *keys: str) -> None:
    """Press keys, each after the last one's work is done."""
    for key in keys:
        await pilot.press(key)
        # What is typed into a prompt leads nowhere before enter.
        if not (len(key) == 1 and isinstance(pilot.app.screen, TypedScreen)):
            await settled(pilot)
    if not keys:
        await settled(pilot)


def screen_text(app: BisectApp) -> str:
    """What stands on the screen, a line per row, without trailing blanks."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


def status(app: BisectApp) -> str:
    """The status line, where every answer stands."""
    return screen_text(app).splitlines()[-2].strip()


def styles_text(app: BisectApp) -> str:
    """How it is painted: for each row the stretches with a style of their own, `first-last style`.

    The style that most of the screen has stands in the first line and is left out below.
    """
    strips = app.screen._compositor.render_strips()
    runs = [
        [
            (str(style), sum(segment.cell_length for segment in group))
            for style, group in groupby(strip, key=lambda segment: segment.style)
        ]
        for strip in strips
    ]
    cells: Counter[str] = Counter()
    for style, width in chain.from_iterable(runs):
        cells[style] += width
    plain = cells.most_common(1)[0][0]
    lines = [f"plain: {plain}"]
    for number, row in enumerate(runs):
        column, stretches = 0, []
        for style, width in row:
            if style != plain:
                stretches.append(f"{column}-{column + width - 1} {style}")
            column += width
        if stretches:
            lines.append(f"{number}: {'; '.join(stretches)}")
    return "\n".join(lines) + "\n"


def colours_of(app: BisectApp) -> set[tuple[int, ...]]:
    """Every colour on the screen, of text and ground."""
    styles = [
        segment.style
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if segment.style is not None
    ]
    return {
        tuple(colour.triplet)
        for style in styles
        for colour in (style.color, style.bgcolor)
        if colour is not None and colour.triplet is not None
    }


def golden_problem(shown: str, name: str) -> str:
    """What is wrong with a screen, or nothing; UPDATE_GOLDENS=1 writes the golden instead."""
    golden = GOLDENS / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    if not golden.exists():
        return f"no golden {name}: write it with UPDATE_GOLDENS=1 and look at it\n"
    expected = golden.read_text(encoding="utf-8")
    difference = unified_diff(
        expected.splitlines(), shown.splitlines(), f"golden {name}", "shown", lineterm="", n=0
    )
    return "" if shown == expected else "\n".join(difference) + "\n"


def hold_to_golden(app: BisectApp, name: str) -> None:
    """Compare the screen with its golden."""
    problem = golden_problem(screen_text(app), name)
    assert not problem, problem
