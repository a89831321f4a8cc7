"""Random streams: the state of every generator, read without drawing from it."""

import ctypes
import random
from array import array
from collections.abc import Callable

import numpy as np
import torch

from bisect_debugger.format.groups import Group
from probes.recorder import Recorder

Generator = torch.Generator | np.random.Generator | random.Random

_MT19937_BYTES = 4 * 624 + 4
"""Key words and position of numpy's Mersenne Twister, as its C struct holds them."""


class Streams:
    """Records the state of all known generators at the boundaries of a step."""

    def __init__(self, recorder: Recorder) -> None:
        """Know the global generators of torch, numpy and Python."""
        self._recorder = recorder
        self._cheap: dict[str, Callable[[], object]] = {"torch_cpu": torch.get_rng_state}
        self._others: dict[str, Callable[[], object]] = {
            "python": lambda: _python_state(random),
            "numpy": _numpy_global_state,
        }

    def register(self, name: str, generator: Generator) -> None:
        """Record one more generator.

        Args:
            name: the stream's name.
            generator: a `torch.Generator`, `numpy.random.Generator` or `random.Random`.

        Raises:
            TypeError: it is none of these.
        """
        if isinstance(generator, torch.Generator):
            self._others[name] = generator.get_state
        elif isinstance(generator, np.random.Generator):
            self._others[name] = lambda: repr(generator.bit_generator.state)
        elif isinstance(generator, random.Random):
            self._others[name] = lambda: _python_state(generator)
        else:
            raise TypeError(
                f"{name} is a {type(generator).__name__}; a torch.Generator, "
                "numpy.random.Generator or random.Random can be registered"
            )

    def boundary(self, name: str, *, every: bool) -> None:
        """Record the states now.

        Args:
            name: the boundary: ``init``, ``start``, ``forward``, ``loss``, ``optim``, ``end``.
            every: all streams; else only the framework's own, which are cheap to read.
        """
        for stream, read in self._cheap.items():
            self._see(stream, name, read())
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for device in range(torch.cuda.device_count()):
                self._see(f"torch_cuda:{device}", name, torch.cuda.get_rng_state(device))
        if every:
            for stream, read in self._others.items():
                self._see(stream, name, read())

    def _see(self, stream: str, boundary: str, state: object) -> None:
        component = f"rng.{stream}"
        self._recorder.value(
            Group.RNG, f"{component}@{boundary}", component, boundary, state, subject=component
        )


def _python_state(source: object) -> bytes:
    _, words, gauss = source.getstate()  # type: ignore[attr-defined]
    return array("I", words).tobytes() + repr(gauss).encode()


def _numpy_global_state() -> object:
    bits = np.random.mtrand.get_bit_generator()
    if type(bits) is np.random.MT19937:
        # get_state() builds a dict and an array (46 us); the struct itself is read in about 1 us.
        return ctypes.string_at(bits.ctypes.state_address, _MT19937_BYTES)
    return repr(bits.state)
