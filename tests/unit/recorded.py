"""Records a few steps of a small trainer in this process, and reads them back as plain values."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import probes
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Buffer, RunFacts, open_run
from probes.attach import Models
from probes.content import parts


@dataclass(frozen=True, slots=True)
class Seen:
    """One event."""

    step: int
    buffer: Buffer
    digest: bytes
    flags: EventFlag
    occurrence: int

    @property
    def name(self) -> str:
        return self.buffer.name


@dataclass(frozen=True, slots=True)
class Recorded:
    """What stands in a run file."""

    facts: RunFacts
    events: tuple[Seen, ...]
    buffers: tuple[Buffer, ...]
    edges: frozenset[tuple[str, int, str, int, bool]]
    steps: tuple[int, ...]

    def of(self, group: Group, step: int | None = None) -> list[Seen]:
        """Events of a group, in execution order."""
        return [
            seen
            for seen in self.events
            if seen.buffer.group is group and (step is None or seen.step == step)
        ]

    def names(self, group: Group, step: int | None = None) -> list[str]:
        """Names of the events of a group, in execution order."""
        return [seen.name for seen in self.of(group, step)]

    def digests(self, name: str, step: int | None = None) -> list[bytes]:
        """Digests of one buffer, in execution order."""
        return [
            seen.digest
            for seen in self.events
            if seen.name == name and (step is None or seen.step == step)
        ]

    def flags(self, name: str) -> list[EventFlag]:
        """Flags of one buffer's events, in execution order."""
        return [seen.flags for seen in self.events if seen.name == name]

    def buffer(self, name: str) -> Buffer:
        """The buffer of this name."""
        return next(buffer for buffer in self.buffers if buffer.name == name)


def read(path: Path) -> Recorded:
    """Everything that the tests ask of a run."""
    with open_run(path) as run:
        names = [buffer.name for buffer in run.buffers]
        return Recorded(
            facts=run.facts,
            events=tuple(_events(run)),
            buffers=run.buffers,
            edges=frozenset(
                (names[consumer], at, names[producer], of, bool(flows))
                for _, consumer, at, producer, of, flows in run.edges().tolist()
            ),
            steps=tuple(run.step_number(row) for row in range(run.step_count)),
        )


def _events(run: Any) -> Iterator[Seen]:
    for row in range(run.step_count):
        block = run.events(row)
        for index in range(len(block.buffer)):
            yield Seen(
                step=run.step_number(row),
                buffer=run.buffers[int(block.buffer[index])],
                digest=block.digest[index].astype(">u8").tobytes(),
                flags=EventFlag(int(block.flags[index])),
                occurrence=int(block.occurrence[index]),
            )


def record(
    path: Path,
    model: Models,
    optimizer: Any,
    train: Callable[[Any], None],
    **options: Any,
) -> Recorded:
    """Attach, train, close and read back.

    Args:
        path: file to write.
        model: what `probes.attach` takes.
        optimizer: what `probes.attach` takes.
        train: does the training; gets the recording.
        options: more arguments of `probes.attach`.
    """
    with probes.attach(model, optimizer, out=path, **options) as recording:
        train(recording)
    return read(path)


def digest_of(value: object) -> bytes:
    """The digest that a value has to be recorded with."""
    (part,) = parts(value)
    return content_digest(np.ascontiguousarray(part.content), part.layout)


def backward(loss: torch.Tensor) -> None:
    """`loss.backward()`, which carries no annotations."""
    loss.backward()  # type: ignore[no-untyped-call]
