"""The UI in a real terminal: tmux draws it, keys are typed, the screen is read back."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import Terminal

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


def a_terminal(size: tuple[int, int], tmp_path: Path, editor: str = "true") -> Iterator[Terminal]:
    width, height = size
    for name in ("a.h5", "b.h5"):
        shutil.copy(SAMPLES / "two_origins" / name, tmp_path)
    command = (
        f"cd '{tmp_path}' && unset VISUAL && export EDITOR={editor} && "
        f"'{sys.executable}' -m bisect_debugger.cli open a.h5 b.h5"
    )
    opened = Terminal(tmp_path / "tmux", width, height, command)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(params=[(80, 24), (200, 60)], ids=["80x24", "200x60"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    yield from a_terminal(request.param, tmp_path)


@pytest.fixture(params=[(80, 24), (140, 40)], ids=["80x24", "140x40"])
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    yield from a_terminal(request.param, tmp_path)


def test_what_is_typed_into_a_prompt_is_seen(asked: Terminal) -> None:
    asked.wait_for("Verdict: diverged")
    asked.wait_for("1 verdict")
    asked.keys("f")
    asked.wait_for("Buffers: init")
    asked.keys("/", "o", "u", "t", "c")
    asked.wait_for("filter of buffers: outc")
    asked.keys("Enter")
    asked.wait_for('filter "outc": 1 of 20 events')
    asked.keys(":", "z", "z", "z")
    asked.wait_for("go to: zzz")
    asked.keys("Enter")
    # The answer stands alone in its line: nothing is laid over it.
    lines = asked.wait_for("no buffer of these runs has zzz in its name").splitlines()
    assert "no buffer of these runs has zzz in its name" in [line.strip() for line in lines]
    asked.keys("Escape")
    asked.wait_for("rng.python@init")


@pytest.fixture
def without_editor(tmp_path: Path) -> Iterator[Terminal]:
    yield from a_terminal((80, 24), tmp_path, "no-such-editor")


def test_an_editor_that_does_not_start_leaves_the_terminal_to_the_ui(
    without_editor: Terminal,
) -> None:
    without_editor.wait_for("Verdict: diverged")
    without_editor.wait_for("1 verdict")
    without_editor.keys("E")
    without_editor.wait_for("the editor did not start")
    without_editor.keys("3")
    without_editor.wait_for("Timeline: 5 steps")
    without_editor.keys("q")
    assert without_editor.ended()


def test_a_walk_through_every_screen(terminal: Terminal, tmp_path: Path) -> None:
    verdict = terminal.wait_for("Verdict: diverged")
    assert "agent.outcome_head" in verdict
    assert "agent.iqn_head.tau_sampler" in verdict
    terminal.wait_for("1 verdict")
    terminal.keys("2")
    assert "Which step differs first?" in terminal.wait_for("why the tool thinks so, ")
    terminal.keys("3")
    terminal.wait_for("Timeline: 5 steps")
    terminal.wait_for("init: differs in rng, param")
    terminal.keys("Right")
    terminal.wait_for("step 0: differs in")
    terminal.keys("Enter")
    terminal.wait_for("Buffers: step 0")
    terminal.keys("f")
    terminal.wait_for("Buffers: init")
    terminal.keys("Enter")
    assert "0x" in terminal.wait_for("Around the first difference")
    terminal.keys("7")
    terminal.wait_for("last compared")
    terminal.keys("8")
    terminal.wait_for("Reach: 2 origins reached")
    terminal.keys("9")
    terminal.wait_for("No experiment was run")
    terminal.keys("0")
    terminal.wait_for("recorded at")
    terminal.keys("6")
    terminal.wait_for("Comparison of twins of train.py: diverged")
    terminal.keys("x")
    terminal.wait_for("note.md")
    terminal.keys("q")
    assert terminal.ended()
    assert (tmp_path / "note.md").read_text().startswith("# Comparison of twins")


def test_a_walk_with_the_mouse_alone(mouse: Terminal, tmp_path: Path) -> None:
    mouse.wait_for("Verdict: diverged")
    mouse.wait_for("1 verdict")
    mouse.wait_for("first time here?")
    mouse.click_on("^p all")
    mouse.wait_for("type to find")
    mouse.click_on("Go to the first divergence.")
    mouse.click_on("Go to the first divergence.")
    mouse.wait_for("Buffers: init")
    mouse.click_on("1 verdict")
    mouse.wait_for("Do first: ")
    mouse.click_on("agent.iqn_head.tau_sampler  forward-kernel")
    mouse.wait_for("reached agent.iqn_head.embed")
    mouse.click_on("agent.iqn_head.tau_sampler  forward-kernel")
    mouse.wait_for("Buffer: agent.iqn_head.tau_sampler.out")
    assert "0x" in mouse.wait_for("Around the first difference")
    mouse.click_on("2 why")
    mouse.wait_for("why the tool thinks so, ")
    mouse.click_on("9 tried")
    mouse.wait_for("No experiment was run")
    mouse.click_on("3 steps")
    mouse.wait_for("init: differs in rng, param")
    # The line of the forward pass, the column of step 1; again: go in.
    for words in ("step 1, forward: differs", "Buffers: step 1"):
        mouse.click(10 + 6 * 2, 6)
        mouse.wait_for(words)
    mouse.click_on("^p all")
    mouse.wait_for("type to find")
    for _ in range(2):
        mouse.click_on("Write the note beside the first run.")
    mouse.wait_for("note.md")
    mouse.click_on("q quit")
    assert mouse.ended()
    assert (tmp_path / "note.md").read_text().startswith("# Comparison of twins")


@pytest.fixture
def mouse(tmp_path: Path, _cache_of_the_test: Path) -> Iterator[Terminal]:
    (_cache_of_the_test / "bisect-debugger" / "seen").unlink()
    yield from a_terminal((120, 40), tmp_path)


def test_suspended_it_gives_the_shell_back_and_comes_again(tmp_path: Path) -> None:
    for name in ("a.h5", "b.h5"):
        shutil.copy(SAMPLES / "two_origins" / name, tmp_path)
    shell = Terminal(tmp_path / "tmux", 80, 24, f"cd '{tmp_path}' && exec bash --norc -i")
    try:
        shell.keys(f"'{sys.executable}' -m bisect_debugger.cli open a.h5 b.h5", "Enter")
        shell.wait_for("Verdict: diverged")
        shell.wait_for("1 verdict")
        shell.keys("C-z")
        shell.wait_for("Stopped")
        shell.keys("fg", "Enter")
        shell.wait_for("Verdict: diverged")
        shell.keys("3")
        shell.wait_for("Timeline: 5 steps")
    finally:
        shell.close()
