"""`record` of trainers, outputs and surroundings that nobody would choose."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.runs import open_run
from tests.e2e.command_line import COMMAND, cli
from tests.e2e.trained import SUPERVISED, buffer_names, steps_of

NOTHING = ("--", sys.executable, "-c", "print('ran')")

STEPS = """
for step in range(3):
    model(torch.full((2, 3), float(step))).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "n" * 300 + ".h5"], "is too long"),
        (["-o", "n" * 240 + ".h5"], "is too long"),
        (["-o", "a.h5", "--steps", "3"], "not a window of steps"),
        (["-o", "a.h5", "--steps", "5:3"], "not a window of steps"),
        (["-o", "/"], "is a folder"),
    ],
)
def test_what_cannot_end_well_is_refused_before_the_trainer_runs(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = cli("record", *arguments, *NOTHING, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys; os.rmdir(os.getcwd()); from bisect_debugger.cli import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    home = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code, "record", "-o", "a.h5", *NOTHING],
        cwd=gone,
        env=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "current directory is gone" in done.stderr


def test_a_folder_for_temporary_files_that_is_named_relatively(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": "."}
    done = cli(
        *("record", "-o", "a.h5", "--", *SUPERVISED, "--directory", "deep"),
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.h5", "deep"]


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    """It ends in order, before the parent's first step has given the file its name."""
    program = f"""
import os, sys, torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if os.fork() == 0:
    sys.exit(0)
os.wait()
{STEPS}
"""
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
    assert steps_of(tmp_path / "a.h5") == [-1, 0, 1, 2]


def test_forked_children_that_train_are_recorded(tmp_path: Path) -> None:
    program = f"""
import os, torch
for seed in range(2):
    if os.fork() == 0:
        torch.manual_seed(seed)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        {STEPS.strip().replace(chr(10), chr(10) + " " * 8)}
        os._exit(0)
    os.wait()
"""
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.2.h5", "a.h5"]
    for name in ("a.h5", "a.2.h5"):
        with open_run(tmp_path / name) as run:
            assert (run.facts.complete, run.last_step) == (True, 2)


def test_files_of_others_beside_the_run_stay(tmp_path: Path) -> None:
    other = tmp_path / "a.h5.backup.part"
    other.write_text("precious")
    done = cli("record", "-o", "a.h5", *NOTHING, cwd=tmp_path)
    assert done.returncode == 2
    assert other.read_text() == "precious"


def test_the_search_for_names_asks_nothing_of_what_it_finds(tmp_path: Path) -> None:
    program = f"""
import torch
torch.manual_seed(0)
asked = []

class Odd(str):
    @property
    def __class__(self):
        asked.append("class")
        return dict
    def __hash__(self):
        return 1
    def __str__(self):
        asked.append("str")
        return "odd"
    def __format__(self, how):
        asked.append("format")
        return "odd"
    def __getattr__(self, name):
        asked.append(name)
        raise AttributeError(name)

class Net(torch.nn.Linear):
    def modules(self):
        asked.append("modules")
        return super().modules()
    def parameters(self, recurse=True):
        asked.append("parameters")
        return super().parameters(recurse)

model = Net(3, 2)
kept = [{{Odd("a"): model}}, Odd("b")]
setattr(kept[1], "held", kept)
optimizer = torch.optim.SGD(list(torch.nn.Linear.parameters(model)), 0.1)
asked.clear()
{STEPS}
print(asked)
"""
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert "model.weight" in buffer_names(tmp_path / "a.h5")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT])
def test_what_ends_the_command_ends_its_trainer_too(tmp_path: Path, number: int) -> None:
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "record", "-o", str(tmp_path / "a.h5"), "--", sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )
    assert process.stdout is not None
    trainer = int(process.stdout.readline())
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (130, False)
    with pytest.raises(ProcessLookupError):
        os.kill(trainer, 0)
    assert not list(temporary.iterdir())


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """As below nohup: the terminal goes away, and the training goes on."""
    program = "import os, signal, time; os.kill(os.getppid(), signal.SIGHUP); time.sleep(1)"
    script = f"trap '' HUP; exec {shlex.join(COMMAND)} record -o a.h5 -- \"$@\""
    done = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "never imported torch" in done.stderr


def test_witnesses_of_one_rank_are_told_in_an_order_of_their_own(tmp_path: Path) -> None:
    from bisect_debugger.driver.session import Session

    session = Session(tmp_path / "session.json")
    for process, digest in ((11, "b"), (7, "a")):
        told = {"rank": 0, "tensors": [["x", "float32", digest]]}
        path = tmp_path / f"session.json.witness.0.{process}"
        path.write_text(json.dumps(told), encoding="utf-8")
    assert session.witnesses() == {0: [("x", "float32", "a"), ("x", "float32", "b")]}


def test_a_module_of_the_recorders_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "probes.py").write_text("print('imported')\n")
    (tmp_path / "trainer.py").write_text("import torch\nprint('before')\nimport probes\n")
    done = cli("record", "-o", "a.h5", "--", sys.executable, "trainer.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "before\nimported\n")
    assert "a module of its own that is called probes" in done.stderr


def test_a_window_that_the_run_does_not_reach_is_said(tmp_path: Path) -> None:
    done = cli("record", "-o", "a.h5", "--steps", "50:", "--", *SUPERVISED, cwd=tmp_path)
    assert done.returncode == 2
    assert "took 8 steps, and none of them is in the window" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_the_trainer_writes_comes_through_byte_by_byte(tmp_path: Path) -> None:
    program = """
import sys, torch
sys.stdout.buffer.write(b"\\xff\\x00 no text \\r no line")
sys.stdout.flush()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
sys.stdout.buffer.write(b"\\xfe" * 100_000)
"""
    command = [
        *COMMAND,
        "record",
        "-o",
        str(tmp_path / "a.h5"),
        "--",
        sys.executable,
        "-c",
        program,
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"\xff\x00 no text \r no line" + b"\xfe" * 100_000


@pytest.mark.parametrize(("kilobytes", "code"), [(100, 2), (4500, 0)])
def test_a_full_disk_stops_the_recording_and_not_the_training(
    tmp_path: Path, kilobytes: int, code: int
) -> None:
    """A limit on the size of files: too small to begin, or reached on the way."""
    steps = ("--steps", "3000") if code == 0 else ()
    alone = subprocess.run([*SUPERVISED, *steps], capture_output=True, text=True, check=True)
    command = shlex.join([*COMMAND, "record", "-o", "a.h5", "--", *SUPERVISED, *steps])
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f {kilobytes}; exec {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert done.stdout == alone.stdout
    if code:
        assert "Nothing was recorded" in done.stderr
        return
    assert "recording stopped" in done.stderr
    with open_run(tmp_path / "a.h5") as run:
        assert not run.facts.complete
        assert 0 < run.last_step < 2999
        assert f"up to step {run.last_step}" in done.stderr


def test_a_module_that_a_thread_called_too_early_is_recorded_when_the_training_calls_it(
    tmp_path: Path,
) -> None:
    """No variable leads to it, because a list is searched to its sixty-fourth item only."""
    program = """
import threading, torch
held = [None] * 64 + [torch.nn.Linear(3, 3)]
model = torch.nn.Sequential(torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
thread = threading.Thread(target=lambda: held[64](torch.ones(2, 3)))
thread.start()
thread.join()
for step in range(3):
    model(held[64](torch.full((2, 3), float(step)))).sum().backward()
    optimizer.step()
"""
    done = cli("record", "-o", "a.h5", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Linear.out" in buffer_names(tmp_path / "a.h5")


PASSING = """
import probes.unedited.recording as recording
import torch
from torch import nn

searches, search = [0], recording.search

def counted(*found):
    searches[0] += 1
    return search(*found)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x):
        return nn.Tanh()(nn.Dropout(0.0)(self.linear(x)))

recording.search = counted
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    nn.MSELoss()(model(torch.ones(4, 3)), torch.zeros(4, 1)).backward()
    optimizer.step()
    print(searches[0])
"""


def test_modules_made_in_each_forward_are_looked_for_once(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(PASSING, encoding="utf-8")
    done = cli("record", "-o", "a.h5", "--", sys.executable, "t.py", cwd=tmp_path)
    counts = done.stdout.split()
    assert counts == counts[:1] * 4
    assert {"Tanh.out", "Dropout.out", "MSELoss.out"} <= buffer_names(tmp_path / "a.h5")
