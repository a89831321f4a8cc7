"""Reading the operators of a step, which a second pass wrote beside its run.

The file is lines of JSON from another process, and is trusted as little as a run: sizes are
bounded, every value's type is checked, and what does not fit ends the reading with one sentence.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

VERSION = 1
MOST_BYTES = 1 << 30
MOST_LINE_BYTES = 1 << 20

T = TypeVar("T")


class DamagedOperators(ValueError):
    """The file cannot be read; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor that an operator was given.

    Attributes:
        memory: number of the memory that it lies in, -1 where it has none of its own.
        digest: hex digest of its content, empty where that was not read.
    """

    memory: int
    digest: str


@dataclass(frozen=True, slots=True)
class Returned:
    """A tensor that an operator returned or wrote to; see `Given`.

    ``written`` says that the memory is new or was written to by the operator, and is no view.
    """

    memory: int
    digest: str
    written: bool


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator as it was called.

    Attributes:
        name: as ``aten::index_add_``.
        overload: of its schema.
        line: ``file:line`` of the program; in a backward pass that of the forward that made the
            node, unless the program's own backward called it.
        made: in a backward pass, the forward's line.
        module: path of the module whose forward was running, or had been.
        node: name of the autograd node, empty in a forward pass.
        event: events of the step that were recorded before.
        thread: number of the thread.
        arguments: what it was given beside tensors.
        given: tensors that it was given.
        returned: tensors that it returned or wrote to.
        generator: digest of the state of the generator that it draws from; None where it draws
            from none.
    """

    name: str
    overload: str
    line: str
    made: str
    module: str
    node: str
    event: int
    thread: int
    arguments: str
    given: tuple[Given, ...]
    returned: tuple[Returned, ...]
    generator: str | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a source file, as they stood when the run was made.

    Attributes:
        first: number of the first one.
        lines: the lines.
    """

    first: int
    lines: tuple[str, ...]


@dataclass(slots=True)
class OperatorStream:
    """The operators of one step in the order in which they were called.

    Attributes:
        step: the step.
        refused: why none were seen, or empty.
        dropped: operators before the first one that is here.
        operators: the operators.
        sources: lines around those that the operators name.
    """

    step: int
    refused: str
    dropped: int
    operators: list[Operator] = field(default_factory=list)
    sources: dict[str, Excerpt] = field(default_factory=dict)


def operators_path(run: Path) -> Path:
    """The file of a run's operators."""
    return run.with_name(f"{run.stem}.operators.jsonl")


def read_operators(run: Path) -> dict[int, OperatorStream]:
    """The operators of a run by step; none where it has none.

    Raises:
        DamagedOperators: the file is there and cannot be read.
    """
    path = operators_path(run)
    if not path.is_file():
        return {}
    streams: dict[int, OperatorStream] = {}
    stream: OperatorStream | None = None
    for number, line in _lines(path):
        try:
            stream = _take(json.loads(line), streams, stream)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DamagedOperators(f"line {number} is damaged") from error
    return streams


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DamagedOperators(f"it is larger than {MOST_BYTES >> 20} MiB")
        with path.open("rb") as stream:
            number = 0
            while line := stream.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    raise DamagedOperators(f"line {number} is too long")
                yield number, line
    except OSError as error:
        raise DamagedOperators(str(error.strerror)) from error


def _take(
    entry: dict[str, Any], streams: dict[int, OperatorStream], stream: OperatorStream | None
) -> OperatorStream:
    kind = entry.get("kind")
    if kind == "step":
        if _of(int, entry["version"]) != VERSION:
            raise ValueError("another version")
        step = _of(int, entry["step"])
        stream = OperatorStream(step, _of(str, entry["refused"]), _of(int, entry["dropped"]))
        streams[step] = stream
        return stream
    if stream is None:
        raise ValueError("no step before it")
    if kind == "source":
        lines = tuple(_of(str, line) for line in _of(list, entry["text"]))
        stream.sources[_of(str, entry["line"])] = Excerpt(_of(int, entry["first"]), lines)
    else:
        stream.operators.append(_operator(entry))
    return stream


def _operator(entry: dict[str, Any]) -> Operator:
    generator = entry.get("generator")
    return Operator(
        name=_of(str, entry["op"]),
        overload=_of(str, entry["overload"]),
        line=_of(str, entry["line"]),
        made=_of(str, entry["made"]),
        module=_of(str, entry["module"]),
        node=_of(str, entry["node"]),
        event=_of(int, entry["event"]),
        thread=_of(int, entry["thread"]),
        arguments=_of(str, entry["args"]),
        given=tuple(Given(_of(int, m), _of(str, d)) for m, d in entry["in"]),
        returned=tuple(
            Returned(_of(int, m), _of(str, d), _of(bool, w)) for m, d, w in entry["out"]
        ),
        generator=None if generator is None else _of(str, generator),
    )


def _of(kind: type[T], value: object) -> T:
    # A bool is an int to Python and none here.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"not a {kind.__name__}")
    return value
