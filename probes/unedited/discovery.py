"""Which modules a program has, and what it calls them.

The program's variables are searched from the outermost running function inwards, breadth first
through attributes, dicts and lists: a network that `main` reaches as ``agent.q_network`` is called
so. What no variable leads to is called by its class. Nothing of the program is called or changed:
only types are asked, and only dictionaries that instances really have are read.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch

from probes.names import modules_below
from probes.unedited.frames import variables

MOST_OBJECTS = 20_000
"""Objects that one search looks at; it is made a few times in a run and takes milliseconds."""

MOST_ITEMS = 64
"""Items of one list or dict that are looked at."""

DEEPEST = 5
"""Attributes between a variable and what it leads to."""

_NOT_THE_PROGRAM = frozenset(
    ("torch", "probes", "bisect_debugger", "runpy", "importlib", "_frozen_importlib", "threading")
)
_LEAVES = (str, bytes, int, float, complex, type, FunctionType, ModuleType, torch.dtype)


@dataclass(slots=True)
class Reached:
    """What a search came upon.

    Attributes:
        modules: paths and modules that no module above was on the way to.
        tensors: paths and tensors outside modules.
        optimizers: paths and optimizers.
    """

    modules: list[tuple[str, torch.nn.Module]] = field(default_factory=list)
    tensors: list[tuple[str, torch.Tensor]] = field(default_factory=list)
    optimizers: list[tuple[str, torch.optim.Optimizer]] = field(default_factory=list)

    def roots_of(self, wanted: Iterable[torch.nn.Module]) -> list[tuple[str, torch.nn.Module]]:
        """The outermost modules among those reached that hold a wanted one, in search order."""
        looked_for = {id(module) for module in wanted}
        holding = [
            (path, module)
            for path, module in self.modules
            if any(id(inner) in looked_for for _, inner in modules_below(module))
        ]
        return outermost(holding)


def holds_parameters(module: torch.nn.Module) -> bool:
    """It has parameters, or a module below it does; its own methods are not called."""
    return any(
        parameter is not None
        for _, each in modules_below(module)
        for parameter in each._parameters.values()
    )


def outermost(modules: list[tuple[str, torch.nn.Module]]) -> list[tuple[str, torch.nn.Module]]:
    """Those that stand in no other of them, each once."""
    inner = {
        id(below)
        for _, module in modules
        for _, below in modules_below(module)
        if below is not module
    }
    found: dict[int, tuple[str, torch.nn.Module]] = {}
    for path, module in modules:
        if id(module) not in inner:
            found.setdefault(id(module), (path, module))
    return list(found.values())


def search(frame: FrameType | None) -> Reached:
    """Look through the program's variables.

    Args:
        frame: the innermost frame of the thread that is looked at.
    """
    reached = Reached()
    seen: set[int] = set()
    budget = MOST_OBJECTS
    for starts in _starting_points(frame):
        waiting: deque[tuple[str, Any, int]] = deque((name, value, 0) for name, value in starts)
        while waiting and budget:
            path, value, depth = waiting.popleft()
            kind = type(value)
            if issubclass(kind, _LEAVES) or id(value) in seen:
                continue
            budget -= 1
            seen.add(id(value))
            if issubclass(kind, torch.nn.Module):
                reached.modules.append((path, value))
            elif issubclass(kind, torch.Tensor):
                reached.tensors.append((path, value))
            elif issubclass(kind, torch.optim.Optimizer):
                reached.optimizers.append((path, value))
            elif depth < DEEPEST:
                waiting.extend((path + step, item, depth + 1) for step, item in _inside(value))
    return reached


def _starting_points(frame: FrameType | None) -> Iterator[Iterable[tuple[str, object]]]:
    """Variables of the program: its globals, then its running functions from outside inwards."""
    main = sys.modules.get("__main__")
    if main is not None:
        yield _named(list(vars(main).items()))
    frames = []
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _NOT_THE_PROGRAM:
            frames.append(frame)
        frame = frame.f_back
    for each in reversed(frames):
        yield _named(list(variables(each)))


def _named(items: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Variables with the names that a person would use; ``self`` is called by its class."""
    return [
        (type(value).__name__ if name == "self" else name, value)
        for name, value in items
        if not name.startswith("__")
    ]


def _inside(value: Any) -> Iterator[tuple[str, object]]:
    kind = type(value)
    try:
        if issubclass(kind, dict):
            for key, item in list(islice(dict.items(value), MOST_ITEMS)):
                # Neither the key's class nor its text is asked of the key: it may have its own.
                if issubclass(type(key), str):
                    yield f".{str.__str__(key)}", item
                elif issubclass(type(key), int):
                    yield f".{int.__repr__(key)}", item
            return
        if kind in (list, tuple):
            for index, item in enumerate(list(islice(value, MOST_ITEMS))):
                yield f"[{index}]", item
            return
        attributes = object.__getattribute__(value, "__dict__")
        if type(attributes) is dict:
            for name, item in list(islice(attributes.items(), MOST_ITEMS)):
                if issubclass(type(name), str):
                    yield f".{str.__str__(name)}", item
    except (AttributeError, RuntimeError):
        # It has no dict of its own, or another thread is just changing it.
        return
