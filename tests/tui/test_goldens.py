"""Every screen at the sizes it is designed for, as text; how it is painted, at the smallest.

One walk through all screens serves a size or a look, and tells everything that is not as it was.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from bisect_debugger.diagnosis.model import Experiment, Isolation, Repeats
from bisect_debugger.tui.app import BisectApp
from tests.tui.screens import (
    SAMPLES,
    AnyPilot,
    colours_of,
    golden_problem,
    opened,
    press,
    screen_text,
    styles_text,
)

SIZES = [(80, 24), (120, 40), (200, 60)]
WALK = {
    "verdict": ["1"],
    "trail": ["2"],
    "timeline": ["3"],
    "timeline-step": ["3", "right"],
    "buffers": ["f", "n"],
    "buffers-filter": ["slash", *"outcome", "enter"],
    "buffer": ["escape", "f", "enter"],
    "growth": ["7"],
    "reach": ["8"],
    "experiments": ["9"],
    "runs": ["0"],
    "note": ["6"],
    "help": ["3", "question_mark"],
    "palette": ["ctrl+p", *"note"],
    "prompt": ["escape", "4", "colon", *"step"],
}
"""Screens in the order of the walk, with the keys that lead to each from the one before."""


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths on the screen are as the user typed them: relative to the repository.
    monkeypatch.chdir(SAMPLES.parent)


TWINS = (Path("sample_runs/two_origins/a.h5"), Path("sample_runs/two_origins/b.h5"))
CLEAN = (Path("sample_runs/clean/a.h5"), Path("sample_runs/clean/b.h5"))
_SCROLLBAR = " ▁▂▃▄▅▆▇█"
EXPERIMENTS = (
    Experiment((), 3, 0, (-1, -1, -1)),
    Experiment(("entropy",), 3, 3, ()),
    Experiment(("threads",), 3, 0, (-1, -1, -1)),
    Experiment(("seed-all", "clock"), 3, 1, (-1, 0)),
)


async def screens_of(app: BisectApp, pilot: AnyPilot) -> AsyncIterator[str]:
    """Walk through the screens; what experiments show is as if some had been run."""
    found = await app.session.diagnose()
    app.session.diagnosis = replace(
        found, experiments=EXPERIMENTS, isolation=Isolation(Repeats(20, 0), Repeats(20, 17))
    )
    for name, keys in WALK.items():
        await press(pilot, *keys)
        yield name


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_each_screen_at_each_size(size: tuple[int, int]) -> None:
    problems = ""
    async with opened(*TWINS, size) as (app, pilot):
        async for name in screens_of(app, pilot):
            shown = screen_text(app)
            problems += golden_problem(shown, f"{name}-{size[0]}x{size[1]}")
            lines = shown.splitlines()
            assert len(lines) == size[1]
            assert max(map(cell_len, lines)) <= size[0], f"{name}: a line is too wide"
    assert not problems, problems


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
async def test_how_each_screen_is_painted(light: bool) -> None:
    problems, look = "", "light" if light else "dark"
    async with opened(*TWINS, light=light) as (app, pilot):
        async for name in screens_of(app, pilot):
            problems += golden_problem(screen_text(app), f"{name}-80x24")
            problems += golden_problem(styles_text(app), f"{look}/{name}")
            worst = min(map(_contrast_of, _pairs(app)), default=21.0)
            # 4.5 is what WCAG asks for; Rich's blue of code in a note is a hair below.
            assert worst >= 4.4, f"{name}: text that is hard to read on a {look} ground"
    assert not problems, problems


async def test_the_theme_can_be_changed_while_a_screen_is_shown() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "3")
        dark = colours_of(app)
        await press(pilot, "t")
        assert colours_of(app) != dark
        assert golden_problem(styles_text(app), "light/timeline") == ""
        await press(pilot, "t")
        assert colours_of(app) == dark


async def test_plain_ascii_alone() -> None:
    problems = ""
    async with opened(*TWINS, ascii_only=True) as (app, pilot):
        async for name in screens_of(app, pilot):
            shown = screen_text(app)
            assert shown.isascii(), f"{name}: {sorted(set(shown) - set(map(chr, range(128))))}"
            problems += golden_problem(shown, f"ascii/{name}")
    assert not problems, problems


async def test_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    problems = ""
    async with opened(*TWINS) as (app, pilot):
        async for name in screens_of(app, pilot):
            problems += golden_problem(screen_text(app), f"{name}-80x24")
            assert not colours_of(app), f"{name} has another colour than the terminal's own"
    assert not problems, problems


async def test_equal_twins() -> None:
    problems = ""
    async with opened(*CLEAN) as (app, pilot):
        for name, key in {
            "verdict": "1",
            "trail": "2",
            "timeline": "3",
            "buffers": "4",
            "buffer": "5",
            "growth": "7",
            "reach": "8",
            "experiments": "9",
        }.items():
            await press(pilot, key)
            problems += golden_problem(screen_text(app), f"clean/{name}")
    assert not problems, problems


def _pairs(app: BisectApp) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Colours of text with the ground that they stand on."""
    return {
        (tuple(style.color.triplet), tuple(style.bgcolor.triplet))
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if (style := segment.style) is not None and segment.text.strip(_SCROLLBAR)
        if style.color is not None and style.bgcolor is not None
        if style.color.triplet is not None and style.bgcolor.triplet is not None
    }


def _contrast_of(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> float:
    """Contrast ratio of WCAG 2, from 1 to 21."""
    light, dark = sorted(map(_luminance, pair), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: tuple[int, ...]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
