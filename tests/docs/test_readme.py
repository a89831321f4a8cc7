"""The README's console blocks are executed, its Python block is run, its links lead somewhere.

When the samples or the texts changed, ``python -m tests.docs.test_readme`` prints the README with
what the commands print now.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bisect_debugger.cli import COMMANDS
from bisect_debugger.runs import open_run
from tests.docs.project import ROOT, table_rows

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXIT_CODES = (ROOT / "docs/exit-codes.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?<=```console\n)\$ (.+?)\n(.*?)(?=```)", re.DOTALL)
CONSOLE = [match.groups() for match in BLOCK.finditer(README)]


NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
SCRIPT = ROOT / "sample_runs/unseeded_batches/train.py"


def printed(command: str) -> str:
    """What a command of the README prints, pipes and all.

    `twin` runs the reader's own script, in a folder of its own; the others run in the root of the
    checkout.
    """
    prelude = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    prelude += f'bisect-debugger() {{ "{sys.executable}" -m bisect_debugger.cli "$@"; }}\n'
    with tempfile.TemporaryDirectory() as folder:
        is_twin = " twin " in command
        if is_twin:
            shutil.copy(SCRIPT, folder)
        done = subprocess.run(
            ["bash", "-c", prelude + command],
            cwd=folder if is_twin else ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode in (0, 1), done.stderr
    assert is_twin or done.stderr == ""
    return done.stdout


def comparable(command: str, text: str) -> str:
    """The text; the numbers of a script that nobody seeded are others every time."""
    return NUMBER.sub("N", text) if " twin " in command else text


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_what_the_readme_shows_is_what_is_printed(command: str, shown: str) -> None:
    assert comparable(command, printed(command)) == comparable(command, shown)


def test_the_first_example_is_the_readers_own_script() -> None:
    assert CONSOLE[0][0] == "bisect-debugger twin -- python train.py"


def test_every_printing_command_and_both_kinds_of_verdict_are_shown() -> None:
    assert {command.split()[1] for command, _ in CONSOLE} == {"twin", "compare", "note", "info"}
    verdicts = {shown.split()[0] for command, shown in CONSOLE if "compare" in command}
    assert verdicts == {"Diverged.", "Bit-equal:"}


def test_the_commands_are_those_there_are() -> None:
    rows = table_rows(README, "command")
    assert [row[0].split()[1] for row in rows] == list(COMMANDS)


def test_the_exit_codes_are_those_of_their_page() -> None:
    fine_print = [row[0] for row in table_rows(EXIT_CODES.replace("\\|", "/"), "code")]
    short = [row[0] for row in table_rows(README, "code")]
    assert fine_print == [*short, "141"]


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
    with open_run(tmp_path / "a.h5") as run:
        names = {buffer.name for buffer in run.buffers}
        assert {"replay.Buffer.sample.indices", "labels", "model.weight.grad", "loss"} <= names
        assert run.last_step == 0


def test_every_link_leads_to_a_file() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def again(found: re.Match[str]) -> str:
    """A console block as it is printed now, unless only its numbers are others."""
    command, shown = found.groups()
    now = printed(command)
    kept = comparable(command, now) == comparable(command, shown)
    return f"$ {command}\n{shown if kept else now}"


if __name__ == "__main__":
    sys.stdout.write(BLOCK.sub(again, README))
