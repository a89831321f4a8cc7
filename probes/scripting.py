"""Letting TorchScript take a stand-in for the function that it stands in for.

TorchScript knows torch's functions by their identity, and compiles what it does not know from its
source. Its table of them is given the stand-in too, for as long as it stands there.
"""

import sys
from typing import Any


def pass_for(stand_in: object, original: object) -> None:
    """Give TorchScript the stand-in, where it knows the original."""
    table = _table()
    if id(original) in table:
        table[id(stand_in)] = table[id(original)]


def pass_no_more(stand_in: object) -> None:
    """Take the stand-in away; what stands at its place in memory next is something else."""
    _table().pop(id(stand_in), None)


def _table() -> dict[int, str]:
    # Not before torch is there, and torch itself fills it.
    builtins: Any = sys.modules.get("torch.jit._builtins")
    table = getattr(builtins, "_builtin_table", None)
    return table if type(table) is dict else {}
