"""What probes cost: a step with them against a step without, on three workloads.

Called as ``python benchmarks/bench_overhead.py [--level L] [--rounds N] [WORKLOAD ...]``.

Stretches with and without probes take turns in one process, so that whatever else the machine
does meets both. Printed is the ratio at the lower quartile of each, which such disturbances
move least.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import probes
from benchmarks.workloads import WORKLOADS
from bisect_debugger.runs import open_run
from probes.selection import LEVELS


def stretch(step: Callable[[], None], steps: int) -> list[float]:
    """Seconds of each of some steps."""
    taken = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        taken.append(time.perf_counter() - began)
    return taken


def measure(name: str, level: str, rounds: int) -> str:
    """One workload: a line with its figures."""
    torch.manual_seed(0)
    build, steps = WORKLOADS[name]
    model, optimizer, step = build()
    stretch(step, 3)
    bare, probed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            bare += stretch(step, steps)
            path = Path(folder) / f"{number}.h5"
            with probes.attach(model, optimizer, out=path, level=level):
                # The first steps of a recording meet every buffer for the first time.
                stretch(step, 2)
                probed += stretch(step, steps)
        with open_run(path) as run:
            events = len(run.events(run.step_count - 1).buffer)
            kilobytes = path.stat().st_size / run.step_count / 1000
    without, with_probes = (statistics.quantiles(taken)[0] for taken in (bare, probed))
    return (
        f"{name:24s} {1000 * without:9.2f} ms {1000 * with_probes:9.2f} ms "
        f"{with_probes / without:6.2f} {events:8d} {kilobytes:9.1f}"
    )


def main() -> None:
    """Measure the workloads that were named, all by default."""
    parser = argparse.ArgumentParser(description="What probes cost.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", default=list(WORKLOADS))
    parser.add_argument("--level", choices=LEVELS, default="digest")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    torch.set_num_threads(options.threads)
    print(f"level {options.level}, {options.threads} thread(s), torch {torch.__version__}")
    print(f"{'workload':24s} {'bare':>12s} {'probed':>12s} {'ratio':>6s} {'events':>8s} kB/step")
    for name in options.workloads:
        print(measure(name, options.level, options.rounds), flush=True)


if __name__ == "__main__":
    main()
