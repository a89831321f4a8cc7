"""How a process ends, and what its run then says; children never write into it."""

import os
import subprocess
import sys
from pathlib import Path

from bisect_debugger.format.groups import Group
from tests.unit.recorded import Recorded, read

ROOT = Path(__file__).parents[2]

TRAINER = """
import os
import sys
import threading

import torch
from torch import nn

import probes

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    model(torch.ones(1, 2)).square().sum().backward()
    optimizer.step()


recording = probes.attach(model, optimizer, out="a.h5")
step()
"""


def train(folder: Path, rest: str, code: int = 0) -> "tuple[Recorded, str]":
    """Run the trainer with some more lines; its run, and what it wrote to stderr."""
    (folder / "train.py").write_text(TRAINER + rest, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return read(folder / "a.h5"), done.stderr


def test_what_nobody_closed_is_closed_at_exit(tmp_path: Path) -> None:
    run, errors = train(tmp_path, "step()\n")
    assert (run.facts.complete, run.steps, errors) == (True, (-1, 0, 1), "")


def test_what_the_interpreter_died_of_is_the_reason(tmp_path: Path) -> None:
    run, errors = train(tmp_path, "raise ValueError('loss is NaN')\n", code=1)
    assert errors.rstrip().endswith("ValueError: loss is NaN")
    assert run.facts.end_reason == "the trainer raised ValueError: loss is NaN"
    assert run.steps == (-1, 0)


def test_forked_children_leave_the_run_alone(tmp_path: Path) -> None:
    rest = """
child = os.fork()
if child == 0:
    step()
    recording.record("child", 1.0)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
step()
recording.close()
"""
    run, errors = train(tmp_path, rest)
    assert (run.facts.complete, run.steps, errors) == (True, (-1, 0, 1), "")
    assert run.names(Group.USER) == []


def test_workers_of_a_data_loader_leave_the_run_alone(tmp_path: Path) -> None:
    rest = """
def rows(batch):
    with torch.no_grad():
        return model(torch.stack(batch))


data = torch.ones(8, 2)
for batch in torch.utils.data.DataLoader(data, 2, num_workers=2, collate_fn=rows):
    assert batch.shape == (2, 1)
step()
recording.close()
"""
    run, _ = train(tmp_path, rest)
    assert (run.facts.complete, run.steps) == (True, (-1, 0, 1))
    assert run.names(Group.FORWARD, 1).count("model.out") == 1


def test_a_module_called_in_another_thread_is_recorded_there(tmp_path: Path) -> None:
    rest = """
thread = threading.Thread(target=lambda: model(torch.zeros(1, 2)))
thread.start()
thread.join()
step()
recording.close()
"""
    run, errors = train(tmp_path, rest)
    assert (run.facts.complete, errors) == (True, "")
    assert run.names(Group.FORWARD, 1).count("model.out") == 2
