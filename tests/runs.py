"""Small run files, written with the real writer, for tests that need runs and no trainer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE, EventFlag
from probes.writer import Header, RunWriter

Array = npt.NDArray[np.float32]
Event = tuple[Group, str, Array]
"""(group, name, values); the component is the name without its last part."""


def write_run(
    path: Path,
    steps: Sequence[Sequence[Event]],
    *,
    level: str = "full",
    first_step: int = -1,
    end: str = END_COMPLETE,
    reason: str = "",
    environment: Mapping[str, str] | None = None,
    uncovered: Sequence[str] = (),
) -> Path:
    """Write a run whose steps hold these events.

    Args:
        path: file to write.
        steps: events of each step, the first one is ``first_step``.
        level: ``coarse`` to ``full``.
        first_step: number of the first step.
        end: state at the end; empty leaves the run as a killed process would.
        reason: why it is incomplete.
        environment: recorded facts.
        uncovered: what the recording says that it did not see.
    """
    header = Header(level=level, environment=dict(environment or {"torch": "2.13.0"}))
    writer = RunWriter(path, header, flush_seconds=60.0)
    for what in uncovered:
        writer.uncovered(what)
    for step, events in enumerate(steps, first_step):
        for group, name, values in events:
            component, _, role = name.rpartition(".")
            layout = Layout(values.dtype.name, tuple(values.shape))
            content = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
            buffer = writer.buffer(group, name, component or name, role, location="train.py:7")
            writer.event(
                buffer,
                layout,
                content_digest(content, layout),
                int(EventFlag.INIT) if step == -1 else 0,
                content=content if level == "full" else None,
            )
        writer.close_step(step)
    writer.finish(end or "killed", reason)
    return path


def values(seed: int = 0, shape: tuple[int, ...] = (3, 4)) -> Array:
    """Normal values that depend on the seed alone."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def nudged(array: Array, at: int = 5, by: float = 1e-3) -> Array:
    """A copy that differs in one element."""
    copy = array.copy()
    copy.reshape(-1)[at] += np.float32(by)
    return copy


def plain_steps(count: int = 3, **replaced: Array) -> list[list[Event]]:
    """Init and ``count`` steps of one module; ``replaced`` maps ``step_name`` to other values."""
    steps: list[list[Event]] = [[(Group.PARAM, "net.head.weight", values(1))]]
    for step in range(count):
        steps.append(
            [
                (Group.DATA, "data.net.in[0]", values(10 + step)),
                (Group.FORWARD, "net.head.in[0]", values(10 + step)),
                (Group.FORWARD, "net.head.out", values(20 + step)),
                (Group.LOSS, "loss", values(30 + step, ())),
                (Group.PARAM, "net.head.weight", values(40 + step)),
            ]
        )
    for key, array in replaced.items():
        step_text, _, name = key.partition("_")
        row = steps[int(step_text.removeprefix("s")) + 1]
        place = next(index for index, event in enumerate(row) if event[1].endswith(name))
        row[place] = (row[place][0], row[place][1], array)
    return steps
