"""`twin` on a real terminal: both runs as they go, the verdict, and every way to end early."""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.tui.terminal import PATIENCE, Terminal

TRAINER = """
import sys, time
import numpy as np, torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rng = np.random.default_rng(0)
for step in range(int(sys.argv[1])):
    if step == 25:
        rng = np.random.default_rng()
    batch = torch.from_numpy(rng.normal(size=(8, 4)).astype("f4"))
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("epoch", step, "terminal", sys.stdout.isatty(), sys.stdin.isatty(), flush=True)
    time.sleep(0.06)
"""

CRASHING = """
import sys
from bisect_debugger import cli
from bisect_debugger.tui.live import screen

paint = screen.LiveScreen.paint

def failing(self):
    if self._see().lines:
        raise ZeroDivisionError("planted")
    paint(self)

screen.LiveScreen.paint = failing
sys.exit(cli.main())
"""


@contextmanager
def twin(folder: Path, steps: int, program: str = "-m bisect_debugger.cli") -> Iterator[Terminal]:
    (folder / "train.py").write_text(TRAINER, encoding="utf-8")
    command = (
        f"cd '{folder}' && '{sys.executable}' {program} twin --no-values -- "
        f"'{sys.executable}' train.py {steps}; echo \"code $?\"; stty -a | grep -o '.icanon'; "
        "sleep 60"
    )
    terminal = Terminal(folder / "tmux", 80, 24, command)
    try:
        yield terminal
    finally:
        terminal.close()


def processes_in(folder: Path) -> list[psutil.Process]:
    """The trainer's, the command's, and what keeps them; not the terminal's."""
    found = []
    for process in psutil.process_iter(["name", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        if process.info["cwd"] == str(folder) and "train.py" in words and "tmux" not in words[0]:
            found.append(process)
    return found


def wait_until_none_is_left(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while left := processes_in(folder):
        assert time.monotonic() < deadline, f"still there: {[each.cmdline() for each in left]}"
        time.sleep(0.1)


def test_both_runs_are_seen_and_turn_into_the_verdict(tmp_path: Path) -> None:
    with twin(tmp_path, 40) as terminal:
        terminal.wait_for("Live: run 1 of 2")
        running = terminal.wait_for(" steps/s")
        assert "run 1 of 2: recorded, to compare others with" in running
        # The trainer sees what it would without a UI: no terminal at all.
        lines = terminal.wait_for("terminal False").splitlines()
        shown_lines = [line for line in lines if line.startswith("  epoch ")]
        assert shown_lines
        assert all(line.endswith("terminal False False") for line in shown_lines)
        terminal.wait_for("Live: run 2 of 2")
        terminal.wait_for("equal to run 1 so far")
        terminal.resize(100, 30)
        shown = terminal.wait_for(" of 39, ")
        assert len(shown.splitlines()) == 30
        assert re.search(r"    \[#+-+\] \d+ %\n", shown)
        assert "    steps 0 to 39" in shown
        terminal.resize(62, 16)
        terminal.wait_for("Verdict: diverged")
        terminal.keys("3")
        terminal.wait_for("Timeline: 29 steps")
        terminal.keys("q")
        terminal.wait_for("code 1")
        assert "-icanon" not in terminal.wait_for("icanon")
        assert "Diverged. 1 origin" in terminal.scrollback()
        assert "bisect-debugger: run 2 of 2: steps 0 to 27, differs" in terminal.scrollback()
        assert "bisect-debugger: note: .bisect-debugger/twins/1/note.md" in terminal.scrollback()
    assert (tmp_path / ".bisect-debugger/twins/1/note.md").exists()
    wait_until_none_is_left(tmp_path)


def test_leaving_asks_first_and_then_ends_the_training(tmp_path: Path) -> None:
    with twin(tmp_path, 100_000) as terminal:
        terminal.wait_for(" steps/s")
        terminal.keys("q")
        terminal.wait_for("Stop the training?")
        terminal.keys("n")
        terminal.wait_for("q stop (asks first)")
        terminal.wait_for("epoch 15 ")
        assert len(processes_in(tmp_path)) == 2
        terminal.keys("C-c")
        terminal.wait_for("Stop the training?")
        terminal.keys("C-c")
        terminal.wait_for("code 130")
        text = terminal.scrollback()
        assert "interrupted; kept: .bisect-debugger/twins/1/a.h5" in text
        assert "Traceback" not in text
    assert (tmp_path / ".bisect-debugger/twins/1/a.h5").exists()
    wait_until_none_is_left(tmp_path)


@pytest.mark.parametrize("how", ["killed", "told to end", "its terminal closed"])
def test_the_trainer_does_not_outlive_the_ui(tmp_path: Path, how: str) -> None:
    with twin(tmp_path, 100_000) as terminal:
        terminal.wait_for(" steps/s")
        (command,) = [each for each in processes_in(tmp_path) if "twin" in each.cmdline()]
        if how == "its terminal closed":
            terminal.close()
        else:
            os.kill(command.pid, signal.SIGKILL if how == "killed" else signal.SIGTERM)
            terminal.wait_for("code 137" if how == "killed" else "code 130")
        wait_until_none_is_left(tmp_path)


def test_a_ui_that_fails_gives_the_terminal_back_and_ends_the_training(tmp_path: Path) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING, encoding="utf-8")
    with twin(tmp_path, 100_000, "crashing.py") as terminal:
        terminal.wait_for("code 3")
        assert "-icanon" not in terminal.wait_for("icanon")
        text = terminal.scrollback()
        assert "ZeroDivisionError: planted" in text
        assert "The terminal UI failed" in text
        assert "kept: .bisect-debugger/twins/1/a.h5" in text
    wait_until_none_is_left(tmp_path)
