"""An error of the UI's own, in a real terminal: one sentence, and the traceback in a file."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import Terminal

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs" / "two_origins"

BROKEN = """
import sys
from bisect_debugger import cli
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.screens.verdict import VerdictScreen

async def load(screen):
    raise ZeroDivisionError("no width")

def _line(screen, index, width):
    raise ZeroDivisionError("no width")

async def action_help(app):
    raise ZeroDivisionError("no width")

{name}.{method} = {method}
sys.exit(cli.main(["open", *sys.argv[1:]]))
"""


PLACES = {
    "in a worker": ("VerdictScreen", "load"),
    "while it is painted": ("VerdictScreen", "_line"),
    "at a key": ("BisectApp", "action_help"),
}


@pytest.fixture(params=PLACES.values(), ids=tuple(PLACES))
def broken(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Terminal]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name, method = request.param
    (tmp_path / "ui.py").write_text(BROKEN.format(name=name, method=method))
    runs = " ".join(f"'{SAMPLES / name}'" for name in ("a.h5", "b.h5"))
    command = f"'{sys.executable}' '{tmp_path}/ui.py' {runs}; echo ended with $?; sleep 60"
    terminal = Terminal(tmp_path / "tmux", 80, 24, command)
    try:
        if method == "action_help":
            terminal.wait_for("Do first: ")
            terminal.wait_for("1 verdict")
            terminal.keys("?")
        yield terminal
    finally:
        terminal.close()


def test_it_is_one_sentence_and_the_traceback_is_kept(broken: Terminal, tmp_path: Path) -> None:
    broken.wait_for("ended with 3")
    shown = broken.scrollback()
    words = " ".join(shown.split())
    assert "The terminal UI failed (ZeroDivisionError: no width at ui.py:" in words
    kept = tmp_path / "cache" / "bisect-debugger" / "ui-failure.txt"
    assert f"its traceback is in {kept})" in words
    assert "Traceback (most recent call last)" in kept.read_text()
    assert len(shown.strip().splitlines()) < 10
