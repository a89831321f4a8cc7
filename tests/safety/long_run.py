"""Records many small steps and prints, slice by slice, what they cost; to be run as a process.

Its arguments: ``writer`` or ``trainer``, the number of steps, the number of slices, the file.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from probes.writer import Header, RunWriter

FLUSH_SECONDS = 0.25


def writer_steps(path: Path) -> tuple[RunWriter, Callable[[int], None]]:
    """A writer without a trainer: three events a step, and a new buffer every ten thousand."""
    writer = RunWriter(path, Header(), flush_seconds=FLUSH_SECONDS)
    layout = Layout("int64", ())

    def step(number: int) -> None:
        digest = content_digest(number.to_bytes(8, "little"), layout)
        for name in ("a", "b", f"c{number // 10_000}"):
            buffer = writer.buffer(Group.USER, name, "x", "value")
            writer.event(buffer, layout, digest)
        writer.close_step(number)

    return writer, step


def trainer_steps(path: Path) -> tuple[RunWriter, Callable[[int], None]]:
    """A real trainer, as small as one can be."""
    import torch

    import probes

    torch.set_num_threads(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    recording = probes.attach(model, optimizer, out=path, flush_seconds=FLUSH_SECONDS)
    x = torch.ones(1, 1)

    def step(_: int) -> None:
        model(x).sum().backward()
        optimizer.step()

    return recording.recorder.writer, step


def memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    """Run and report."""
    kind, steps, slices, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    writer, step = (writer_steps if kind == "writer" else trainer_steps)(path)
    report: dict[str, list[float]] = {"seconds": [], "memory": [], "handles": [], "flushes": []}
    flush, flushes = writer._on_disk.flush, [0]

    def counted() -> None:
        flushes[0] += 1
        flush()

    writer._on_disk.flush = counted  # type: ignore[method-assign]
    began = time.monotonic()
    for part in range(slices):
        times = []
        numbers = np.arange(part * steps // slices, (part + 1) * steps // slices)
        for block in np.array_split(numbers, 20):
            before = time.thread_time()
            for number in block.tolist():
                step(number)
            times.append((time.thread_time() - before) / len(block))
        # The median of the blocks: what else the machine does disturbs some of them.
        report["seconds"].append(float(np.median(times)))
        report["memory"].append(memory())
        report["handles"].append(len(list(Path("/proc/self/fd").iterdir())))
        report["flushes"].append(flushes[0])
    elapsed = time.monotonic() - began
    writer.finish(END_COMPLETE)
    print(json.dumps({**report, "elapsed": elapsed, "flush_seconds": FLUSH_SECONDS}))


if __name__ == "__main__":
    main()
