"""`--fsync`: each half of a flush is on the disk before anything goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import probes
from bisect_debugger.format import schema
from bisect_debugger.runs import open_run
from probes.writer import Header, RunWriter
from tests.safety.processes import ROOT, environment, recorder
from tests.safety.versions import write


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What was synchronised: inode and length of the file at that moment."""
    found: list[tuple[int, int]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        status = os.fstat(descriptor)
        found.append((status.st_ino, status.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_every_flush_waits_for_the_disk(tmp_path: Path, synced: list[tuple[int, int]]) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(), flush_seconds=0.0, fsync=True)
    inode = writer.path.stat().st_ino
    for step in range(5):
        writer.close_step(step)
        # Once before the steps, once behind them.
        assert len(synced) == 2 * (step + 1)
    writer.finish(schema.END_COMPLETE)
    assert len(synced) == 13
    assert {of for of, _ in synced} == {inode}
    assert synced[-1] == (inode, writer.path.stat().st_size)


def test_nothing_waits_where_it_was_not_asked_for(
    tmp_path: Path, synced: list[tuple[int, int]]
) -> None:
    write("complete", tmp_path / "a.h5")
    assert synced == []


def test_attach_takes_it(tmp_path: Path, synced: list[tuple[int, int]]) -> None:
    import torch

    with probes.attach(torch.nn.Linear(1, 1), out=tmp_path / "a.h5", fsync=True):
        pass
    assert len(synced) >= 3


def test_record_takes_it(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import os, torch\n"
        "calls, real = [], os.fsync\n"
        "os.fsync = lambda descriptor: (calls.append(descriptor), real(descriptor)) and None\n"
        "model = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    model(torch.ones(1, 2)).sum().backward(); optimizer.step()\n"
        "print('synced', len(calls) > 0)\n"
    )
    out = tmp_path / "a.h5"
    shown = {}
    for name, more in (("with", ["--fsync"]), ("without", [])):
        out.unlink(missing_ok=True)
        done = subprocess.run(
            [*recorder("-o", str(out), *more), sys.executable, str(program)],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown[name] = done.stdout
        with open_run(out) as run:
            assert run.last_step == 2
    assert shown == {"with": "synced True\n", "without": "synced False\n"}
