"""No room left, or no file any more: the process lives on, and the run says how far it got."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.runs import open_run
from tests.e2e.writing import start, write_and_lose_the_file, write_within
from tests.verification import verify


@pytest.mark.parametrize("limit", [2_200_000, 2_600_000, 3_456_789])
def test_a_full_disk_ends_the_run_in_order(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "full.h5"
    process, reports = start(write_within, path, limit, 400)
    failed, size = reports.recv()
    process.join()
    # Not a crash, which is what HDF5 makes of a write that fails.
    assert process.exitcode == 0
    assert failed == os.strerror(27)
    assert size <= limit
    with open_run(path) as run:
        assert not run.facts.complete
        assert run.facts.end_reason == "recording stopped: File too large"
        assert 10 < run.step_count < 400
        assert verify(run) == run.event_count > 100


def test_no_room_at_all_is_said_before_the_first_event(tmp_path: Path) -> None:
    path = tmp_path / "none.h5"
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "from bisect_debugger.errors import UsageError\n"
        "from probes.writer import Header, RunWriter\n"
        "try: RunWriter(sys.argv[1], Header())\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot be created" in done.stdout
    assert "File too large" in done.stdout
    assert done.stderr == ""
    assert not path.exists()


@pytest.mark.parametrize("lost_at", [0, 7, 30])
def test_a_file_that_refuses_writes_does_not_take_the_process_along(
    tmp_path: Path, lost_at: int
) -> None:
    path = tmp_path / "lost.h5"
    process, reports = start(write_and_lose_the_file, path, lost_at, 40)
    failed, _ = reports.recv()
    process.join()
    assert process.exitcode == 0
    assert failed == "Bad file descriptor"
    with open_run(path) as run:
        assert run.last_step == lost_at - 1
        assert not run.facts.complete
        verify(run)


TRAINER = """
import hashlib, resource, sys
import torch
import probes

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 8))
optimizer = torch.optim.Adam(model.parameters())


def train():
    for step in range(12):
        loss = model(torch.randn(16, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if len(sys.argv) > 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
    with probes.attach(model, optimizer, out=sys.argv[1], level="full", flush_seconds=0.0):
        train()
else:
    train()
final = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
print(hashlib.sha256(final).hexdigest())
"""


def test_a_trainer_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER)
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "train.py", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

    bare, recorded = run(), run("a.h5")
    assert recorded.stdout == bare.stdout
    assert recorded.stderr.count("recording stopped (File too large)") == 1
    assert recorded.stderr.count("\n") == 1
    with open_run(tmp_path / "a.h5") as file:
        assert file.facts.end_reason == "recording stopped: File too large"
        assert 0 < file.step_count < 13
        assert verify(file) > 0
