"""Starting the trainer beside, bare or recorded, and reading what it told."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRAINER = ROOT / "tests" / "safety" / "trainer.py"


def environment(**more: str) -> dict[str, str]:
    """Of a trainer: one thread, and this checkout."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **more}


def start(*command: str, **options: str | Path | float) -> "subprocess.Popen[str]":
    """Start the trainer, below a command where one is given.

    Args:
        command: what stands before ``python trainer.py``.
        options: of the trainer.
    """
    return subprocess.Popen(
        [*command, sys.executable, str(TRAINER), *(f"{k}={v}" for k, v in options.items())],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Of its own group: a kill of the whole group leaves nobody behind.
        process_group=0,
    )


@dataclass(frozen=True, slots=True)
class Told:
    """What a trainer said on its side channel: its last whole step, and when each was done."""

    last: int
    moments: tuple[float, ...]


def told(path: Path) -> Told:
    """What stands in a side channel."""
    lines = path.read_text().splitlines() if path.exists() else []
    moments = tuple(float(line.split()[1]) for line in lines)
    return Told(len(lines) - 1, moments)


def recorder(*arguments: str) -> tuple[str, ...]:
    """The `record` command in front of a trainer's."""
    return (sys.executable, "-m", "bisect_debugger.cli", "record", *arguments, "--")
