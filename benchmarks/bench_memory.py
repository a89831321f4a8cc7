"""What the recorder holds in memory: a bound, and no growth with the number of steps.

Called as ``python benchmarks/bench_memory.py``.

The growth is what a recorded training takes more over many steps than the same training bare, in
processes of their own, by the resident memory after each tenth of the steps.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.ratios import HEAD, Measured, show
from probes.seeing import MOST_OPEN_EVENTS
from probes.tables import EVENT_ROW_WITH_STATS
from probes.writer import WAITING_PAYLOAD_BYTES

MOST_MEGABYTES = 256.0
MOST_GROWTH = 1.0
"""Bytes a step by which the memory may seem to grow: that of an allocator, not of the recorder."""

STEPS = {"digest": 3000, "full": 300}
FOLD_COPIES = 4
"""What is held of a step's events while it is closed, in times their packed size, at most."""

CHILD = """
import json, os, sys, tempfile
from contextlib import nullcontext
import torch
sys.path.insert(0, sys.argv[1])
import probes
from benchmarks.workloads import WORKLOADS
torch.set_num_threads(1)
torch.manual_seed(0)
model, optimizer, step = WORKLOADS["reinforcement_learning"][0]()
level, steps, out = sys.argv[2], int(sys.argv[3]), sys.argv[4]
recording = nullcontext() if level == "bare" else probes.attach(
    model, optimizer, out=out, level=level
)
resident = []
with recording:
    for number in range(steps):
        step()
        if number % (steps // 10) == steps // 10 - 1:
            with open("/proc/self/statm") as stream:
                resident.append(int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
print(json.dumps(resident))
"""


def resident(level: str, steps: int) -> list[int]:
    """Bytes resident after each tenth of the steps."""
    with tempfile.TemporaryDirectory() as folder:
        child = [sys.executable, "-c", CHILD, sys.path[0], level, str(steps), f"{folder}/run.h5"]
        done = subprocess.run(child, capture_output=True, text=True, check=True)
    return [int(value) for value in json.loads(done.stdout)]


def slope(values: Sequence[int], steps: int) -> float:
    """Bytes a step in the second half, by the Theil-Sen estimator (median of pairwise slopes)."""
    late = values[len(values) // 2 :]
    gap = steps / len(values)
    return statistics.median(
        (late[b] - late[a]) / ((b - a) * gap)
        for a in range(len(late))
        for b in range(a + 1, len(late))
    )


def main() -> None:
    """Measure, beside what is bounded by construction."""
    print("bytes of resident memory that a step adds, beyond those of the bare training")
    print(HEAD)
    for level, steps in STEPS.items():
        bare, recorded = resident("bare", steps), resident(level, steps)
        growth = (slope(recorded, steps) - slope(bare, steps)) / 1024
        beyond = (recorded[-1] - bare[-1]) / 2**20
        detail = f"{beyond:.0f} MB more than bare after {steps} steps"
        show(Measured(f"level {level}, kB a step", [growth], MOST_GROWTH, detail))
    open_step = MOST_OPEN_EVENTS * EVENT_ROW_WITH_STATS.itemsize * FOLD_COPIES / 2**20
    queue = 2 * WAITING_PAYLOAD_BYTES / 2**20
    print("megabytes that the recorder may hold, by construction")
    show(Measured("contents that wait (level full)", [queue], MOST_MEGABYTES))
    show(Measured("events of one open step", [open_step], MOST_MEGABYTES))


if __name__ == "__main__":
    main()
