"""A command that the driver runs, seen from the command's side."""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from bisect_debugger.driver.launch import run_command

MANY_BYTES = 1 << 20
"""More than a pipe holds: whoever writes them waits until somebody reads."""


def test_a_listener_that_fails_does_not_hold_the_command_up() -> None:
    heard: list[int] = []

    def output(piece: bytes) -> None:
        heard.append(len(piece))
        raise BrokenPipeError("whoever read this is gone")

    program = f"print('x' * {MANY_BYTES}); print('the end')"
    ended = run_command([sys.executable, "-c", program], os.environ, output, lambda: None)
    assert (ended.code, ended.last_lines[-1]) == (0, "the end")
    assert len(heard) == 1


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *caught: None)
with open(sys.argv[1], "w") as stream:
    stream.write(str(os.getpid()))
time.sleep(300)
"""


def test_what_a_shell_started_ends_with_it_when_time_is_up(tmp_path: Path) -> None:
    """The shell is gone at the first signal, and the trainer below it takes no notice."""
    number = tmp_path / "pid"
    command = shlex.join([sys.executable, "-c", STUBBORN, str(number)])

    def tick() -> None:
        if number.exists() and number.read_text(encoding="utf-8"):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_command(["bash", "-c", f"{command}; echo done"], os.environ, lambda piece: None, tick)
    trainer = Path("/proc", number.read_text(encoding="utf-8"), "stat")
    for _ in range(100):
        # One that nobody has collected yet is a zombie.
        if not trainer.exists() or trainer.read_text(encoding="utf-8").split()[2] == "Z":
            return
        time.sleep(0.1)
    os.kill(int(number.read_text(encoding="utf-8")), signal.SIGKILL)
    pytest.fail("the trainer goes on")
