"""Trainers of `tests/e2e/trainers`, and what a recorded run of them holds."""

import sys
from pathlib import Path

import h5py

from bisect_debugger.runs import open_run

TRAINERS = Path(__file__).resolve().parent / "trainers"
SUPERVISED = (sys.executable, str(TRAINERS / "supervised.py"))


def buffer_names(path: Path) -> set[str]:
    """Names of all buffers of a run."""
    with open_run(path) as run:
        return {buffer.name for buffer in run.buffers}


def location_of(path: Path, name: str) -> str:
    """``file:line`` of a buffer's component, without the folder."""
    with open_run(path) as run:
        (found,) = {buffer.location for buffer in run.buffers if buffer.name == name}
    return Path(found).name


def line_of(text: str, script: str = "supervised.py") -> str:
    """``file:line`` of the only line of a trainer that holds a text."""
    lines = (TRAINERS / script).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return f"{script}:{number}"


def steps_of(path: Path) -> list[int]:
    """Numbers of the steps in a run, init included."""
    with h5py.File(path) as file:
        return [int(step) for step in file["steps/step"][:]]


def parameters_line(output: str) -> str:
    """The hash that a trainer prints at its end."""
    (line,) = [line for line in output.splitlines() if line.startswith("parameters ")]
    return line
