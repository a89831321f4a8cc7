"""How large a run grows: bytes of the file per event at level digest.

Called as ``python benchmarks/bench_file_size.py``.

Two recordings of one trainer differ in their steps alone, so that what they differ in bytes is what
the steps took; what a run costs however short it is stands apart.
"""

import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import probes
from benchmarks.ratios import HEAD, Measured, show
from benchmarks.workloads import WORKLOADS
from bisect_debugger.runs import open_run

REQUIRED_BYTES = 40.0
STEPS = {"reinforcement_learning": 400, "language_model": 24, "image_classifier": 40}
"""Steps of the longer recording: ten thousand events and more, many chunks of each column."""

SHORT = 4
"""One part in so many of these is the shorter recording."""


def recorded(name: str, steps: int, folder: Path) -> tuple[int, int]:
    """Size in bytes and number of events of a recording."""
    torch.manual_seed(0)
    # The number of events and their sizes are those of the real step, whatever the batch holds.
    build, *_ = WORKLOADS[name]
    model, optimizer, step = build()
    path = folder / f"{name}-{steps}.h5"
    with probes.attach(model, optimizer, out=path):
        for _ in range(steps):
            step()
    with open_run(path) as run:
        return path.stat().st_size, run.event_count


def main() -> None:
    """Measure all workloads."""
    torch.set_num_threads(1)
    print("bytes of the file per event, level digest")
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in STEPS.items():
            short, long = (recorded(name, count, Path(folder)) for count in (steps // SHORT, steps))
            each = (long[0] - short[0]) / (long[1] - short[1])
            fixed = (short[0] - each * short[1]) / 1000
            show(Measured(name, [each], REQUIRED_BYTES, f"{fixed:.0f} kB beside the events"))


if __name__ == "__main__":
    main()
