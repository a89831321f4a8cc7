"""The README's console blocks are executed, its Python block is run, its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (.+?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_what_the_readme_shows_is_what_is_printed(command: str, shown: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "bisect-debugger"
    done = subprocess.run(
        [sys.executable, "-m", "bisect_debugger.cli", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1)
    assert done.stdout == shown


def test_both_kinds_of_verdict_are_shown() -> None:
    assert len(CONSOLE) == 2


def test_the_recording_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    setting = """
import torch

class Buffer:
    def sample(self):
        return {"indices": torch.arange(3)}

model, labels, replay_buffer = torch.nn.Linear(2, 1), torch.ones(3), Buffer()
optimizer = torch.optim.Adam(model.parameters())

def train(*ignored):
    replay_buffer.sample()
    model(torch.ones(3, 2)).sum().backward()
    optimizer.step()

"""
    (tmp_path / "example.py").write_text(setting + example)
    subprocess.run([sys.executable, "example.py"], cwd=tmp_path, check=True)
    from bisect_debugger.runs import open_run

    with open_run(tmp_path / "a.h5") as run:
        names = {buffer.name for buffer in run.buffers}
        assert {"replay.Buffer.sample.indices", "labels", "model.weight.grad", "loss"} <= names
        assert run.last_step == 0


def test_every_link_leads_to_a_file() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
