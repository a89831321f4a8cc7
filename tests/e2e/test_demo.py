"""`demo` in real processes: the real trainer, the real files, a real pseudo-terminal."""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from bisect_debugger.runs import open_run
from tests.e2e.command_line import COMMAND, cli

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
ALTERNATE_SCREEN = b"\x1b[?1049h"


def shows_the_demo(done: "subprocess.CompletedProcess[str]", folder: str) -> None:
    assert done.returncode == 0, done.stderr
    assert "agent.outcome_head (unseeded-init" in done.stdout
    assert "agent.iqn_head.tau_sampler (forward-kernel" in done.stdout
    assert done.stdout.endswith(f"\nNote: {folder}/note.md\n")
    progress = done.stderr.splitlines()
    assert [line.partition(": train.py")[0] for line in progress[:2]] == [
        "demo: run 1 of 2",
        "demo: run 2 of 2",
    ]
    assert progress[-1].endswith("the demo worked, exit code 0")


def test_it_ends_by_itself_and_overwrites_nothing(tmp_path: Path) -> None:
    earlier = tmp_path / "d e" / "1"
    earlier.mkdir(parents=True)
    done = cli("demo", "--dir", "d e", cwd=tmp_path, env=ONE_THREAD)
    shows_the_demo(done, "d e/2")
    assert list(earlier.iterdir()) == []
    made = tmp_path / "d e" / "2"
    assert sorted(path.name for path in made.iterdir()) == ["a.h5", "b.h5", "note.md"]
    assert "## Groups by step" in (made / "note.md").read_text(encoding="utf-8")
    # Each file names the command line of its own process.
    for name in ("a.h5", "b.h5"):
        with open_run(made / name) as run:
            assert f'"--out", "d e/2/{name}"' in run.facts.environment["argv"]


def test_it_works_from_where_a_wheel_puts_it(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for package in ("bisect_debugger", "probes"):
        shutil.copytree(ROOT / package, site / package)
    shutil.copytree(ROOT / "sample_runs", site / "bisect_debugger" / "_sample_runs")
    done = cli("demo", "--no-tui", cwd=tmp_path, env={**ONE_THREAD, "PYTHONPATH": str(site)})
    shows_the_demo(done, ".demo/1")
    with open_run(tmp_path / ".demo" / "1" / "a.h5") as run:
        trainer = "site/bisect_debugger/_sample_runs/two_origins/train.py"
        assert trainer in run.facts.environment["argv"]


def test_a_trainer_that_fails_is_named_with_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch \\x1b[31mtoday')\n")
    done = cli("demo", "--dir", "d", cwd=tmp_path, env={**ONE_THREAD, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 4
    assert done.stdout == ""
    assert "bisect-debugger: The trainer ended with exit code 1:" in done.stderr
    assert "ImportError: no torch \\x1b[31mtoday" in done.stderr


@pytest.mark.parametrize("blocked", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_one_sentence(blocked: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = cli("demo", "--dir", blocked, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"bisect-debugger: {blocked} cannot be used (")
    assert done.stderr.count("\n") == 1


def test_on_a_terminal_it_opens_the_ui(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, "demo"],
        cwd=tmp_path,
        env={**ONE_THREAD, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = _read(ours, ALTERNATE_SCREEN)
    assert b"Note: .demo/1/note.md" in shown.partition(ALTERNATE_SCREEN)[0]
    shown = _read(ours, b"Verdict")
    os.write(ours, b"q")
    rest = _read(ours)
    os.close(ours)
    assert process.wait() == 0
    assert b"the demo worked, exit code 0" in rest


def _read(terminal: int, until: bytes | None = None) -> bytes:
    """What the terminal shows up to these bytes, or to its end."""
    shown = b""
    while until is None or until not in shown:
        assert select.select([terminal], [], [], 120)[0], f"nothing more after {shown[-2000:]!r}"
        try:
            part = os.read(terminal, 65536)
        except OSError:
            # Linux reports the end of a pseudo-terminal as an error.
            part = b""
        if not part:
            assert until is None, f"ended with {shown[-2000:]!r}"
            break
        shown += part
    return shown
