"""Local variables of running functions, read without touching them.

`frame.f_locals` of Python 3.11 and 3.12 copies all locals into a dict that the frame keeps: a
tensor that the program deletes lives on in there, and a dict that the program itself got from
`locals()` changes under its hands. From 3.13 on (PEP 667) it is a view that does neither. Before,
the values are read where the interpreter keeps them; the layout is that of CPython's
`_PyInterpreterFrame`, and it is tried on a known function before it is trusted.
"""

import ctypes
import sys
from collections.abc import Iterator
from types import CellType, CodeType, FrameType
from typing import Any

_OPTIMIZED = 0x1
"""CO_OPTIMIZED: the code keeps its locals in an array and not in a dict."""

_FRAME_POINTER = 24
"""Offset of `PyFrameObject.f_frame` in CPython 3.11 and 3.12."""

_LOCALS_ARRAY = 72
"""Offset of `_PyInterpreterFrame.localsplus` in CPython 3.11 and 3.12."""


def variables(frame: FrameType) -> Iterator[tuple[str, object]]:
    """Names and values of a frame's own variables, in the order in which they are declared."""
    if not frame.f_code.co_flags & _OPTIMIZED:
        # The code of a module or a class body: its dict is the variables themselves.
        yield from list(frame.f_locals.items())
    elif _READS_THROUGH:
        yield from list(frame.f_locals.items())
    elif _LAYOUT_HOLDS:
        yield from _from_array(frame)


def _from_array(frame: FrameType) -> Iterator[tuple[str, object]]:
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME_POINTER).value
    if inner is None:
        return
    for index, name in enumerate(_array_names(frame.f_code)):
        address = inner + _LOCALS_ARRAY + 8 * index
        if ctypes.c_void_p.from_address(address).value is None:
            continue
        value: Any = ctypes.py_object.from_address(address).value
        if type(value) is CellType and (
            name in frame.f_code.co_cellvars or name in frame.f_code.co_freevars
        ):
            try:
                value = value.cell_contents
            except ValueError:
                continue
        yield name, value


def _array_names(code: CodeType) -> tuple[str, ...]:
    cells = (name for name in code.co_cellvars if name not in code.co_varnames)
    return (*code.co_varnames, *cells, *code.co_freevars)


def _layout_holds() -> bool:
    """The layout tells the locals of a function that has arguments, cells and free variables."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in ((3, 11), (3, 12)):
        return False
    free = object()

    def known(argument: object, shared: object) -> bool:
        local, unset = object(), object()
        del unset

        def uses() -> object:
            return shared

        expected = {"argument": argument, "shared": shared, "local": local, "free": free}
        seen = dict(_from_array(sys._getframe()))
        same = all(seen.get(name) is value for name, value in expected.items())
        return same and "unset" not in seen and uses() is shared

    return known(object(), object())


_READS_THROUGH = sys.version_info >= (3, 13)
_LAYOUT_HOLDS = not _READS_THROUGH and _layout_holds()
