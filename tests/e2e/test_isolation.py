"""The culprit is taken out of a training and executed alone: forward and backward, apart."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import cli
from tests.e2e.trained import TRAINERS

NOISY = (sys.executable, str(TRAINERS / "noisy.py"))


def isolated(folder: Path, *options: str, trainer: tuple[str, ...] = NOISY) -> dict[str, Any]:
    """Diagnosis of `twin --repro` on a trainer; the script goes to ``repro``."""
    done = cli(
        *("twin", "--no-tui", "--no-values", "--max-steps", "2", "--repro", folder / "repro"),
        *("-o", folder / "t", "--json", folder / "d.json", "--", *trainer, *options),
    )
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = json.loads((folder / "d.json").read_text(encoding="utf-8"))
    return found


def test_a_forward_fault_differs_forward_and_not_backward(tmp_path: Path) -> None:
    isolation = isolated(tmp_path, "--fault", "forward")["isolation"]
    assert isolation["component"] == "net.mixer"
    assert isolation["forward"] == {"repeats": 20, "different": 20}
    assert isolation["backward"] == {"repeats": 20, "different": 0}
    note = (tmp_path / "t/note.md").read_text(encoding="utf-8")
    assert "forward 20/20 different, backward 0/20 different; reproduced in isolation" in note
    assert not (tmp_path / "t/isolated.h5").exists()


def test_a_backward_fault_differs_backward_only_and_its_script_stands_alone(
    tmp_path: Path,
) -> None:
    isolation = isolated(tmp_path, "--fault", "backward")["isolation"]
    assert isolation["component"] == "net.mixer"
    assert isolation["forward"] == {"repeats": 20, "different": 0}
    assert isolation["backward"] == {"repeats": 20, "different": 20}
    assert isolation["as_recorded"]
    assert sorted(path.name for path in (tmp_path / "repro").iterdir()) == [
        "culprit.py",
        "inputs.pt",
        "repro.py",
    ]
    moved = (tmp_path / "repro").rename(tmp_path / "elsewhere")
    assert not imported(moved / "repro.py") & {"probes", "bisect_debugger"}
    done = script(moved, "--repeats", "7")
    assert done.stdout.splitlines() == ["forward: 0 of 7 differ", "backward: 7 of 7 differ"]
    assert done.returncode == 1
    # A fix is tried in the file beside, and seen at once.
    program = (moved / "culprit.py").read_text(encoding="utf-8")
    assert "def main" not in program
    (moved / "culprit.py").write_text(program.replace("return grad + noise", "return grad"))
    done = script(moved, "--repeats", "3")
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, "backward: 0 of 3 differ")


def test_what_does_not_reproduce_is_said(tmp_path: Path) -> None:
    """Each run has another order of its labels' set, and one process has only one."""
    trainer = tmp_path / "hashed.py"
    trainer.write_text(HASHED, encoding="utf-8")
    found = isolated(tmp_path, trainer=(sys.executable, str(trainer)))
    assert found["isolation"]["forward"] == {"repeats": 20, "different": 0}
    report = (tmp_path / "t/note.md").read_text(encoding="utf-8")
    assert "not reproduced in isolation" in report


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("net.register_forward_hook(lambda *a: None)", "net has hooks of the program's own"),
        ("net.log = open(__file__)", "net.log is a TextIOWrapper"),
    ],
)
def test_what_cannot_be_taken_out_is_refused_with_the_reason(
    tmp_path: Path, change: str, reason: str
) -> None:
    trainer = tmp_path / "hashed.py"
    trainer.write_text(HASHED.replace("# change", change), encoding="utf-8")
    found = isolated(tmp_path, trainer=(sys.executable, str(trainer)))
    assert found["isolation"] is None
    assert found["remarks"][0] == f"Not isolated: {reason}."


@pytest.mark.parametrize("imported", [False, True])
def test_what_keeps_count_outside_its_module_is_not_called_reproduced(
    tmp_path: Path, imported: bool
) -> None:
    """Each process has its own order of the labels' set; repeats differ by the generator alone."""
    trainer, counted = tmp_path / "hashed.py", tmp_path / "counted.py"
    counted.write_text("import random\nDRAWS = random.Random(0)\n", encoding="utf-8")
    begin = "from counted import DRAWS" if imported else "import random\nDRAWS = random.Random(0)"
    text = HASHED.replace("return out", "return out + DRAWS.random()")
    trainer.write_text(f"{begin}\n{text}", encoding="utf-8")
    found = isolated(tmp_path, trainer=(sys.executable, str(trainer)))
    if imported:
        assert found["isolation"] is None
        assert "it keeps state outside its module" in found["remarks"][0]
    else:
        assert found["isolation"]["forward"] == {"repeats": 20, "different": 0}


def test_what_the_culprit_prints_is_no_count(tmp_path: Path) -> None:
    trainer = tmp_path / "printing.py"
    counts = json.dumps({"forward": {"repeats": 20, "different": 0}, "as_recorded": True})
    told = f"print({counts!r}); print('no end', end=''); out = out + os.urandom(1)[0]\n        "
    program = HASHED.replace("return out", f"{told}return out")
    # A form feed ends a page and no line.
    trainer.write_text(f"import os\n\f\n{program}", encoding="utf-8")
    found = isolated(tmp_path, trainer=(sys.executable, str(trainer)))
    assert found["isolation"]["forward"]["different"] > 10


def test_the_call_of_the_training_is_taken_down_and_no_dry_run_before_it(tmp_path: Path) -> None:
    """Where zeros come in, as in the dry runs, nothing differs."""
    trainer = tmp_path / "dry.py"
    text = HASHED.replace("* len(name)", "* len(name) * x.sum() + os.urandom(1)[0] * x.sum()")
    dry = "net(torch.zeros(8, 4)); net(torch.zeros(8, 4))\noptimizer ="
    trainer.write_text(f"import os\n{text.replace('optimizer =', dry)}", encoding="utf-8")
    found = isolated(tmp_path, trainer=(sys.executable, str(trainer)))
    assert found["onset"]["step"] == 0
    assert found["isolation"]["component"] == "net"
    assert found["isolation"]["forward"] == {"repeats": 20, "different": 20}


HASHED = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        names = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
        out = self.inner(x)
        for place, name in enumerate(names):
            out = out + 0.01 * (1 + place) * len(name)
        return out

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
# change
for _ in range(3):
    loss = net(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def script(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-P", str(folder / "repro.py"), *options]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=folder
    )


def imported(path: Path) -> set[str]:
    """Top-level packages that a script imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    names += [str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}
