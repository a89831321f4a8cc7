"""Keeping torch's compiler away from the frames of the probes.

Where a compiled function meets something that it cannot compile, it calls it plainly, and compiles
whatever Python functions are called from there: a module's hook, or what stands in for
`torch.autograd.backward`. Compiling those costs seconds, may fail, and makes more graphs than the
bare program has. So every function of ours is marked as one to be run as it is. That says nothing
of hooks that are compiled as a part of the trainer's own functions; they return at once.
"""

import functools
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

_PACKAGES = ("probes", "bisect_debugger.format")

_done: set[CodeType] = set()


def keep_from_compiler(entries: Iterable[Any] = ()) -> None:
    """Mark every function of ours that is imported by now.

    Args:
        entries: functions below which nothing of the trainer runs; what they call, of numpy or
            HDF5, is not compiled either.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGES):
            for value in list(vars(module).values()):
                if getattr(value, "__module__", "") == name:
                    for code in _codes_of(value):
                        _mark(code, below=False)
    for entry in entries:
        _mark(entry.__code__, below=True)


def _codes_of(value: object) -> Iterator[CodeType]:
    if isinstance(value, FunctionType):
        yield from _nested(value.__code__)
        wrapped = getattr(value, "__wrapped__", None)
        yield from () if wrapped is None else _codes_of(wrapped)
    elif isinstance(value, property):
        yield from _codes_of(value.fget)
    elif isinstance(value, (classmethod, staticmethod)):
        yield from _codes_of(value.__func__)
    elif isinstance(value, type):
        for inner in list(vars(value).values()):
            yield from _codes_of(inner)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _mark(code: CodeType, *, below: bool) -> None:
    mark = _marker()
    if mark is not None and (below or code not in _done):
        _done.add(code)
        mark(code, below)


@functools.cache
def _marker() -> Any:
    """A function of (code, whether what it calls is meant too); None where torch has none."""
    # In C, and there whether or not the compiler itself is imported.
    frames: Any = sys.modules.get("torch._C._dynamo.eval_frame")
    if hasattr(frames, "skip_code"):
        return lambda code, below: frames.skip_code(code)
    if not hasattr(frames, "set_code_exec_strategy"):
        return None
    action, strategy = frames._FrameAction, frames._FrameExecStrategy
    this_one = strategy(action.SKIP, action.DEFAULT)
    and_below = strategy(action.SKIP, action.SKIP)
    return lambda code, below: frames.set_code_exec_strategy(code, and_below if below else this_one)
