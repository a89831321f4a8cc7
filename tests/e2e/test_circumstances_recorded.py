"""What a recording holds of the circumstances: restored states, threads, generators of threads."""

import subprocess
import sys
from pathlib import Path

from bisect_debugger.format.schema import OPTIMIZER_LOADED, THREAD_BESIDE
from bisect_debugger.runs import open_run
from tests.e2e.command_line import cli

PROGRAM = """
import copy, pickle, threading, time
import numpy as np
import torch

def beat():
    rng = np.random.default_rng(5)
    while True:
        rng.random()
        time.sleep(0.001)

def fill(batch):
    batch += 1

torch.manual_seed(1)
rng = np.random.default_rng(3)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters())
threading.Thread(target=beat, daemon=True).start()
for step in range(4):
    if step == 2:
        torch.save({"o": optimizer.state_dict()}, "state.pt")
        optimizer.load_state_dict(torch.load("state.pt")["o"])
        pickle.dumps(copy.deepcopy(optimizer))
    batch = torch.full((4, 3), float(rng.random()))
    short = threading.Thread(target=fill, args=(batch,))
    short.start()
    short.join()
    model(batch).sum().backward()
    optimizer.step()
print([p.tolist() for p in model.parameters()])
"""


def test_circumstances_are_noted_and_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    command = (sys.executable, "train.py")
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    done = cli("record", "-o", "a.h5", "--", *command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    with open_run(tmp_path / "a.h5") as run:
        facts, buffers = run.facts, run.buffers
    told = [(call.call, call.argument, call.step) for call in facts.loads]
    assert told == [("torch.load", "state.pt", 2), (OPTIMIZER_LOADED, "", 2)]
    assert "train.py:" in facts.loads[0].location
    beside = [line for line in facts.uncovered if line.startswith(THREAD_BESIDE)]
    # The one is there all the time, the other is gone whenever a step is closed.
    assert sorted(beside) == [f"{THREAD_BESIDE}Thread-N ({name})" for name in ("beat", "fill")]
    seeded = [call.argument for call in facts.seeding if "default_rng" in call.call]
    assert sorted(seeded) == ["3", "5"]
    # The one of the thread is known to be there, and what it holds at a boundary is chance.
    followed = {buffer.component for buffer in buffers if "default_rng" in buffer.component}
    (place,) = {call.location for call in facts.seeding if call.argument == "3"}
    assert followed == {f"rng.default_rng[{place}]"}
