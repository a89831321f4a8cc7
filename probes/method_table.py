"""Replacing a method of a class that is written in C, and putting it back.

Such a class refuses to have an attribute set, though its methods stand in an ordinary dict that
the interpreter looks names up in. Where that dict cannot be reached beyond doubt nothing is done.
"""

import ctypes
import gc
import sys
from typing import Any


def method_table(kind: type) -> dict[str, Any] | None:
    """The dict that holds a class's methods; None where it cannot be reached or changed."""
    threads_run_freely = not getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.implementation.name != "cpython" or threads_run_freely:
        return None
    seen_through = kind.__dict__
    held = gc.get_referents(seen_through)
    if len(held) != 1 or type(held[0]) is not dict or len(held[0]) != len(seen_through):
        return None
    table: dict[str, Any] = held[0]
    return table if all(table.get(name) is seen_through[name] for name in table) else None


def put_method(kind: type, table: dict[str, Any], name: str, method: object) -> None:
    """Put a method into a class's table, and let the interpreter forget what it remembered."""
    table[name] = method
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
