"""What the recorder holds in memory: a bound, and no growth with the number of steps.

Called as ``python benchmarks/bench_memory.py``.

The growth is what a recorded training takes more over many steps than the same training bare, in
processes of their own, by the most memory within each of ten slices of its steps. The memory is
what is resident less what the C library's allocator holds free, which goes up and down by ten
megabytes with the places of what is in use. The slices begin when all that is bounded has been full
several times: at level ``full`` the digests of contents that are in the file, which is why its
trainer has many small ones. What is known of them grows and is dropped by turns of some 250 steps;
a slice is longer, so its most knows no phase. What is left is what HDF5 keeps of its own index of
chunks, within 32 MiB.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.ratios import HEAD, Measured, show
from bisect_debugger.format.schema import PAYLOAD_VALUES
from probes.payload import KNOWN_CONTENTS
from probes.seeing import MOST_OPEN_EVENTS
from probes.tables import EVENT_ROW_WITH_STATS

MOST_MEGABYTES = 256.0
MOST_GROWTH = 1.0
"""Bytes a step by which the memory may seem to grow: that of an allocator, not of the recorder."""

SLICES = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained at a level.

    Attributes:
        level: of the recording.
        workload: name of a builder of `benchmarks.workloads`.
        before: steps before the first slice.
        steps: steps of the slices together.
    """

    level: str
    workload: str
    before: int
    steps: int


PLANS = (
    Plan("digest", "reinforcement_learning", 2000, 4000),
    Plan("full", "many_contents", 2000, 4000),
)

FOLD_COPIES = 4
"""What is held of a step's events while it is closed, in times their packed size, at most."""

CHILD = """
import ctypes, json, os, sys, tempfile
from contextlib import nullcontext
import torch
sys.path.insert(0, sys.argv[1])
import probes
from benchmarks import workloads
torch.set_num_threads(1)
torch.manual_seed(0)
level, workload, out = sys.argv[2:5]
before, steps, slices = map(int, sys.argv[5:])
model, optimizer, step = getattr(workloads, workload)()
recording = nullcontext() if level == "bare" else probes.attach(
    model, optimizer, out=out, level=level
)
class MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )]
allocator = ctypes.CDLL("libc.so.6")
allocator.mallinfo2.restype = MallInfo
def in_use():
    with open("/proc/self/statm") as stream:
        pages = int(stream.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") - allocator.mallinfo2().fordblks
used = []
with recording:
    for _ in range(before):
        step()
    for _ in range(slices):
        most = 0
        for number in range(steps // slices):
            step()
            if number % 10 == 9:
                most = max(most, in_use())
        used.append(most)
print(json.dumps(used))
"""


def most_in_use(plan: Plan, level: str) -> tuple[list[int], int]:
    """Most bytes in use within each slice, and how many contents the file holds."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.h5"
        numbers = map(str, (plan.before, plan.steps, SLICES))
        child = [sys.executable, "-c", CHILD, sys.path[0], level, plan.workload, str(out), *numbers]
        done = subprocess.run(child, capture_output=True, text=True, check=True)
        contents = 0
        if out.exists():
            with h5py.File(out, "r") as file:
                contents = len(file["payload/index/start"])
    return [int(value) for value in json.loads(done.stdout)], contents


def slope(values: Sequence[int], steps: int) -> float:
    """Bytes a step over the slices, by the Theil-Sen estimator (median of pairwise slopes)."""
    gap = steps / len(values)
    return statistics.median(
        (values[b] - values[a]) / ((b - a) * gap)
        for a in range(len(values))
        for b in range(a + 1, len(values))
    )


def growth(plan: Plan) -> Measured:
    """Growth of one level beyond that of the bare training."""
    (bare, _), (recorded, contents) = most_in_use(plan, "bare"), most_in_use(plan, plan.level)
    kilobytes = (slope(recorded, plan.steps) - slope(bare, plan.steps)) / 1024
    beyond = (recorded[-1] - bare[-1]) / 2**20
    detail = f"{beyond:.0f} MB more than bare after {plan.before + plan.steps} steps"
    if plan.level == "full":
        full_at = round(2 * KNOWN_CONTENTS * (plan.before + plan.steps) / contents)
        detail += f"; {contents} contents, all that is known full at step {full_at}"
    return Measured(f"level {plan.level}, kB a step", [kilobytes], MOST_GROWTH, detail)


def waiting_bytes() -> int:
    """Two chunks of each element type, one open and the one before, and HDF5's copy of one."""
    sizes = [
        column.chunk_rows * np.dtype(column.dtype).itemsize for column in PAYLOAD_VALUES.values()
    ]
    return 3 * sum(sizes)


def main() -> None:
    """Measure, beside what is bounded by construction."""
    print("bytes of memory in use that a step adds, beyond those of the bare training")
    print(HEAD)
    for plan in PLANS:
        show(growth(plan))
    open_step = MOST_OPEN_EVENTS * EVENT_ROW_WITH_STATS.itemsize * FOLD_COPIES / 2**20
    queue = waiting_bytes() / 2**20
    print("megabytes that the recorder may hold, by construction")
    show(Measured("contents that wait (level full)", [queue], MOST_MEGABYTES))
    show(Measured("events of one open step", [open_step], MOST_MEGABYTES))


if __name__ == "__main__":
    main()
