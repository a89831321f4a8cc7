"""Random streams: the state of every generator, read without drawing from it."""

import ctypes
import random
import sys
from array import array
from collections.abc import Callable

import numpy as np
import torch

from bisect_debugger.format.groups import Group
from probes.recorder import Recorder
from probes.slots import Slot

Generator = torch.Generator | np.random.Generator | np.random.RandomState | random.Random

_TWISTER_WORDS = 624
_TWISTER_BYTES = 4 * _TWISTER_WORDS + 4
"""Key words and position of a Mersenne Twister, as numpy's and Python's C structs hold them."""

BOUNDARIES_OF_ALL = frozenset(("init", "start", "forward", "end"))
"""Boundaries at which every stream is read; at the others only torch's own."""


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
            "numpy": _numpy_global_state,
        }
        self._slots: dict[tuple[str, str], Slot] = {}
        self._last: dict[str, object] = {}

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
            self._others[name] = lambda: _canonical(generator.get_state(legacy=False))
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

    def boundary(self, name: str, *, unchanged: bool = False) -> None:
        """Record the states now.

        Args:
            name: the boundary: ``init``, ``start``, ``forward``, ``loss``, ``optim``, ``end``.
            unchanged: the trainer did nothing since the last boundary, so nothing is read anew.
        """
        streams = dict(self._frequent)
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for device in range(torch.cuda.device_count()):
                streams[f"torch_cuda:{device}"] = torch.cuda.default_generators[device].get_state
        if name in BOUNDARIES_OF_ALL:
            streams |= self._others
        last = self._last if unchanged else {}
        self._last = {
            stream: last[stream] if stream in last else read() for stream, read in streams.items()
        }
        for stream, state in self._last.items():
            slot = self._slots.get((stream, name)) or self._slot(stream, name)
            if isinstance(state, bytes):
                self._recorder.see_state(slot, state)
            else:
                self._recorder.see(slot, state)

    def _slot(self, stream: str, boundary: str) -> Slot:
        component = f"rng.{stream}"
        found = self._slots[stream, boundary] = self._recorder.slot(
            Group.RNG, f"{component}@{boundary}", component, boundary, component
        )
        return found


def python_reader(source: random.Random) -> Callable[[], bytes]:
    """A function that reads the state of a Python generator as bytes.

    `getstate` builds a tuple of 625 numbers, which takes 30 us with its conversion; reading
    the C struct takes 1 us. The struct is only trusted where it holds what `getstate` says.
    """
    if type(source).getstate is not random.Random.getstate:
        return lambda: repr(source.getstate()).encode()
    address = id(source) + object.__basicsize__

    def read() -> bytes:
        raw = ctypes.string_at(address, _TWISTER_BYTES)
        return raw[4:] + raw[:4] + repr(source.gauss_next).encode()  # type: ignore[attr-defined]

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
        return lambda: ctypes.string_at(bits.ctypes.state_address, _TWISTER_BYTES)
    return lambda: _canonical(bits.state)


def _numpy_global_state() -> bytes:
    bits = np.random.mtrand.get_bit_generator()
    return bits_reader(bits)()


def _canonical(state: object) -> bytes:
    """Bytes of a nest of dicts, numbers and arrays, whatever numpy's print options are."""
    if isinstance(state, dict):
        return b";".join(str(key).encode() + b"=" + _canonical(state[key]) for key in sorted(state))
    if isinstance(state, np.ndarray):
        return state.tobytes()
    return repr(state).encode()
