"""A command that the driver runs, seen from the command's side."""

import os
import sys

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
