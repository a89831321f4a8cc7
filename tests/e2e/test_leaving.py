"""What a run leaves behind that was ended on purpose."""

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import cli

PROGRAM = """
import tempfile
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with tempfile.TemporaryDirectory(prefix="cache-of-the-trainer-") as folder:
    for step in range(STEPS):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize("steps", [1, 100_000])
def test_temporary_folders_of_the_program_are_gone(tmp_path: Path, steps: int) -> None:
    script, room = tmp_path / "train.py", tmp_path / "room"
    script.write_text(PROGRAM.replace("STEPS", str(steps)), encoding="utf-8")
    room.mkdir()
    done = cli(
        *("record", "-o", tmp_path / "a.h5", "--max-steps", "2", "--", sys.executable, script),
        env={**os.environ, "TMPDIR": str(room)},
    )
    assert done.returncode == 0, done.stderr
    # torch keeps a cache of its own there.
    assert list(room.glob("cache-of-the-trainer-*")) == []
