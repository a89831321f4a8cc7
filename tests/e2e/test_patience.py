"""A trainer that never ends under a knob is ended, and what was found before stays."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from bisect_debugger.driver.patience import OutOfTime, Patience, Stuck
from bisect_debugger.driver.record import record
from bisect_debugger.driver.session import Settings
from tests.e2e.command_line import cli

TWO_AT_ONCE = """
import os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy, torch

with open(sys.argv[1], "a") as pids:
    print(os.getpid(), file=pids)
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = numpy.random.default_rng().normal(size=(2, 4, 3)).astype("float32")
both_here = threading.Barrier(2)

def half(number):
    both_here.wait()
    return torch.from_numpy(rows[number])

with ThreadPoolExecutor(2) as pool:
    for _ in range(3):
        batch = torch.cat(list(pool.map(half, range(2))))
        model(batch).sum().backward()
        optimizer.step()
"""
"""Both halves of a batch wait for each other: with a pool of one worker, as `turns` makes it, the
first waits for ever."""


def test_what_is_stuck_under_a_knob_ends_with_the_budget(tmp_path: Path) -> None:
    script, pids = tmp_path / "two_at_once.py", tmp_path / "pids"
    script.write_text(TWO_AT_ONCE, encoding="utf-8")
    options = ("--no-tui", "--no-values", "--explain", "--budget", "10s", "--json", "-")
    command = ("twin", *options, "-o", tmp_path / "t", "--", sys.executable, script, pids)
    done = cli(*command, timeout=300)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "diverged"
    assert "time ran out" in found["remarks"][0]
    assert "experiment with all knobs: time ran out" in done.stderr
    assert [experiment["knobs"] for experiment in found["experiments"]] == [[]]
    for pid in map(int, pids.read_text(encoding="utf-8").split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("seconds", "idle", "kind"), [(0.5, 1e9, OutOfTime), (1e9, 0.5, Stuck)], ids=["over", "stuck"]
)
def test_a_run_that_does_not_move_is_ended(
    tmp_path: Path, seconds: float, idle: float, kind: type[Exception]
) -> None:
    now = time.monotonic()
    patience = Patience(now + seconds, idle, now)
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(kind):
        record(command, Settings(tmp_path / "a.h5"), patience=patience)
    assert not list(tmp_path.iterdir())


def test_a_step_is_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(deadline=1e18, most_idle=5.0, moved=0.0)
    clock = iter((4.0, 8.0, 14.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    patience.hear([{"kind": "step", "step": 0}])
    patience.hear([{"kind": "torch"}])
    with pytest.raises(Stuck, match="no step in 5 s"):
        patience.hear([])
