"""`twin --repro` on a real terminal: the UI hears while the culprit is executed alone."""

import sys
from pathlib import Path

from tests.tui.terminal import PATIENCE, Terminal
from tests.tui.test_live_tmux import wait_until_none_is_left

TRAINER = """
import pathlib, sys, time
import numpy as np, torch

class Mixer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(4, 4)

    def forward(self, x):
        if pathlib.Path(sys.argv[0]).name == "repro.py":
            print("call by itself", flush=True)
            time.sleep(5)
        return self.line(x) + float(np.random.default_rng().normal())

if __name__ == "__main__":
    torch.manual_seed(0)
    net = torch.nn.Sequential(Mixer(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(2):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_leaving_ends_the_culprit_that_is_executed_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER, encoding="utf-8")
    command = (
        f"cd '{tmp_path}' && '{sys.executable}' -m bisect_debugger.cli twin --no-values "
        f"--repro alone -- '{sys.executable}' train.py; echo \"code $?\"; sleep 60"
    )
    terminal = Terminal(tmp_path / "tmux", 80, 24, command)
    try:
        # Three runs of a trainer come before it.
        shown = terminal.wait_for("call by itself", 5 * PATIENCE)
        assert "> the culprit alone: executes the culprit by itself, again and again" in shown
        terminal.keys("q")
        terminal.wait_for("Stop the script?")
        terminal.keys("y")
        terminal.wait_for("code 130")
        text = terminal.scrollback()
        assert "interrupted; found so far: Diverged." in text
        assert "see it with: bisect-debugger compare" in text
    finally:
        terminal.close()
    wait_until_none_is_left(tmp_path)
    assert (tmp_path / ".bisect-debugger/twins/1/a.h5").exists()
