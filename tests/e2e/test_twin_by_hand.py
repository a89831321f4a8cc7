"""`probes.record` and `probes.watch` in a trainer that `twin` runs, and that runs without it."""

import json
import subprocess
import sys
from pathlib import Path

from bisect_debugger.runs import open_run
from tests.e2e.command_line import cli

TRAINER = """
import numpy as np
import torch
import probes

class Buffer:
    def sample(self):
        return torch.arange(4.0)

torch.manual_seed(0)
buffer = Buffer()
probes.watch(buffer, "sample", "buffer")
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    reward = float(np.frombuffer(open("/dev/urandom", "rb").read(1), np.uint8)[0]) + 1
    probes.record("reward", reward)
    loss = (model(buffer.sample()) * reward).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done")
"""


def test_what_is_recorded_by_hand_is_in_the_twins_and_may_be_the_origin(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER, encoding="utf-8")
    done = cli(
        "twin", "--no-tui", "--no-values", "-o", "t", "--json", "d.json", "--",
        sys.executable, "train.py", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    told = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert [(o["component"], o["step"]) for o in told["origins"]] == [("reward", 0)]
    with open_run(next((tmp_path / "t").glob("*.h5"))) as run:
        assert "replay.buffer.sample" in {buffer.name for buffer in run.buffers}


def test_the_same_trainer_runs_by_itself(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
