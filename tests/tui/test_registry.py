"""Every action of the registry is reached by key, by mouse, and in the palette."""

from pathlib import Path

import pytest

from bisect_debugger.tui.actions import ACTIONS, bindings, footer_actions
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.screens.palette import Palette
from bisect_debugger.tui.widgets.keybar import KeyBar
from tests.tui.screens import SAMPLES, opened, press, screen_text

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")
OTHERS = [action for action in ACTIONS if action.name != "palette"]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the actions that were done; none of them does anything but the palette."""
    names: list[str] = []
    for action in OTHERS:

        async def note(app: BisectApp, name: str = action.name) -> None:
            names.append(name)

        monkeypatch.setattr(BisectApp, f"action_{action.name}", note)
    return names


async def test_by_key(done: list[str]) -> None:
    async with opened(*TWINS) as (_, pilot):
        for action in OTHERS:
            await pilot.press(*action.keys)
        await press(pilot)
    assert done == [action.name for action in OTHERS for _ in action.keys]


async def test_in_the_palette_by_its_name(done: list[str]) -> None:
    async with opened(*TWINS) as (_, pilot):
        for action in OTHERS:
            await pilot.press("ctrl+p", *(key.replace(" ", "space") for key in action.label))
            await press(pilot, "enter")
    assert done == [action.name for action in OTHERS]


async def test_in_the_palette_by_mouse(done: list[str]) -> None:
    async with opened(*TWINS, (80, 50)) as (app, pilot):
        for number, action in enumerate(ACTIONS):
            if action.name == "palette":
                continue
            await press(pilot, "ctrl+p")
            assert isinstance(app.screen, Palette)
            if number:
                await pilot.click("#found", offset=(3, number))
            await pilot.click("#found", offset=(3, number))
            await press(pilot)
            assert done[-1:] == [action.name]
            assert not isinstance(app.screen, Palette)


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_in_the_footer_by_mouse(width: int, done: list[str]) -> None:
    wanted = [action.name for action in footer_actions(width) if action.name != "palette"]
    async with opened(*TWINS, (width, 24)) as (app, pilot):
        for name in wanted:
            column = app.screen.query_one(KeyBar).column_of(name)
            assert column is not None
            await pilot.click(KeyBar, offset=(column, 0))
            await press(pilot)
        column = app.screen.query_one(KeyBar).column_of("palette")
        assert column is not None, "whatever does not fit is reached through the palette"
        await pilot.click(KeyBar, offset=(column, 0))
        await press(pilot)
        assert isinstance(app.screen, Palette)
    assert done == wanted


async def test_help_tells_every_action_and_explains_the_screen() -> None:
    async with opened(*TWINS, (120, 70)) as (app, pilot):
        for key, name in (("3", "timeline"), ("8", "reach"), ("0", "runs")):
            await press(pilot, key, "question_mark")
            text = screen_text(app)
            assert f"This screen: {name}" in text
            for action in ACTIONS:
                assert action.help in text
            await press(pilot, "escape")


def test_no_key_means_two_things() -> None:
    keys = [binding.key for binding in bindings()]
    assert len(keys) == len(set(keys))
    assert len({action.label for action in ACTIONS}) == len(ACTIONS)


async def test_every_screen_explains_itself(tmp_path: Path) -> None:
    async with opened(*TWINS) as (app, _):
        for name, screen in app.navigator.screens.items():
            assert len(screen.HELP) > 60, f"{name} has no help"
