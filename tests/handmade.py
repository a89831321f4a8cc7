"""Run files written event by event, for tests that need more than `tests.runs` gives a name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE, EventFlag
from probes.writer import Header, RunWriter
from tests.runs import Array, values

Key = tuple[Group, str]


@dataclass(frozen=True)
class Made:
    """One event; what is left out follows from the name, and the content from the seed."""

    group: Group
    name: str
    seed: int
    component: str = ""
    role: str = ""
    subject: str = ""
    flags: EventFlag = EventFlag.NONE
    shape: tuple[int, ...] = (3, 4)

    @property
    def content(self) -> Array:
        return values(self.seed, self.shape)


@dataclass(frozen=True)
class MadeEdge:
    """One edge between places."""

    consumer: Key
    producer: Key
    step: int = 0
    consumer_occurrence: int = 0
    producer_occurrence: int = 0
    gradient: bool = True


def out(name: str, seed: int, **fields: object) -> Made:
    """The output of a module."""
    return Made(Group.FORWARD, f"{name}.out", seed, name, "out", **fields)  # type: ignore[arg-type]


def into(name: str, seed: int, slot: int = 0) -> Made:
    """An input of a module."""
    return Made(Group.FORWARD, f"{name}.in[{slot}]", seed, name, f"in[{slot}]")


def batch(seed: int, root: str = "net", slot: int = 0) -> Made:
    """The batch that enters a root module."""
    return Made(Group.DATA, f"data.{root}.in[{slot}]", seed, "data", f"in[{slot}]")


def weight(name: str, seed: int, flags: EventFlag = EventFlag.NONE) -> Made:
    """A parameter."""
    return Made(Group.PARAM, f"{name}.w", seed, name, "w", "", flags)


def stream(boundary: str, seed: int, name: str = "python") -> Made:
    """The state of a random stream at a boundary."""
    return Made(Group.RNG, f"rng.{name}@{boundary}", seed, f"rng.{name}", boundary, f"rng.{name}")


def loss(seed: int) -> Made:
    """The loss."""
    return Made(Group.LOSS, "loss", seed, "loss", "loss", shape=(5,))


def write_made(
    path: Path,
    steps: Sequence[Sequence[Made]],
    *,
    edges: Iterable[MadeEdge] = (),
    header: Header | None = None,
    open_last: bool = False,
    end: str = END_COMPLETE,
    reason: str = "",
    seeding: Sequence[tuple[str, str, str]] = (),
) -> Path:
    """Write a run whose first step is init.

    Args:
        path: file to write.
        steps: events of each step.
        edges: recorded dataflow.
        header: level, rank, selection.
        open_last: no optimizer closed the last step.
        end: state at the end.
        reason: why it is incomplete.
        seeding: calls of init as (call, argument, location).
    """
    writer = RunWriter(path, header or Header(level="full"))
    for call in seeding:
        writer.seeding(*call, -1)
    for step, events in enumerate(steps, -1):
        for made in events:
            component = made.component or made.name.rpartition(".")[0]
            layout = Layout("float32", made.shape)
            raw = np.ascontiguousarray(made.content).reshape(-1).view(np.uint8)
            buffer = writer.buffer(
                made.group, made.name, component, made.role or made.name, made.subject
            )
            digest = content_digest(raw, layout)
            writer.event(buffer, layout, digest, int(made.flags), content=raw)
        writer.close_step(step, closed=not (open_last and step == len(steps) - 2))
    known = {(made.group, made.name) for events in steps for made in events}
    for edge in edges:
        assert {edge.consumer, edge.producer} <= known
        consumer = writer.buffer(*edge.consumer, "", "")
        producer = writer.buffer(*edge.producer, "", "")
        writer.edge(
            edge.step,
            consumer,
            edge.consumer_occurrence,
            producer,
            edge.producer_occurrence,
            differentiable=edge.gradient,
        )
    writer.finish(end, reason)
    return path
