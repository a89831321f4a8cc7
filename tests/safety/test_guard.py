"""A library that crashes, or never returns, ends in a sentence; every other end stays as it is."""

import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.runs import plain_steps, write_run
from tests.safety.processes import environment

HEAD = "import ctypes, os, re, signal, sys, time\nfrom bisect_debugger import guard\n"
TAIL = (
    "\ntry: sys.exit(guard.guarded(work))\n"
    "except guard.ReaderLost as lost: print(lost, end=''); sys.exit(3)\n"
)


def ended(body: str) -> "subprocess.CompletedProcess[str]":
    """How guarded work ends."""
    program = f"{HEAD}def work():\n    {body}\n    return 0{TAIL}"
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.parametrize("body", ["os.abort()", "ctypes.string_at(0)"])
def test_a_crash_is_a_sentence(body: str) -> None:
    done = ended(body)
    assert (done.returncode, done.stdout) == (3, "the HDF5 library crashed over it")


def test_a_library_that_never_returns_is_given_up() -> None:
    # The search holds the interpreter all the while, as a call into HDF5 does.
    program = (
        f"{HEAD}guard.PATIENCE_SECONDS = 3.0\n"
        f"def work():\n    re.match('(a|a)*$', 'a' * 64 + 'c')\n    return 0{TAIL}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout == "the HDF5 library did not come to an end over it"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("print('shown'); return 1", 1),
        ("sys.exit(130)", 130),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("time.sleep(0.2); return 7", 7),
    ],
)
def test_another_end_is_passed_on(body: str, code: int) -> None:
    done = ended(body)
    assert done.returncode == code
    assert done.stderr == ""


def test_a_signal_to_the_parent_reaches_the_work_and_nobody_is_left() -> None:
    body = "print(os.getpid(), flush=True); time.sleep(60)"
    program = f"{HEAD}def work():\n    {body}\n    return 0{TAIL}"
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(30) == -signal.SIGTERM
    parent.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_work_whose_parent_was_killed_ends_too() -> None:
    body = "print(os.getpid(), flush=True); time.sleep(60)"
    program = f"{HEAD}def work():\n    {body}\n    return 0{TAIL}"
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    # The pipe ends when nobody writes to it any more.
    assert parent.stdout.read() == ""
    parent.stdout.close()
    _wait_until_gone(child)


def _wait_until_gone(pid: int) -> None:
    for _ in range(300):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state in "ZX":
            return
        time.sleep(0.1)
    raise AssertionError(f"{pid} lives on")


def test_a_terminal_is_left_as_it_was() -> None:
    program = (
        f"{HEAD}import tty\ndef work():\n    tty.setraw(0)\n    os.abort()\n    return 0{TAIL}"
    )
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert termios.tcgetattr(theirs) == before
    assert "\x1b[?1049l" in done.stderr
    os.close(ours)
    os.close(theirs)


def test_commands_that_read_are_guarded(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.h5", plain_steps(2))
    program = (
        "import os, sys\n"
        "from bisect_debugger import cli\n"
        "from bisect_debugger.commands import info\n"
        "info.run = lambda arguments: os.abort()\n"
        "sys.argv[1:] = ['info', sys.argv[1]]\nsys.exit(cli.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(run)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == (
        f"bisect-debugger: {run}: the file is damaged (the HDF5 library crashed over it); copy it "
        "again or record again.\n"
    )
