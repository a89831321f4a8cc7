"""Every screen at the sizes it is designed for, as text; no line is cut or broken."""

from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tui.screens import SAMPLES, hold_to_golden, opened, press, screen_text

SIZES = [(80, 24), (120, 40), (200, 50)]
SCREENS = {
    "verdict": [],
    "trail": ["2"],
    "timeline": ["3"],
    "buffers": ["f", "n"],
    "buffer": ["f", "enter"],
    "note": ["6"],
    "help": ["question_mark"],
}


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths on the screen are as the user typed them: relative to the repository.
    monkeypatch.chdir(SAMPLES.parent)


TWINS = (Path("sample_runs/two_origins/a.h5"), Path("sample_runs/two_origins/b.h5"))
CLEAN = (Path("sample_runs/clean/a.h5"), Path("sample_runs/clean/b.h5"))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("screen", SCREENS)
async def test_each_screen(screen: str, size: tuple[int, int]) -> None:
    async with opened(*TWINS, size) as (app, pilot):
        await press(pilot, *SCREENS[screen])
        hold_to_golden(app, f"{screen}-{size[0]}x{size[1]}")
        lines = screen_text(app).splitlines()
        assert len(lines) == size[1]
        assert max(map(cell_len, lines)) <= size[0]


@pytest.mark.parametrize("screen", ["verdict", "timeline", "buffers"])
async def test_equal_twins(screen: str) -> None:
    async with opened(*CLEAN) as (app, pilot):
        await press(pilot, *{"verdict": [], "timeline": ["3"], "buffers": ["4"]}[screen])
        hold_to_golden(app, f"clean-{screen}-80x24")


async def test_ascii_symbols_only() -> None:
    async with opened(*TWINS, ascii_only=True) as (app, pilot):
        await press(pilot, "3")
        hold_to_golden(app, "timeline-ascii-80x24")
        body = screen_text(app)
        assert not set(body) & set("≠∅·")
        assert "#" in body


async def test_without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "3")
        hold_to_golden(app, "timeline-80x24")
        strips = app.screen._compositor.render_strips()
        colours = {
            segment.style.color.name
            for strip in strips
            for segment in strip
            if segment.style and segment.style.color and segment.style.color.triplet
        }
        for triplet_name in colours:
            red, green, blue = (int(triplet_name[i : i + 2], 16) for i in (1, 3, 5))
            assert red == green == blue, f"{triplet_name} is a colour"
