"""What searching costs: two runs held against each other, by length and by where they part.

Called as ``python benchmarks/bench_reading.py [--large] [--rounds N] [--folder F]``.

Seconds are those beyond the start of an interpreter (`python -c pass`, in turns with the rest),
`own` leaves out importing numpy and h5py as well. The runs are written by
the recorder's writer into a temporary folder that is removed in the end.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.long_runs import sketch, write_long_run
from benchmarks.processes import Cost, interleaved, python
from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.twins import open_pair

EVENTS = len(sketch())
VALUES = 65_536
"""Elements of each content where contents are kept: 256 kB."""

Parts = dict[str, dict[str, Any]]
"""Name of a run -> how `write_long_run` is to write it."""

NUMPY_LOOP = """
import sys, h5py, numpy as np
a, b = (h5py.File(name, "r")["payload/values/float32"] for name in sys.argv[1:3])
count = most = 0
for lo in range(0, min(len(a), len(b)), 1 << 22):
    x, y = a[lo : lo + (1 << 22)], b[lo : lo + (1 << 22)]
    count += int((x != y).sum())
    most = max(most, float(abs(x - y).max()))
print(count, most)
"""


def compare(a: Path, b: Path, *options: str) -> list[str]:
    """The command as a user types it, without the shell."""
    return python("-m", "bisect_debugger.cli", "compare", str(a), str(b), *options)


def rows_read(a: Path, b: Path) -> str:
    """Rows that a comparison reads of the longer-read run: steps, events."""
    with open_pair(a, b) as pair:
        diagnose_pair(pair)
        steps, events = (
            max(run.rows_read.get(table, 0) for run in (pair.a, pair.b))
            for table in ("steps", "events")
        )
    return f"{steps:7d} {events:9d}"


def print_costs(
    title: str, commands: dict[str, list[str]], rounds: int, notes: dict[str, str]
) -> None:
    """Measure commands in turns with an empty interpreter, and print a line for each."""
    fixed = {"pass": python("-c", "pass"), "import": python("-c", "import numpy, h5py")}
    costs = interleaved(fixed | commands, rounds)
    empty, imports = costs["pass"], costs["import"]
    print(f"\n{title}")
    print(
        f"  {'beyond the start of an interpreter':34s} {'seconds':>8s} {'cpu':>7s} {'own':>7s} "
        f"{'x pass':>7s} {'MB':>6s}  rows: steps, events"
    )
    print(_line("(python -c pass, as a whole)", empty, Cost(0, 0, 0, 0), empty))
    print(_line("(import numpy, h5py)", imports, empty, empty))
    for name in commands:
        line = _line(name, costs[name], empty, empty, costs[name].seconds - imports.seconds)
        print(f"{line}  {notes.get(name, '')}".rstrip(), flush=True)


def _line(name: str, cost: Cost, start: Cost, empty: Cost, own: float | None = None) -> str:
    without = f"{max(own, 0):7.3f}" if own is not None else " " * 7
    return (
        f"  {name:34s} {cost.seconds - start.seconds:8.3f} {cost.cpu - start.cpu:7.3f} {without} "
        f"{cost.seconds / empty.seconds:7.1f} {cost.megabytes:6.0f}"
    )


@contextmanager
def written(folder: Path, runs: Parts, events: int) -> Iterator[dict[str, Path]]:
    """Write runs side by side; they are removed afterwards."""
    paths = {name: folder / f"{name}.h5" for name in runs}
    began = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(write_long_run, paths[name], events, **runs[name]) for name in runs]
        for job in jobs:
            job.result()
    # A recording is never overwritten, and equal twins are equal to the last bit of the file.
    first = next(iter(paths.values()))
    paths["equal"] = Path(shutil.copyfile(first, folder / "equal.h5"))
    size = first.stat().st_size
    print(
        f"\n(wrote {len(runs)} runs of {size / 1e6:.0f} MB, {size / events:.1f} bytes an event, in "
        f"{time.perf_counter() - began:.0f} s)"
    )
    try:
        yield paths
    finally:
        for path in paths.values():
            path.unlink(missing_ok=True)


def searches(folder: Path, events: int, rounds: int, parts: Parts) -> None:
    """Runs at level digest that part at several places."""
    with written(folder, {"a": {}, **parts}, events) as paths:
        commands = {name: compare(paths["a"], paths[name]) for name in (*parts, "equal")}
        notes = {name: rows_read(paths["a"], paths[name]) for name in commands}
        title = f"compare, level digest, {events:,} events in {-(-events // EVENTS) + 1:,} steps"
        print_costs(title, commands, rounds, notes)


def contents(folder: Path, gigabytes: float, rounds: int) -> None:
    """Runs at level full: to the first difference with its numbers, and every content."""
    steps = max(int(gigabytes * 1e9 / (4 * VALUES * EVENTS)), 4)
    parts: Parts = {
        "a": {"elements": VALUES},
        "half": {"elements": VALUES, "planted": steps // 2},
        "all": {"elements": VALUES, "planted": 0},
    }
    with written(folder, parts, steps * EVENTS) as paths:
        a = paths["a"]
        title = f"compare, level full, two runs of {a.stat().st_size / 1e9:.2f} GB"
        first = {"to the first difference": compare(a, paths["half"])}
        print_costs(title, first, rounds, {"to the first difference": rows_read(a, paths["half"])})
        for name in ("equal", "half", "all"):
            peers = {
                "compare --all": compare(a, paths[name], "--all"),
                "a NumPy loop over h5py": python("-c", NUMPY_LOOP, str(a), str(paths[name])),
            }
            tool = shutil.which("h5diff")
            if tool:
                values = "/payload/values/float32"
                peers["h5diff -q"] = [tool, "-q", str(a), str(paths[name]), values]
            words = {"equal": "none", "half": "from the middle on", "all": "from step 0 on"}
            print_costs(f"every content, differing {words[name]}", peers, max(rounds // 2, 1), {})
            if not tool:
                print("  h5diff: not installed")


def main() -> None:
    """Measure, and leave nothing behind."""
    parser = argparse.ArgumentParser(description="What searching costs.")
    parser.add_argument(
        "--large", action="store_true", help="ten million events too, and 2 GB whatever the disk"
    )
    parser.add_argument("--small", action="store_true", help="100,000 events and 0.1 GB only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where to write; a temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        events = 100_000 if options.small else 1_000_000
        steps = events // EVENTS
        searches(
            folder,
            events,
            options.rounds,
            {
                "parts in step 1": {"planted": 1},
                "parts in the middle": {"planted": steps // 2},
                "parts in the last step": {"planted": steps - 1},
                "one output from the middle on": {"planted": steps // 2, "spreads": False},
            },
        )
        if options.large:
            middle: Parts = {"parts in the middle": {"planted": 5 * steps}}
            searches(folder, 10 * events, options.rounds, middle)
        roomy = shutil.disk_usage(folder).free > 16e9
        size = 0.1 if options.small else 2.0 if options.large or roomy else 0.5
        contents(folder, size, options.rounds)


if __name__ == "__main__":
    main()
