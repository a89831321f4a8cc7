"""Optimizers as they are handed over, by name."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from bisect_debugger.errors import UsageError, printable

Optimizers = torch.optim.Optimizer | Iterable[torch.optim.Optimizer] | Mapping[str, Any] | None


def named_optimizers(optimizers: object) -> dict[str, torch.optim.Optimizer]:
    """Optimizers by name: ``optimizer`` for one, ``optimizer[i]`` for several, keys of a dict.

    Raises:
        UsageError: something handed over is not an optimizer.
    """
    if optimizers is None:
        return {}
    if isinstance(optimizers, torch.optim.Optimizer):
        return {"optimizer": optimizers}
    if isinstance(optimizers, Mapping):
        named = {str(name): optimizer for name, optimizer in optimizers.items()}
    else:
        found = list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]
        named = {
            "optimizer" if len(found) == 1 else f"optimizer[{index}]": optimizer
            for index, optimizer in enumerate(found)
        }
    for name, optimizer in named.items():
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise UsageError(
                f"attach was given a {type(optimizer).__name__} as {printable(name)!r}, which is "
                "not a torch.optim.Optimizer; hand over the optimizer that steps the model."
            )
    return named
