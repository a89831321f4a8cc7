"""Notices each optimizer as it is built."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.compiler import is_compiling


def when_built(call: Callable[[torch.optim.Optimizer], object]) -> None:
    """Call with every optimizer, once its parameters are in."""
    kind: Any = torch.optim.Optimizer
    original = kind.__init__

    @functools.wraps(original)
    def __init__(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(optimizer, *args, **kwargs)
        if not is_compiling():
            call(optimizer)

    kind.__init__ = __init__
