"""Whatever is typed, however the terminal is resized: the UI stays, or fails with a sentence."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from textual import events

from bisect_debugger.tui.actions import bindings
from tests.tui.screens import SAMPLES, opened, press, screen_text, settled, status
from tests.tui.terminal import Terminal

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")
MOVES = ["enter", "escape", "up", "down", "left", "right", "tab", "pagedown", "home", "G", "g"]
TYPED = ["a", "x", "space", "backspace", "ctrl+p", "ctrl+p", "escape", "enter"]
LEAVES_OR_WRITES = {"q", "x", "E"}


@pytest.mark.parametrize("seed", range(8))
async def test_a_mash_of_keys_ends_nothing(seed: int) -> None:
    chance = random.Random(seed)
    keys = [x.key for x in bindings() if x.key not in LEAVES_OR_WRITES] + MOVES + TYPED
    async with opened(*TWINS) as (app, pilot):
        app.action_export = app.action_edit = lambda: None  # type: ignore[method-assign]
        for _ in range(80):
            key = chance.choice(keys)
            if chance.random() < 0.5:
                await pilot.press(key)
            else:
                # As from a fast typist: nobody waits for what the key before has done.
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            if chance.random() < 0.1:
                await pilot.resize_terminal(chance.randint(20, 210), chance.randint(8, 70))
        await settled(pilot)
        assert app.is_running
        assert app.return_code is None
        assert len(app.screen_stack) <= 3
        await pilot.resize_terminal(80, 24)
        await press(pilot, "escape", "escape", "1")
        assert "Verdict: diverged" in screen_text(app)


@pytest.mark.parametrize("size", [(60, 15), (40, 10), (20, 5)], ids=str)
async def test_small_terminals_do_not_break(size: tuple[int, int]) -> None:
    async with opened(*TWINS, size) as (app, pilot):
        for key in ("2", "3", "f", "enter", "6", "7", "8", "9", "0", "question_mark", "ctrl+p"):
            await press(pilot, key)
            assert len(screen_text(app).splitlines()) == size[1]
        await pilot.resize_terminal(200, 50)
        await press(pilot, "escape", "1")
        assert "Verdict: diverged" in screen_text(app)


async def test_filter_step_and_cursor_survive_going_in_and_out() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "colon", *"1", "enter", "slash", *"head", "enter", "j", "j")
        before = screen_text(app)
        for way in (["enter", "escape"], ["3", "escape"], ["1", "2", "4"], ["ctrl+p", "escape"]):
            await press(pilot, *way)
            assert screen_text(app) == before


@pytest.mark.parametrize(
    ("runs", "code", "words"),
    [
        (["a.h5"], 2, "name at least two"),
        (["a.h5", "a.h5"], 2, "given twice"),
        (["a.h5", "gone.h5"], 3, "gone.h5"),
        (["a.h5", "text.h5"], 3, "text.h5"),
        (["a.h5", "cut.h5"], 3, "cut.h5"),
    ],
)
def test_what_cannot_be_opened_is_told_without_a_screen(
    runs: list[str], code: int, words: str, tmp_path: Path
) -> None:
    content = TWINS[0].read_bytes()
    (tmp_path / "a.h5").write_bytes(content)
    (tmp_path / "cut.h5").write_bytes(content[: len(content) // 3])
    (tmp_path / "text.h5").write_text("not a run")
    command = [sys.executable, "-m", "bisect_debugger.cli", "open", *runs]
    if "cut.h5" in runs:
        # Only a reader can tell: the UI closes at once, and the sentence stands behind it.
        terminal = Terminal(
            tmp_path / "tmux",
            90,
            24,
            f"cd '{tmp_path}'; '{sys.executable}' -m "
            f"bisect_debugger.cli open a.h5 cut.h5; echo code $?; sleep 60",
        )
        try:
            assert words in terminal.wait_for(f"code {code}")
        finally:
            terminal.close()
        return
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("key", ["4", "8"])
async def test_a_name_cut_for_a_small_window_is_whole_again_in_a_big_one(key: str) -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, key, "G")
        whole = status(app)
        await pilot.resize_terminal(24, 8)
        await press(pilot, "k", "j")
        assert status(app) != whole
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert status(app) == whole


async def test_ctrl_c_says_how_to_leave_where_answers_stand() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "ctrl+c")
        assert status(app) == "q: leave"
        assert "ctrl+q" not in screen_text(app)
        await press(pilot, "slash", "ctrl+c", "escape", "ctrl+p", "ctrl+c", "escape", "q")
        assert app.return_code == 0
