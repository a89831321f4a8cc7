"""Digests of what an operator was given and returned, and numbers for the memory it lies in."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from xxhash import xxh3_128_hexdigest

from bisect_debugger.format.groups import Group
from probes.content import parts
from probes.memory import Unsupported, unseen
from probes.slots import DeviceSlot, Slot

_PLAIN = (bool, int, float, complex, str, type(None))
_NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_MOST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Signature:
    """What an operator's schema tells.

    Attributes:
        name: as ``aten::add_``.
        overload: as ``Tensor``, or empty.
        arguments: names in order, each with whether the operator writes to it, and whether it
            reads what is in there.
        draws: it draws from a generator.
        unread: what it returns is not read: unwritten memory, or still being written to.
    """

    name: str
    overload: str
    arguments: tuple[tuple[str, bool, bool], ...]
    draws: bool
    unread: bool

    @classmethod
    def of(cls, function: Any) -> "Signature":
        """The signature of an operator's overload."""
        schema = function._schema
        name = str(schema.name)
        arguments = []
        for argument in schema.arguments:
            written = argument.alias_info is not None and argument.alias_info.is_write
            read = not (written and (argument.kwarg_only or name in _OVERWRITES))
            arguments.append((str(argument.name), bool(written), read))
        draws = torch.Tag.nondeterministic_seeded in function.tags
        unread = name in _MAKES_MEMORY or name.startswith(_COLLECTIVE)
        return cls(name, str(schema.overload_name), tuple(arguments), draws, unread)


_MAKES_MEMORY = frozenset(
    f"aten::{name}"
    for name in (
        "empty",
        "empty_like",
        "empty_strided",
        "empty_permuted",
        "new_empty",
        "new_empty_strided",
        "resize_",
    )
)
_OVERWRITES = frozenset(
    f"aten::{name}_"
    for name in (
        "bernoulli",
        "cauchy",
        "copy",
        "exponential",
        "fill",
        "geometric",
        "log_normal",
        "normal",
        "random",
        "resize",
        "set",
        "uniform",
        "zero",
    )
)
"""They write all of their first argument and read nothing of it; the schema leaves that open."""

_COLLECTIVE = ("c10d::", "_c10d_functional::", "_c10d_functional_autograd::")


class MemoryNumbers:
    """Numbers for the memory that tensors lie in, for one step and all threads."""

    def __init__(self) -> None:
        """Know no memory yet."""
        self._memory: dict[int, tuple[StorageWeakRef, int]] = {}
        self._lock = threading.Lock()

    def of(self, tensor: torch.Tensor) -> int:
        """The number of a tensor's memory; -1 where it has none of its own."""
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return -1
        key = storage._cdata
        with self._lock:
            known = self._memory.get(key)
            if known is None:
                # Held weakly the memory goes as it would, and no other gets its key.
                reference = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
                known = self._memory[key] = (reference, len(self._memory))
        return known[1]


class Contents:
    """Digests tensors of one thread, and tells the number of their memory."""

    def __init__(self, numbers: MemoryNumbers, *, on_host: bool = True) -> None:
        """Know no layout yet.

        Args:
            numbers: of the memory of tensors.
            on_host: what lies on the host is hashed by its own algorithm, as in the recording.
        """
        self._on_host = on_host
        self._new_slot: type[Slot] = Slot if on_host else DeviceSlot
        self._slots: dict[tuple[torch.dtype, torch.Size], Slot] = {}
        self.memory = numbers.of

    def digest(self, tensor: torch.Tensor) -> str:
        """The content as in a run's events; empty where it cannot be read."""
        key = (tensor.dtype, tensor.shape)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = self._new_slot(Group.USER, "", "", "")
        found = slot.digest(tensor)
        if found is not None:
            return found.hex()
        try:
            pieces = [part.digest(on_host=self._on_host)[0] for part in parts(tensor)]
        except Unsupported:
            return ""
        if len(pieces) == 1:
            return pieces[0].hex()
        whole: str = xxh3_128_hexdigest(b"".join(pieces))
        return whole


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """The tensors of an argument or result, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def words_of(value: object) -> str:
    """An argument that is no tensor, so that equal words mean equal arguments."""
    if isinstance(value, torch.Tensor):
        return "*"
    if type(value) in _PLAIN:
        return repr(value)[:_MOST_TEXT]
    if isinstance(value, _NAMED):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(words_of, value))}]"[:_MOST_TEXT]
    return type(value).__name__


def generator_state(generator: object, device: torch.device) -> str:
    """Digest of the state that a random operator draws from; empty where it is not known."""
    if not isinstance(generator, torch.Generator):
        if device.type == "cpu":
            generator = torch.default_generator
        elif device.type == "cuda":
            known: int | None = device.index
            index = torch.cuda.current_device() if known is None else known
            generator = torch.cuda.default_generators[index]
        else:
            return ""
    with unseen():
        state: str = xxh3_128_hexdigest(generator.get_state().numpy().tobytes())
    return state
