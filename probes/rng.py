"""Random streams: the state of every generator, read without drawing from it."""

import ctypes
import random
import struct
import sys
from array import array
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch.cuda import is_initialized as cuda_is_initialized
from xxhash import xxh3_128_digest

from bisect_debugger.format.groups import Group
from probes.recorder import Recorder
from probes.slots import Form, Slot

Generator = torch.Generator | np.random.Generator | np.random.RandomState | random.Random

_TWISTER_WORDS = 624
_TWISTER_BYTES = 4 * _TWISTER_WORDS + 4
"""Key words and position of a Mersenne Twister, as numpy's and Python's C structs hold them."""

_WAITING = struct.Struct("=id")
"""Whether a normal number waits, and the number, as numpy's C struct holds them."""

_WIDEST_NUMBER = 40
"""Bytes that hold any number in a bit generator's state; PCG64's have 128 bits."""

BOUNDARIES_OF_ALL = frozenset(("init", "start", "forward", "end"))
"""Boundaries at which every stream is read; at the others only torch's own."""


_NEVER: tuple[None, None] = (None, None)


class Streams:
    """Records the state of all known generators at the boundaries of a step."""

    def __init__(self, recorder: Recorder) -> None:
        """Know the global generators of torch, numpy and Python."""
        self._recorder = recorder
        self._frequent: dict[str, Callable[[], object]] = {
            "torch_cpu": torch.default_generator.get_state
        }
        self._others: dict[str, Callable[[], object]] = {
            "python": python_reader(random._inst),
            "numpy": legacy_reader(np.random.mtrand._rand),
        }
        self._plans: dict[str, list[tuple[str, Callable[[], object], Slot]]] = {}
        """By boundary; made anew when there is one more stream."""
        self._with_cuda = False
        self._last: dict[str, tuple[bytes, Form]] = {}
        self._hashed: dict[str, tuple[bytes, tuple[bytes, Form]]] = {}
        """By stream the state that was hashed last, and what came of it."""

    def register(self, name: str, generator: object) -> None:
        """Record one more generator.

        Args:
            name: the stream's name.
            generator: of torch, numpy or the random module.

        Raises:
            TypeError: it is none of these.
        """
        if isinstance(generator, torch.Generator):
            self._others[name] = generator.get_state
        elif isinstance(generator, np.random.Generator):
            self._others[name] = bits_reader(generator.bit_generator)
        elif isinstance(generator, np.random.RandomState):
            self._others[name] = legacy_reader(generator)
        elif isinstance(generator, random.Random) and not isinstance(
            generator, random.SystemRandom
        ):
            self._others[name] = python_reader(generator)
        else:
            raise TypeError(
                f"{name} is a {type(generator).__name__}; a torch.Generator, "
                "numpy.random.Generator, numpy.random.RandomState or random.Random can be "
                "registered"
            )
        self._plans.clear()

    def boundary(self, name: str, *, unchanged: bool = False) -> None:
        """Record the states now.

        Args:
            name: the boundary: ``init``, ``start``, ``forward``, ``loss``, ``optim``, ``end``.
            unchanged: the trainer did nothing since the last boundary, so nothing is read anew.
        """
        if not self._with_cuda and cuda_is_initialized():  # type: ignore[no-untyped-call]
            self._with_cuda = True
            self._plans.clear()
        kept, last = self._last if unchanged else {}, {}
        events = []
        for stream, read, slot in self._plans.get(name) or self._plan(name):
            found = kept.get(stream)
            if found is None:
                state = read()
                before, found = self._hashed.get(stream, _NEVER)
                if state is not before:
                    found = slot.read(state)
                    # The very same bytes have the same digest; a tensor may be written to.
                    if type(state) is bytes and found is not None:
                        self._hashed[stream] = state, found
                if found is None:
                    self._recorder.see(slot, state)
                    continue
            last[stream] = found
            events.append((slot, *found))
        self._last = last
        # A generator's state tells by its digest alone, whatever the level.
        self._recorder.see_digests(events)

    def _plan(self, name: str) -> list[tuple[str, Callable[[], object], Slot]]:
        """Streams that are read at a boundary, how, and where their states go."""
        readers = [*self._frequent.items()]
        if self._with_cuda:
            for device in range(torch.cuda.device_count()):
                read = torch.cuda.default_generators[device].get_state
                readers.append((f"torch_cuda:{device}", read))
        if name in BOUNDARIES_OF_ALL:
            readers += self._others.items()
        plan = [(stream, read, self._slot(stream, name)) for stream, read in readers]
        self._plans[name] = plan
        return plan

    def first(self, name: str) -> None:
        """Record the state of a generator that was registered just now, before it is drawn from.

        Args:
            name: the stream's name.
        """
        self._recorder.see_all([(self._slot(name, "registered"), self._others[name]())])

    def _slot(self, stream: str, boundary: str) -> Slot:
        component = f"rng.{stream}"
        return self._recorder.slot(
            Group.RNG, f"{component}@{boundary}", component, boundary, component
        )


def python_reader(source: random.Random) -> Callable[[], bytes]:
    """A function that reads the state of a Python generator as bytes.

    `getstate` builds a tuple of 625 numbers, which takes 30 us with its conversion; reading
    the C struct takes 1 us. The struct is only trusted where it holds what `getstate` says.
    """
    if type(source).getstate is not random.Random.getstate:
        return lambda: repr(source.getstate()).encode()
    # Position, then words.
    memory = _memory(id(source) + object.__basicsize__, _TWISTER_BYTES)
    read_memory = _reader_of(memory)
    last: tuple[bytes, object, bytes] = (b"", None, b"")

    def read() -> bytes:
        nonlocal last
        raw, gauss = read_memory(), source.gauss_next  # type: ignore[attr-defined]
        if raw is not last[0] or gauss is not last[1]:
            last = raw, gauss, raw[4:] + raw[:4] + repr(gauss).encode()
        return last[2]

    laid_out = sys.implementation.name == "cpython" and (
        type(source).__basicsize__ >= object.__basicsize__ + _TWISTER_BYTES
    )
    return read if laid_out and read() == _state_of(source) else lambda: _state_of(source)


def _state_of(source: random.Random) -> bytes:
    _, words, gauss = source.getstate()
    return array("I", words).tobytes() + repr(gauss).encode()


def bits_reader(bits: np.random.BitGenerator) -> Callable[[], bytes]:
    """A function that reads the state of a numpy bit generator as bytes."""
    if type(bits) is np.random.MT19937:
        # `state` builds a dict and an array (46 us); the struct itself is read in about 1 us.
        # The memory is the owner's, so it is kept.
        return _reader_of(_memory(bits.ctypes.state_address, _TWISTER_BYTES), bits)
    return lambda: _canonical(bits.state)


def _memory(address: int, size: int) -> "ctypes.Array[ctypes.c_char]":
    """So many bytes as they stand there whenever they are asked for; they belong to another."""
    return (ctypes.c_char * size).from_address(address)


def _reader_of(memory: "ctypes.Array[ctypes.c_char]", owner: object = None) -> Callable[[], bytes]:
    """A function that copies memory, or returns the bytes of last time if nothing was written.

    Seldom does anybody draw between two boundaries; hashing touches a third of what copying does.

    Args:
        memory: what is read.
        owner: what has to live as long as the function does.
    """
    last: tuple[bytes, bytes] = (b"", b"")

    def read(owner: object = owner) -> bytes:
        nonlocal last
        if xxh3_128_digest(memory) != last[0]:
            raw = memory.raw
            # Of the copy, should another thread have drawn meanwhile.
            last = xxh3_128_digest(raw), raw
        return last[1]

    return read


def legacy_reader(source: np.random.RandomState) -> Callable[[], bytes]:
    """A function that reads the state of a `RandomState` as bytes.

    To it belongs the second half of a pair of normal numbers, which waits for the next draw.
    `get_state` tells it in 46 us; read where it lies it takes 1 us. What lies there is only
    trusted where it is what `get_state` says.
    """

    def ask() -> bytes:
        return _canonical(source.get_state(legacy=False))

    place = _waiting_normal_at()
    if place is None or type(source) is not np.random.RandomState:
        return ask

    flag, number = _memory(id(source) + place - 8, 4), _memory(id(source) + place, 8)
    bits: np.random.BitGenerator | None = None
    read_bits: Callable[[], bytes] = bytes
    last: tuple[bytes, bytes, bytes] = (b"", b"", b"")

    def read() -> bytes:
        nonlocal bits, read_bits, last
        # Asked each time: the source may be given other bits.
        now = source._bit_generator
        if now is not bits:
            bits, read_bits = now, bits_reader(now)
        state, waiting = read_bits(), flag.raw + number.raw
        if state is not last[0] or waiting != last[1]:
            last = state, waiting, state + waiting
        return last[2]

    told = source.get_state(legacy=False)
    is_as_told = flag.raw + number.raw == _WAITING.pack(told["has_gauss"], told["gauss"])
    return read if is_as_told and hasattr(source, "_bit_generator") else ask


@lru_cache(maxsize=1)
def _waiting_normal_at() -> int | None:
    """Where in a `RandomState` the waiting normal number lies; None where that cannot be told."""
    if sys.implementation.name != "cpython":
        return None
    source = np.random.RandomState(np.random.MT19937(1))
    found = []
    for draws in (1, 2):
        source.standard_normal()
        told = source.get_state(legacy=False)
        raw = ctypes.string_at(id(source), type(source).__basicsize__)
        number = _WAITING.pack(told["has_gauss"], told["gauss"])
        if draws == 1:
            found = [at for at in range(16, len(raw) - 7, 8) if raw[at : at + 8] == number[4:]]
        if len(found) != 1 or raw[found[0] - 8 : found[0] - 4] + raw[found[0] :][:8] != number:
            return None
    return found[0]


def _canonical(state: object) -> bytes:
    """Bytes of a nest of dicts, numbers and arrays, whatever numpy's print options are."""
    if isinstance(state, dict):
        return b";".join(str(key).encode() + b"=" + _canonical(state[key]) for key in sorted(state))
    if isinstance(state, np.ndarray):
        return state.tobytes()
    if type(state) is int:
        # As wide for a small number as for a large one: another state is no other layout.
        return state.to_bytes(_WIDEST_NUMBER, "little", signed=True)
    return repr(state).encode()
