"""Processes that write runs, to be killed, starved of room and forked by the tests beside."""

import os
import random
import resource
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from probes.writer import Header, RunWriter

# A process that has torch loaded and forks one writer after the other: a writer is a real
# process of its own, and is there in a moment.
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.e2e.writing"])


def events_of(step: int) -> Iterator[tuple[str, Layout, npt.NDArray[np.uint8]]]:
    """Name, layout and content of a step's events; the step alone decides."""
    dice = np.random.default_rng(step + 1)
    for number in range(dice.integers(1, 40)):
        element_type = ("float32", "bfloat16", "int64", "uint8")[number % 4]
        layout = Layout(element_type, (int(dice.integers(0, 300)),))
        raw = np.frombuffer(dice.bytes(layout.nbytes), dtype=np.uint8)
        # A new buffer now and then, so that the compressed tables grow too.
        yield f"buffer {number} of age {step // 5}", layout, raw
    if step > 0 and step % 16 == 15:
        # Its whole chunks are written while it is recorded, and not with the step.
        element_type = ("float32", "bfloat16")[step // 16 % 2]
        large = Layout(element_type, (2 * schema.PAYLOAD_CHUNK_ELEMENTS + step,))
        yield "large buffer", large, np.frombuffer(dice.bytes(large.nbytes), dtype=np.uint8)


def write_step(writer: RunWriter, step: int) -> None:
    """Record a step and close it."""
    for name, layout, raw in events_of(step):
        buffer = writer.buffer(Group.USER, name, "writing", "value", location="writing.py:1")
        writer.event(buffer, layout, content_digest(raw, layout), content=raw)
    writer.close_step(step)


def write_until_killed(path: Path, flush_seconds: float, report: Connection) -> None:
    """Write steps without end; each closed step is reported."""
    writer = RunWriter(path, Header(level="full"), flush_seconds=flush_seconds)
    step = schema.INIT_STEP
    while True:
        write_step(writer, step)
        report.send(step)
        step += 1


def write_within(path: Path, limit: int, steps: int, report: Connection) -> None:
    """Write under a limit of the file's size, and go on after the writer has given up."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    writer = RunWriter(path, Header(level="full"), flush_seconds=0.0)
    for step in range(-1, steps):
        write_step(writer, step)
    writer.finish(schema.END_COMPLETE)
    report.send((writer.failed, path.stat().st_size))


def write_and_lose_the_file(path: Path, lost_at: int, steps: int, report: Connection) -> None:
    """Write until the descriptor refuses every write, then go on."""
    writer = RunWriter(path, Header(level="full"), flush_seconds=0.0)
    for step in range(-1, steps):
        if step == lost_at:
            os.dup2(os.open(path, os.O_RDONLY), writer._on_disk._descriptor)
        write_step(writer, step)
    writer.finish(schema.END_COMPLETE)
    report.send((writer.failed, path.stat().st_size))


def start(target: object, *arguments: object) -> tuple[BaseProcess, Connection]:
    """Start a writing process; what it reports comes through the connection."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=target, args=(*arguments, theirs), daemon=True)  # type: ignore[arg-type]
    process.start()
    theirs.close()
    return process, ours


def kill_at_random(path: Path, flush_seconds: float, dice: random.Random) -> list[int]:
    """Start a writer, kill it at a random moment with SIGKILL; returns the steps it closed."""
    process, reports = start(write_until_killed, path, flush_seconds)
    closed = [reports.recv() for _ in range(dice.randrange(1, 60))]
    # A moment within a step or a flush, where it will.
    for _ in range(dice.randrange(20_000)):
        pass
    process.kill()
    process.join()
    try:
        while True:
            closed.append(reports.recv())
    except (EOFError, OSError):
        return closed
