"""The commands as a user types them, in real processes."""

import subprocess
import sys
from typing import Any

COMMAND = (sys.executable, "-m", "bisect_debugger.cli")


def cli(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command with nothing on stdin; ``options`` are those of `subprocess.run`."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        **options,
    )


def in_bash(script: str, *arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a bash script in which ``bd`` is the command line and ``$1`` the first argument."""
    prelude = f'bd() {{ "{sys.executable}" -m bisect_debugger.cli "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", prelude + script, "bash", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
