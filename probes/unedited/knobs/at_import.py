"""Knobs that take effect when numpy, torch or a library was imported."""

import functools
import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from probes.unedited.knobs import SEED, in_turn, one_at_a_time

_OF_THIS_PROCESS = os.urandom(3).hex()
"""From the system's entropy, before a knob replaces it."""


def when_imported(names: frozenset[str], later: Callable[[str, Callable[[], None]], None]) -> None:
    """Turn the knobs of these names as soon as what they turn is there.

    Args:
        names: of the knobs.
        later: calls back after a module was loaded.
    """
    for name, module, turn in _KNOBS:
        if name in names:
            later(module, turn)


def _seed_numpy() -> None:
    # numpy itself does not have the name yet: it is just being loaded.
    sys.modules["numpy.random"].seed(SEED)


def _seed_torch() -> None:
    """Torch's own generator starts from entropy in each process."""
    import torch

    torch.manual_seed(SEED)


def _no_entropy_in_torch() -> None:
    """`torch.seed` and `Generator.seed` take the next number of a fixed sequence."""
    import torch

    from probes.method_table import method_table, put_method

    _seed_torch()
    numbers = itertools.count(SEED)
    library: Any = torch

    def seed() -> int:
        number = next(numbers)
        torch.manual_seed(number)
        return number

    def generator_seed(self: torch.Generator) -> int:
        number = next(numbers)
        self.manual_seed(number)
        return number

    library.seed = library.random.seed = seed
    table = method_table(torch.Generator)
    if table is not None:
        put_method(torch.Generator, table, "seed", generator_seed)


def _own_temporary_names() -> None:
    """Names of temporary files are in a fixed order, and no two processes make the same.

    What an earlier run left behind would be met again under a fixed name, and all further names
    would be others.
    """
    kind: Any = sys.modules["tempfile"]._RandomNameSequence
    original = kind.__next__

    @functools.wraps(original)
    def __next__(self: Any) -> str:  # noqa: N807
        return f"{original(self)}{os.getpid():x}{_OF_THIS_PROCESS}"

    kind.__next__ = __next__


def _one_thread() -> None:
    import torch

    library: Any = torch
    torch.set_num_threads(1)
    # What the program asks for would undo the knob.
    library.set_num_threads = lambda number: None


def _deterministic() -> None:
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


def _fill_torch() -> None:
    """What is made without a content holds zeros."""
    import torch

    for owner, names in (
        (torch, ("empty", "empty_like", "empty_strided", "empty_permuted")),
        (torch.Tensor, ("new_empty", "new_empty_strided")),
    ):
        for name in names:
            setattr(owner, name, _zeroed(getattr(owner, name)))


def _fill_numpy() -> None:
    import numpy as np

    for name in ("empty", "empty_like"):
        original = getattr(np, name)
        setattr(np, name, _filled(original))


def _zeroed(original: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        if not tensor.is_meta:
            with torch.no_grad():
                tensor.zero_()
        return tensor

    return made


def _filled(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        array = original(*args, **kwargs)
        if array.dtype.kind in "biufc":
            array.fill(0)
        return array

    return made


def _loaders_in_process() -> None:
    """Every `DataLoader` works in the process that asks it."""
    from torch.utils.data import dataloader

    kind: Any = dataloader.DataLoader
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        args = (*args[:5], 0, *args[6:]) if len(args) > 5 else args
        if len(args) <= 5:
            kwargs["num_workers"] = 0
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            kwargs.pop(name, None)
        original(self, *args, **kwargs)

    kind.__init__ = __init__


def _seed_simulators() -> None:
    """An environment whose first reset has no seed gets one."""
    from gymnasium.core import Env

    from probes.unedited.libraries.methods import hook_before

    numbers = itertools.count(SEED)
    seeded: set[int] = set()

    def before(env: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if id(env) not in seeded and kwargs.get("seed", args[0] if args else None) is None:
            number = next(numbers)
            kwargs["seed"] = number
            for space in (env.action_space, env.observation_space):
                space.seed(number)
        seeded.add(id(env))

    hook_before(Env, "reset", before)


_KNOBS: tuple[tuple[str, str, Callable[[], None]], ...] = (
    ("seed-all", "numpy.random", _seed_numpy),
    ("entropy", "numpy.random", _seed_numpy),
    ("entropy", "tempfile", _own_temporary_names),
    ("seed-all", "torch", _seed_torch),
    ("entropy", "torch", _no_entropy_in_torch),
    ("threads", "torch", _one_thread),
    ("deterministic", "torch", _deterministic),
    ("fill-memory", "numpy", _fill_numpy),
    ("fill-memory", "torch", _fill_torch),
    ("switch", "asyncio.selector_events", one_at_a_time.event_loops_hand_on),
    ("turns", "concurrent.futures._base", in_turn.completed_in_order),
    ("turns", "concurrent.futures.thread", in_turn.pools_of_one),
    ("turns", "multiprocessing.pool", in_turn.unordered_in_order),
    ("workers", "torch.utils.data.dataloader", _loaders_in_process),
    ("simulator-seed", "gymnasium.core", _seed_simulators),
)
"""(knob, module that must be there, what is done)."""
