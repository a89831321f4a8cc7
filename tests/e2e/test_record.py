"""`record -o RUN -- CMD`: any command that ends in a Python process that trains."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bisect_debugger.runs import open_run
from tests.e2e.command_line import COMMAND, cli
from tests.e2e.trained import (
    SUPERVISED,
    TRAINERS,
    buffer_names,
    line_of,
    location_of,
    parameters_line,
    steps_of,
)


def test_a_run_holds_what_attach_records_under_the_names_of_the_program(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    done = cli("record", "-o", out, "--", *SUPERVISED)
    assert done.returncode == 0, done.stderr
    assert {
        "agent.network.head.weight",
        "agent.network.body.out",
        "data.agent.network.in[0]",
        "data.criterion.in[1]",
        "criterion.out",
        "loss",
        "agent.network.out.grad",
        "agent.network.head.weight.grad_scratch",
        "agent.network.head.weight.grad",
        "agent.optimizer.group[0].lr",
        "agent.optimizer.exp_avg[agent.network.head.weight]",
        "rng.torch_cpu@forward",
    } <= buffer_names(out)
    assert steps_of(out) == [-1, *range(8)]
    assert location_of(out, "agent.network.head.weight") == line_of("self.head = torch")
    assert location_of(out, "data.agent.network.in[0]") == line_of("criterion(agent.network")
    with open_run(out) as run:
        assert run.facts.complete
        calls = {(call.call, Path(call.location).name) for call in run.facts.seeding}
    assert "torch.manual_seed" in {call for call, _ in calls}
    assert ("numpy.random.default_rng", line_of("rng = np.random.default_rng(options")) in calls


def test_the_trainer_computes_what_it_computes_alone(tmp_path: Path) -> None:
    alone = subprocess.run(SUPERVISED, capture_output=True, text=True, check=True)
    recorded = cli("record", "-o", tmp_path / "a.h5", "--level", "full", "--", *SUPERVISED)
    assert recorded.stdout == alone.stdout
    assert parameters_line(alone.stdout)


@pytest.mark.parametrize("kind", ["module", "shell", "executable", "odd arguments"])
def test_any_way_to_start_a_python_is_recorded(tmp_path: Path, kind: str) -> None:
    script = (TRAINERS / "supervised.py").read_text(encoding="utf-8")
    (tmp_path / "trainer.py").write_text(script, encoding="utf-8")
    executable = tmp_path / "train it"
    # As pip writes it: a first line that names an interpreter takes no path with a space.
    start = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n"
    executable.write_text(start + script, encoding="utf-8")
    executable.chmod(0o755)
    (tmp_path / "run.sh").write_text(f'exec "{sys.executable}" trainer.py "$@"\n')
    command = {
        "module": [sys.executable, "-m", "trainer"],
        "shell": ["bash", "run.sh", "--steps", "2"],
        "executable": [str(executable)],
        "odd arguments": [sys.executable, "trainer.py", "--directory", "a b -- c", "--steps=2"],
    }[kind]
    done = cli("record", "-o", "run.h5", "--", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "agent.network.head.weight" in buffer_names(tmp_path / "run.h5")


def test_a_sitecustomize_that_was_there_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('site', __name__)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", "import sys, sitecustomize; print(sys.path)"]
    alone = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    below = cli("record", "-o", tmp_path / "a.h5", "--", *command, env=environment)
    assert alone.stdout.startswith("site sitecustomize\n")
    # The command itself is a Python process that has it too.
    assert below.stdout == f"site sitecustomize\n{alone.stdout}"


def test_an_environment_without_the_tool_is_recorded(tmp_path: Path) -> None:
    """Another virtual environment that has torch, and neither this tool nor h5py nor xxhash."""
    import torch

    packages = Path(torch.__file__).parent.parent
    farm = tmp_path / "packages"
    farm.mkdir()
    for entry in packages.iterdir():
        name = entry.name.lower()
        if not any(part in name for part in ("h5py", "xxhash", "bisect", ".pth", "editable")):
            (farm / entry.name).symlink_to(entry)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "other"], check=True)
    python = tmp_path / "other/bin/python"
    (site,) = (tmp_path / "other").glob("lib/python*/site-packages")
    (site / "farm.pth").write_text(f"{farm}\n")
    missing = subprocess.run(
        [python, "-c", "import probes.recording"], capture_output=True, check=False
    )
    assert missing.returncode == 1
    done = cli("record", "-o", tmp_path / "a.h5", "--", python, *SUPERVISED[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "agent.network.head.weight" in buffer_names(tmp_path / "a.h5")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("print('no torch')", "never imported torch"),
        ("import torch; torch.nn.Linear(2, 2)(torch.ones(1, 2))", "no optimizer"),
        (
            "import torch; torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), 0.1)",
            "no optimizer",
        ),
    ],
)
def test_what_does_not_train_leaves_one_sentence_and_no_file(
    tmp_path: Path, program: str, words: str
) -> None:
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-command"], "was not found"),
        (["train.py"], "write python train.py"),
        ([], "There is no command"),
        ([sys.executable, "-I", "-c", "import torch"], "options -I, -E or -S"),
    ],
)
def test_commands_that_cannot_be_recorded(tmp_path: Path, command: list[str], words: str) -> None:
    done = cli("record", "-o", "a.h5", "--", *command, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_existing_run_is_never_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    out.write_bytes(b"precious")
    done = cli("record", "-o", out, "--", *SUPERVISED)
    assert (done.returncode, out.read_bytes()) == (2, b"precious")
    assert "never overwrites" in done.stderr


@pytest.mark.parametrize(
    ("how", "code", "complete"),
    [
        ("os-exit", 0, True),
        ("system-exit", 4, True),
        ("error", 4, False),
        ("kill", 4, False),
    ],
)
def test_however_the_trainer_ends_its_steps_are_there(
    tmp_path: Path, how: str, code: int, complete: bool
) -> None:
    out = tmp_path / "a.h5"
    done = cli("record", "-o", out, "--", *SUPERVISED, "--end", how)
    assert done.returncode == code, done.stderr
    if code:
        assert str(out) in done.stderr
    with open_run(out) as run:
        assert run.facts.complete is complete
        # Killed, it may lack what the last flush did not hold.
        assert run.last_step == 7 or how == "kill"
    assert list(tmp_path.iterdir()) == [out]


def test_a_trainer_that_changes_its_directory(tmp_path: Path) -> None:
    done = cli("record", "-o", "a.h5", "--", *SUPERVISED, "--directory", "deep", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert steps_of(tmp_path / "a.h5")[-1] == 7


def test_the_steps_are_bounded(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    done = cli("record", "-o", out, "--max-steps", "3", "--", *SUPERVISED, "--steps", "1000000")
    assert done.returncode == 0, done.stderr
    assert steps_of(out) == [-1, 0, 1, 2]


def test_an_interrupt_reaches_the_trainer_once(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    process = subprocess.Popen(
        [*COMMAND, "record", "-o", str(out), "--", *SUPERVISED, "--end", "linger"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("parameters"):
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.count("KeyboardInterrupt") == 1
    assert steps_of(out)[-1] == 7


def test_two_ranks_leave_two_files(tmp_path: Path) -> None:
    program = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    model(torch.full((2, 4), float(dist.get_rank() + step))).sum().backward()
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
"""
    (tmp_path / "ddp.py").write_text(program)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    done = cli("record", "-o", "a.h5", "--", *torchrun, "ddp.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = sorted(path.name for path in tmp_path.glob("*.h5"))
    assert runs == ["a.rank0.h5", "a.rank1.h5"]
    for rank, name in enumerate(runs):
        with open_run(tmp_path / name) as run:
            assert (run.facts.rank, run.facts.world_size, run.last_step) == (rank, 2, 2)
    assert buffer_names(tmp_path / runs[0]) == buffer_names(tmp_path / runs[1])
    assert "model.module.weight.grad" in buffer_names(tmp_path / runs[0])


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_loader_write_nothing(tmp_path: Path, start: str) -> None:
    program = f"""
import torch

class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.scale = torch.nn.Linear(1, 1)
    def __len__(self):
        return 8
    def __getitem__(self, index):
        with torch.no_grad():
            return self.scale(torch.full((1,), float(index)))

def main():
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(
        Rows(), 4, shuffle=True, num_workers=2, multiprocessing_context="{start}"
    )
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
    (tmp_path / "loads.py").write_text(program)
    done = cli("record", "-o", "a.h5", "--", sys.executable, "loads.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.glob("*.h5*")) == ["a.h5"]
    names = buffer_names(tmp_path / "a.h5")
    assert {"loader.indices", "loader.batch", "data.model.in[0]"} <= names
    assert steps_of(tmp_path / "a.h5")[:3] == [-1, 0, 1]


def test_a_module_without_a_hash_is_recorded(tmp_path: Path) -> None:
    program = """
import dataclasses, torch

@dataclasses.dataclass
class Loss(torch.nn.Module):
    start: float = 2.0
    def __post_init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(self.start))
    def forward(self, y):
        return (self.scale * y).square().mean()

torch.manual_seed(0)
loss, model = Loss(), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD([*model.parameters(), loss.scale], 0.1)
loss(model(torch.ones(1, 2))).backward()
optimizer.step()
print("trained")
"""
    (tmp_path / "program.py").write_text(program)
    done = cli("record", "-o", "a.h5", "--", sys.executable, "program.py", cwd=tmp_path)
    assert (done.returncode, "trained" in done.stdout) == (0, True), done.stderr
    assert {"loss.scale.grad", "loss.scale"} <= buffer_names(tmp_path / "a.h5")


def test_a_forward_without_a_step_is_no_training(tmp_path: Path) -> None:
    program = """
import torch
model = torch.nn.Linear(2, 2)
torch.optim.SGD(model.parameters(), 0.1)
model(torch.ones(1, 2)).sum().backward()
"""
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 2
    assert "no optimizer" in done.stderr
    assert not list(tmp_path.iterdir())


def test_steps_outside_the_window_count_for_the_bound(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    options = ("--steps", "1:3", "--max-steps", "5", "--", *SUPERVISED, "--steps", "100000")
    done = cli("record", "-o", out, *options)
    assert done.returncode == 0, done.stderr
    assert steps_of(out) == [-1, 1, 2]
    assert "up to step 4" in done.stderr


def test_a_script_module_is_recorded_as_far_as_it_shows(tmp_path: Path) -> None:
    program = """
import torch
torch.manual_seed(0)
model = torch.jit.script(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(3):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""
    (tmp_path / "scripted.py").write_text(program)
    done = cli(
        "record", "-o", "a.h5", "--", sys.executable, "-W", "ignore", "scripted.py", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    with open_run(tmp_path / "a.h5") as run:
        assert run.facts.complete, run.facts.end_reason
    assert "model.weight.grad" in buffer_names(tmp_path / "a.h5")
