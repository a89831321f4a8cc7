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
    errors = attempt(folder, rest, code)
    return read(folder / "a.h5"), errors


def attempt(folder: Path, rest: str, code: int = 0, trainer: str = TRAINER) -> str:
    """Run the trainer with some more lines; what it wrote to stderr."""
    (folder / "train.py").write_text(trainer + rest, encoding="utf-8")
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
    return done.stderr


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


def test_a_changed_working_directory_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    run, errors = train(tmp_path, "os.chdir('elsewhere')\nstep()\nrecording.close()\n")
    assert (run.facts.complete, run.steps, errors) == (True, (-1, 0, 1), "")
    # What was reserved and not needed went back.
    assert (tmp_path / "a.h5").stat().st_blocks * 512 <= (tmp_path / "a.h5").stat().st_size + 4096


def test_what_the_trainer_raised_is_what_comes_out(tmp_path: Path) -> None:
    rest = """
with recording:
    os.unlink("a.h5")
    raise ValueError("loss is NaN")
"""
    errors = attempt(tmp_path, rest, code=1)
    assert errors.rstrip().endswith("ValueError: loss is NaN")
    assert errors.count("Traceback") == 1


def test_a_file_that_cannot_be_closed_is_said_and_not_raised(tmp_path: Path) -> None:
    rest = """
recording.recorder.writer._on_disk.close = lambda: open("/nowhere/at/all")
recording.close()
print(torch.ones(1).item())
"""
    errors = attempt(tmp_path, rest)
    assert errors.startswith("bisect-debugger: a.h5 could not be closed in order ([Errno 2]")
    assert errors.count("\n") == 1
    assert read(tmp_path / "a.h5").facts.complete


def test_a_failure_of_ours_without_stderr_stays_ours(tmp_path: Path) -> None:
    rest = """
sys.stderr = None
recording.recorder._append = None
recording.recorder.writer.finish = None
step()
step()
recording.close()
sys.stderr = sys.__stderr__
"""
    assert attempt(tmp_path, rest) == ""


def test_a_worker_process_gets_the_seeding_function_it_was_given(tmp_path: Path) -> None:
    rest = """
import random

import numpy as np

if __name__ == "__main__":
    for seed in (random.seed, np.random.seed, torch.manual_seed, torch.cuda.manual_seed_all):
        loader = torch.utils.data.DataLoader(
            [1.0, 2.0], num_workers=1, worker_init_fn=seed, multiprocessing_context="spawn"
        )
        assert len(list(loader)) == 2
    step()
    recording.close()
"""
    # A spawned worker imports the trainer's file again, and attaches to a file of its own.
    trainer = TRAINER.replace('out="a.h5"', 'out=f"{os.getpid()}.h5"')
    rest = rest.replace(
        "recording.close()", "recording.close()\n    os.rename(recording.path, 'a.h5')"
    )
    errors = attempt(tmp_path, rest, trainer=trainer)
    assert errors == ""
    assert read(tmp_path / "a.h5").facts.complete
