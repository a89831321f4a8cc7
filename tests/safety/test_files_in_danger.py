"""What happens to the file while it is recorded into: the trainer goes on to the same bits.

The run says why it is incomplete, and the trainer's stderr gets one warning.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.runs import open_run
from tests.safety.processes import environment
from tests.verification import verify

PROGRAM = """
import os, resource, shutil, sys
from pathlib import Path
import torch
from tests.safety.trainer import final

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 512), torch.nn.Tanh(), torch.nn.Linear(512, 2))
optimizer = torch.optim.Adam(model.parameters())
out, danger = sys.argv[1], sys.argv[2]
recording = None
if out:
    import probes
    recording = probes.attach(model, optimizer, out=out, level="full", flush_seconds=0.0,
                              fsync=danger == "slow disk")
folder = Path(out or ".").parent
kept = []
for step in range(12):
    if step == 4:
        {danger}
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
if recording is not None:
    recording.close()
print(final(model))
"""

DANGERS = {
    "no room": "resource.setrlimit(resource.RLIMIT_FSIZE, (1_200_000, 1_200_000))",
    "deleted": "os.unlink(out) if out else None",
    "folder removed": "shutil.rmtree(folder) if out else None",
    "folder read-only": "folder.chmod(0o500) if out else None",
    "closed by the program": (
        "os.closerange(3, 256); "
        "kept += [open(f'{sys.argv[3]}/{n}', 'w+') for n in range(40)]; "
        "[file.write('the program\\'s own') for file in kept]"
    ),
    "slow disk": (
        "slow = os.fsync; import time; "
        "os.fsync = lambda descriptor: (time.sleep(0.02), slow(descriptor)) and None"
    ),
}


def trained(folder: Path, danger: str, out: str) -> "subprocess.CompletedProcess[str]":
    """Run the trainer; with an empty ``out`` it is bare."""
    beside = folder / f"beside{'-recorded' if out else ''}"
    beside.mkdir()
    program = PROGRAM.replace("{danger}", DANGERS[danger])
    return subprocess.run(
        [sys.executable, "-c", program, out, danger, str(beside)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )


REASONS = {
    "no room": "File too large",
    "deleted": "the file that is recorded into was deleted",
    "folder removed": "the file that is recorded into was deleted",
    "closed by the program": "the program closed the file that is recorded into",
}


@pytest.mark.parametrize("danger", DANGERS)
def test_the_training_goes_on_to_the_same_bits(tmp_path: Path, danger: str) -> None:
    (tmp_path / "runs").mkdir()
    out = tmp_path / "runs" / "a.h5"
    bare, recorded = trained(tmp_path, danger, ""), trained(tmp_path, danger, str(out))
    assert recorded.stdout == bare.stdout
    assert len(recorded.stdout) == 65
    assert bare.stderr == ""
    reason = REASONS.get(danger)
    if reason is None:
        # Such a file is written to the end.
        assert recorded.stderr == ""
        with open_run(out) as run:
            assert run.facts.complete
            assert run.last_step == 11
            assert verify(run) > 0
        return
    assert recorded.stderr.count("\n") == 1
    assert f"recording stopped ({reason})" in recorded.stderr
    if danger in ("deleted", "folder removed"):
        assert not out.exists()
        return
    with open_run(out) as run:
        assert run.facts.end_reason == f"recording stopped: {reason}"
        assert 0 <= run.last_step < 11
        assert verify(run) > 0


def test_no_byte_goes_into_a_file_of_the_programs_own(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    trained(tmp_path, "closed by the program", str(tmp_path / "runs" / "a.h5"))
    own = sorted((tmp_path / "beside-recorded").iterdir())
    assert len(own) == 40
    assert {file.read_text() for file in own} == {"the program's own"}


DAEMON = """
import os, sys
from pathlib import Path
import torch, probes

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with probes.attach(model, optimizer, out=sys.argv[1], flush_seconds=1000):
    for step in range(6):
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        if step == 2:
            child = os.fork()
            if child == 0:
                os.setsid()
                os.closerange(3, 256)
                own = [open(f"{sys.argv[2]}/{number}", "w+") for number in range(40)]
                for file in own:
                    file.write("the daemon's own")
                sys.exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_child_that_becomes_a_daemon_keeps_its_files(tmp_path: Path) -> None:
    out = tmp_path / "a.h5"
    own = tmp_path / "own"
    own.mkdir()
    subprocess.run(
        [sys.executable, "-c", DAEMON, str(out), str(own)],
        env=environment(),
        check=True,
        timeout=200,
    )
    assert {file.read_text() for file in own.iterdir()} == {"the daemon's own"}
    assert len(list(own.iterdir())) == 40
    with open_run(out) as run:
        assert (run.facts.complete, run.last_step) == (True, 5)
        verify(run)


def test_a_small_disk_of_its_own(tmp_path: Path) -> None:
    """As the limit of a file's size, on a file system that is full; where one can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    unshare = shutil.which("unshare")
    wrapper = [unshare, "--user", "--map-root-user", "--mount"] if unshare else []
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k", "none", str(disk)]
    can = (
        bool(wrapper)
        and not subprocess.run([*wrapper, *mount], capture_output=True, check=False).returncode
    )
    if not can:
        pytest.skip("no file system can be mounted here; the limit of a file's size stands for it")
    out, saved = disk / "a.h5", tmp_path / "saved.h5"
    program = PROGRAM.replace("{danger}", "pass").replace(
        "print(final(model))", "print(final(model)); shutil.copy(out, sys.argv[3])"
    )
    script = f'{" ".join(mount)} && exec "$@"'
    done = subprocess.run(
        [
            *wrapper,
            "sh",
            "-c",
            script,
            "sh",
            sys.executable,
            "-c",
            program,
            str(out),
            "",
            str(saved),
        ],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert "recording stopped (No space left on device)" in done.stderr
    assert done.stderr.count("\n") == 1
    bare = tmp_path / "bare"
    bare.mkdir()
    assert done.stdout == trained(bare, "folder read-only", "").stdout
    with open_run(saved) as run:
        assert run.facts.end_reason == "recording stopped: No space left on device"
        assert verify(run) > 0


def test_a_folder_that_cannot_be_written_to_is_said_before_training(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    program = (
        "import os, sys\n"
        "import importlib, torch, probes\n"
        "importlib.import_module('probes.attach')\n"
        "from bisect_debugger.errors import UsageError\n"
        # Root writes everywhere.
        "os.geteuid() or os.setresuid(65534, 65534, 65534)\n"
        "try: sys.modules['probes.attach'].attach(torch.nn.Linear(1, 1), out=sys.argv[1])\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder / "a.h5")],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be created" in done.stdout, done.stderr
    assert list(folder.iterdir()) == []
    assert folder.stat().st_mode & 0o777 == 0o500
