"""Knobs that take effect when the interpreter starts."""

import functools
import hashlib
import itertools
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from probes.unedited.knobs import SEED
from probes.unedited.knobs.in_turn import threads_one_by_one
from probes.unedited.knobs.one_at_a_time import one_at_a_time

_SWITCH_SECONDS = 1e6
_TICK_NANOSECONDS = 1_000_000
_EPOCH_NANOSECONDS = 1_700_000_000 * 10**9

_READS_REAL_TIME = frozenset(
    (
        *("probes", "bisect_debugger", "bisect_debugger_bootstrap"),
        *("asyncio", "concurrent", "multiprocessing", "queue", "selectors", "socket"),
        *("subprocess", "threading", "torch", "logging", "tempfile"),
    )
)
"""Top-level modules that wait or write by the clock: a false one would hang them."""


def apply(names: frozenset[str]) -> None:
    """Turn the knobs of these names that belong here."""
    for name, turn in _KNOBS.items():
        if name in names:
            turn()


def entropy() -> None:
    """The system's entropy is a fixed stream: os.urandom, secrets, SystemRandom, unseeded Random.

    numpy takes the entropy of a generator without a seed from `secrets`, so it follows.
    """
    system: Any = os
    module: Any = random
    system.urandom = module._urandom = _fixed_stream
    if hasattr(os, "getrandom"):
        system.getrandom = lambda size, flags=0: _fixed_stream(size)
    count = itertools.count()
    original = random.Random.seed

    @functools.wraps(original)
    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        original(self, SEED + next(count) if a is None else a, version)

    module.Random.seed = seed
    # The module's own generator took its entropy when it was imported.
    original(module._inst, SEED)


def seed_all() -> None:
    """Python's generator starts from a fixed seed; numpy's and torch's follow at import."""
    random.seed(SEED)


def clock() -> None:
    """Clocks count how often they are asked, a millisecond each time."""
    ticks = itertools.count()

    def tick() -> int:
        return next(ticks) * _TICK_NANOSECONDS

    module: Any = time
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        start = _EPOCH_NANOSECONDS if name == "time" else 0
        for full, scale in ((name, 1e-9), (f"{name}_ns", 1)):
            fixed = functools.partial(_scaled, tick, start, scale)
            setattr(module, full, _for_the_program(getattr(time, full), fixed))
    _fix_dates(tick)


def listing() -> None:
    """Directories are listed in sorted order."""
    system: Any = os
    list_directory, scan = os.listdir, os.scandir

    @functools.wraps(list_directory)
    def listdir(*args: Any, **kwargs: Any) -> list[Any]:
        return sorted(list_directory(*args, **kwargs))

    @functools.wraps(scan)
    def scandir(*args: Any, **kwargs: Any) -> "_Sorted":
        return _Sorted(scan(*args, **kwargs))

    system.listdir, system.scandir = listdir, scandir


def switch() -> None:
    """Threads of the program take turns only where they wait, and in a fixed order."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    one_at_a_time()


_blocks = itertools.count()


def _fixed_stream(size: int) -> bytes:
    """Bytes that are the same in every process that asks in the same order."""
    found = b""
    while len(found) < size:
        found += hashlib.blake2b(next(_blocks).to_bytes(8, "little"), key=b"knob").digest()
    return found[:size]


def _scaled(tick: Callable[[], int], start: int, scale: float) -> float:
    return (start + tick()) * scale


def _for_the_program(real: Callable[[], Any], fixed: Callable[[], Any]) -> Callable[[], Any]:
    @functools.wraps(real)
    def asked() -> Any:
        caller = str(sys._getframe(1).f_globals.get("__name__", "")).partition(".")[0]
        return real() if caller in _READS_REAL_TIME else fixed()

    return asked


def _fix_dates(tick: Callable[[], int]) -> None:
    """`datetime.now` and `date.today`, whose types are written in C."""
    import datetime

    from probes.method_table import method_table, put_method

    def now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp((_EPOCH_NANOSECONDS + tick()) * 1e-9, tz)

    def today(cls: Any) -> Any:
        return cls.fromtimestamp((_EPOCH_NANOSECONDS + tick()) * 1e-9)

    for kind, methods in (
        (datetime.datetime, {"now": now, "utcnow": today}),
        (datetime.date, {"today": today}),
    ):
        table = method_table(kind)
        for name, method in methods.items() if table is not None else ():
            put_method(kind, table or {}, name, classmethod(method))


class _Sorted:
    """What `os.scandir` returns, by name."""

    def __init__(self, entries: Any) -> None:
        with entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> "_Sorted":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the rest."""
        self._entries = iter(())


_KNOBS: dict[str, Callable[[], None]] = {
    "entropy": entropy,
    "seed-all": seed_all,
    "clock": clock,
    "listing": listing,
    "switch": switch,
    "turns": threads_one_by_one,
}
