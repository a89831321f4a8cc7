"""`twin` of trainers that are the same twice, in ways that are easily taken for different."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import COMMAND, cli
from tests.e2e.trained import SUPERVISED, buffer_names


def equal_twins(folder: Path, program: str) -> set[str]:
    """Assert that a program is its own twin; returns the buffers of the first run."""
    (folder / "trainer.py").write_text(program, encoding="utf-8")
    done = cli(
        *("twin", "--no-tui", "--no-values", "-o", "t", "--json", "-"),
        *("--", sys.executable, "trainer.py"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"] == "bit-equal"
    return buffer_names(folder / "t/a.h5")


def test_a_copy_in_a_reference_cycle_has_one_name_however_long_it_lives(tmp_path: Path) -> None:
    """Python's garbage collector comes by when it likes: here, in other steps of each run."""
    names = equal_twins(
        tmp_path,
        """
import gc, os, torch
torch.manual_seed(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.call = self.layer_of
    def layer_of(self, batch):
        return self.layer(batch)
    def forward(self, batch):
        return self.call(batch)

def step(number):
    average = Net()
    batch = torch.randn(4, 3)
    loss = (model(batch) - average(batch).detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

gc.disable()
model = Net()
optimizer = torch.optim.Adam(model.parameters())
chance = os.getpid() % 3
for number in range(12):
    if number % 4 == chance:
        gc.collect()
    step(number)
""",
    )
    assert "average.layer.weight" in names
    assert not [name for name in names if "#" in name]


def test_processes_side_by_side_are_paired_by_what_they_are(tmp_path: Path) -> None:
    """Another one comes first in the second run."""
    names = equal_twins(
        tmp_path,
        """
import multiprocessing, os, time, torch

def train(seed, before, mine):
    torch.manual_seed(seed)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for number in range(4):
        if not number and before is not None:
            before.wait()
        model(torch.randn(4, 3)).pow(2).mean().backward()
        optimizer.step()
        mine.set()

if __name__ == "__main__":
    second = os.path.exists("first run was here")
    open("first run was here", "w").close()
    fork = multiprocessing.get_context("fork")
    done = [fork.Event(), fork.Event()]
    first = 1 if second else 0
    processes = [
        fork.Process(target=train, args=(n, None if n == first else done[first], done[n]))
        for n in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
""",
    )
    assert "model.weight" in names
    assert (tmp_path / "t/b.2.h5").exists()


WITH_A_THREAD = """
import threading, torch
seen = []
thread = threading.Thread(target=lambda: seen.append(1), name="monitor")
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    if step == 1:
        thread.start()
        thread.join()
    model(torch.randn(4, 3)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("threads", [True, False])
def test_equal_twins_with_threads_are_told_to_take_more_runs(tmp_path: Path, threads: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(WITH_A_THREAD if threads else WITH_A_THREAD.replace("step == 1", "False"))
    done = cli("twin", "--no-tui", "-o", tmp_path / "t", "--", sys.executable, script)
    assert done.returncode == 0, done.stderr
    assert ("compare more than 2 with --runs" in done.stderr) is threads


def test_ranks_are_compared_with_their_like(tmp_path: Path) -> None:
    program = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(4):
    model(torch.full((2, 3), float(dist.get_rank() + step))).sum().backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
"""
    (tmp_path / "ddp.py").write_text(program)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = cli("twin", "--no-tui", "-o", "t", "--", *torchrun, "ddp.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "t").glob("b*.h5")) == [
        "b.rank0.h5",
        "b.rank1.h5",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--json", "x", "--note", "x"], "name the same place"),
        (["--json", "t", "-o", "t"], "name the same place"),
        (["--json", "-", "--note", "-"], "name the same place"),
        (["--control", " "], "--control is empty"),
        (["--control", "no-such-command"], "was not found"),
    ],
)
def test_what_cannot_end_well_is_refused_before_the_trainer_runs(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = cli("twin", *arguments, "--", sys.executable, "-c", "print('ran')", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "ran" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full", "2> >(head -c 1 >/dev/null)"])
def test_a_stderr_that_takes_nothing_ends_no_run(tmp_path: Path, stderr: str) -> None:
    script = f'{shlex.join(COMMAND)} twin --no-tui -o t -- "$@" {stderr}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *SUPERVISED],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["a.h5", "b.h5", "note.md"]
