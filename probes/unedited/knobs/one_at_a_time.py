"""The knob `switch`: of the program's threads one runs at a time, until it waits.

Python's own switching is only half of it: torch and numpy let other threads go on while they
compute, and whoever is woken competes for the interpreter. So whose turn it is, is decided in
`taking_turns`; what waits is patched here to hand it on.
"""

import collections
import functools
import os
import queue
import sys
import threading
import time
from _thread import allocate_lock
from typing import Any

from probes.unedited.knobs.taking_turns import POLL_SECONDS, TURNS
from probes.unedited.program_threads import is_of_the_program

_monotonic = time.monotonic
_sleep = time.sleep


class Lock:
    """`threading.Lock`, whose waiting lets others go on."""

    def __init__(self) -> None:
        """Nobody holds it."""
        self._inner = allocate_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; as of `threading.Lock`."""
        if self._inner.acquire(False):
            return True
        turn = TURNS.mine()
        if not blocking or turn is None:
            return self._inner.acquire(blocking, timeout)
        end = None if timeout < 0 else _monotonic() + timeout
        while not self._inner.acquire(False):
            if end is not None and _monotonic() >= end:
                return False
            if TURNS.over:
                _sleep(POLL_SECONDS)
            else:
                TURNS.wait(turn, POLL_SECONDS)
        return True

    def release(self) -> None:
        """Give it back."""
        self._inner.release()

    def locked(self) -> bool:
        """Somebody holds it."""
        return self._inner.locked()

    def _at_fork_reinit(self) -> None:
        self._inner = allocate_lock()

    def __enter__(self) -> bool:
        """Take it."""
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        """Give it back."""
        self.release()


class RLock(threading._PyRLock):  # type: ignore[name-defined,misc]
    """`threading.RLock`, likewise."""

    def __init__(self) -> None:
        """Nobody holds it."""
        super().__init__()
        self._block = Lock()


def one_at_a_time() -> None:
    """Let the program's threads run one at a time, from now on."""
    module: Any = threading
    module.Lock, module.RLock = Lock, RLock
    queues: Any = queue
    # The one in C waits where nobody can tell.
    queues.SimpleQueue = queues._PySimpleQueue
    clocks: Any = time
    clocks.sleep = _sleeping(clocks.sleep)
    _patch_threads(module.Thread)
    _patch_conditions(module.Condition)
    os.register_at_fork(after_in_child=TURNS.reset)


def event_loops_hand_on() -> None:
    """An event loop of asyncio waits for its threads where they can be told of it.

    Its own timers go by the clock still.
    """
    kind: Any = sys.modules["asyncio.selector_events"].BaseSelectorEventLoop
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        self._selector.select = _selecting(self._selector.select)

    kind.__init__ = __init__


def _selecting(original: Any) -> Any:
    @functools.wraps(original)
    def select(timeout: float | None = None) -> Any:
        turn = TURNS.mine()
        if turn is None:
            return original(timeout)
        left = timeout
        while not (ready := original(0)) and (left is None or left > 0):
            if TURNS.over:
                return original(left)
            # By the time that waiting takes: by the clock, it would be chance who is first.
            pause = POLL_SECONDS if left is None else min(POLL_SECONDS, left)
            TURNS.wait(turn, pause)
            left = None if left is None else left - pause
        return ready

    return select


def _sleeping(original: Any) -> Any:
    @functools.wraps(original)
    def sleep(seconds: float) -> None:
        turn = TURNS.mine()
        if turn is None or not seconds >= 0:
            original(seconds)
        else:
            TURNS.wait(turn, seconds)

    return sleep


def _takes_part(thread: threading.Thread) -> bool:
    """It does the program's work, and does not keep the books of a pool: that one waits in C."""
    name = str(getattr(getattr(thread, "_target", None), "__name__", ""))
    return is_of_the_program(thread) and not name.startswith("_handle_")


def _patch_threads(kind: Any) -> None:
    start_it, join_it = kind.start, kind.join

    @functools.wraps(start_it)
    def start(self: Any) -> None:
        if TURNS.over or self._started.is_set() or not _takes_part(self):
            start_it(self)
        else:
            TURNS.begin(self, start_it)

    @functools.wraps(join_it)
    def join(self: Any, timeout: float | None = None) -> None:
        turn, mine = getattr(self, "_bisect_debugger_turn", None), TURNS.mine()
        if turn is not None and mine is not None and turn is not mine and not turn.done:
            turn.joiners.append(mine)
            TURNS.wait(mine, timeout if timeout is None else max(timeout, 0.0))
            turn.joiners.remove(mine)
            if not turn.done and not TURNS.over:
                return
        join_it(self, timeout)

    kind.start, kind.join = start, join


def _patch_conditions(kind: Any) -> None:
    wait_real, notify_real = kind.wait, kind.notify

    @functools.wraps(wait_real)
    def wait(self: Any, timeout: float | None = None) -> bool:
        mine = TURNS.mine()
        if mine is None:
            return bool(wait_real(self, timeout))
        if not self._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        waiting = self.__dict__.setdefault("_bisect_debugger_waiting", collections.deque())
        waiting.append(mine)
        saved = self._release_save()
        try:
            woken = TURNS.wait(mine, timeout if timeout is None else max(timeout, 0.0))
        finally:
            self._acquire_restore(saved)
            if mine in waiting:
                waiting.remove(mine)
        return woken

    @functools.wraps(notify_real)
    def notify(self: Any, n: int = 1) -> None:
        waiting = self.__dict__.get("_bisect_debugger_waiting", ())
        if self._is_owned():
            while waiting and n > 0:
                TURNS.wake(waiting.popleft())
                n -= 1
        notify_real(self, n)

    def notify_all(self: Any) -> None:
        self.notify(len(self._waiters) + len(self.__dict__.get("_bisect_debugger_waiting", ())))

    kind.wait, kind.notify, kind.notify_all = wait, notify, notify_all
