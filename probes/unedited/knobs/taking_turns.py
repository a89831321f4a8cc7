"""Whose turn it is among the program's threads, where the knob `switch` lets one run at a time.

Those that may go on do so in the order in which they were started or woken; those that sleep, or
wait for a time, once nobody else may go on. A thread that waits for something else than a thread of
the program (a process, a socket) keeps the turn. One that waits in C for another thread is left out
until it was woken: it has the next turn then. Where that cannot be told, and the process stands
still for long while others could go on, all are let go, and run as they would without the knob.
"""

import collections
import contextlib
import heapq
import itertools
import threading
import time
from _thread import allocate_lock
from typing import Any

from probes.unedited.knobs.waiting_in_c import nobody_else_works, sleeps_at

_STUCK_SECONDS, _IDLE_CPU_SECONDS = 20.0, 0.2
"""Who keeps the turn for so long, while the process works no longer than this, waits in C."""

_LOOK_SECONDS, _STILL_LOOKS, _STILL_CPU_SECONDS = 0.05, 4, 0.005
"""How often it is looked whether who keeps the turn waits for a thread, how many times in a row it
has to, and how much the process may work from one look to the next."""

POLL_SECONDS = 0.002

_monotonic = time.monotonic
_cpu_seconds = time.process_time


class Turn:
    """One thread of the program.

    Attributes:
        gate: opened when its turn has come.
        waits: nobody has woken it yet.
        woken: it was woken, and did not wait for as long as it was willing to.
        due: when it is willing to wait no longer, by the time that waiting takes; or None.
        done: its work is over.
        joiners: threads that wait for that.
        thread: the system's number of the thread, or 0 before it runs.
        left_out_at: where in C it waited when the turn went on without it, or 0.
    """

    __slots__ = ("done", "due", "gate", "joiners", "left_out_at", "thread", "waits", "woken")

    def __init__(self) -> None:
        """A thread that is about to begin."""
        self.gate = allocate_lock()
        self.gate.acquire()
        self.waits, self.woken, self.done = False, False, False
        self.due: float | None = None
        self.joiners: list[Turn] = []
        self.thread, self.left_out_at = 0, 0


class Turns:
    """Whose turn it is.

    Attributes:
        over: all were let go, for good.
        left_out: how often the turn was taken from a thread that waited in C.
    """

    def __init__(self) -> None:
        """Nobody takes part yet."""
        self._own = threading.local()
        self._count = itertools.count()
        self.reset()

    def reset(self) -> None:
        """Begin anew, as in a forked child: of its threads only one is left, and is free."""
        self._state = allocate_lock()
        self._holder: Turn | None = None
        self._ready: collections.deque[Turn] = collections.deque()
        self._asleep: list[tuple[float, int, Turn, float]] = []
        self._now = 0.0
        self._everybody: set[Turn] = set()
        self._in_c: list[Turn] = []
        self._looked_at, self._looks, self._looked_cpu = 0.0, 0, 0.0
        self._handed_at, self._worked = _monotonic(), _cpu_seconds()
        self._own.turn = None
        self.over, self.left_out = False, 0

    def mine(self) -> Turn | None:
        """This thread's, where it takes part and turns are in force."""
        if self.over or getattr(self._own, "begins_another", False):
            return None
        turn: Turn | None = getattr(self._own, "turn", None)
        if turn is not None and turn.left_out_at:
            self._come_back(turn)
        return turn

    def begin(self, thread: Any, start: Any) -> None:
        """Start a thread, whose turn comes when those before it wait."""
        if self.mine() is None and threading.current_thread() is threading.main_thread():
            self._enter_main()
        turn = thread._bisect_debugger_turn = Turn()
        work = thread.run

        def run() -> None:
            del thread.run
            self._own.turn, turn.thread = turn, threading.get_native_id()
            self._everybody.add(turn)
            self._take(turn, None)
            try:
                work()
            finally:
                self._leave(turn)

        thread.run = run
        with self._state:
            self._ready.append(turn)
            if self._holder is None:
                self._hand_on()
        self._own.begins_another = True
        try:
            start(thread)
        except BaseException:
            self._leave(turn)
            raise
        finally:
            self._own.begins_another = False

    def wait(self, turn: Turn, seconds: float | None) -> bool:
        """Let others go on until this one is woken, or for a time; whether it was woken."""
        until = None
        with self._state:
            turn.waits, turn.woken = True, False
            if seconds is not None:
                turn.due, until = self._now + seconds, _monotonic() + seconds
                heapq.heappush(self._asleep, (turn.due, next(self._count), turn, until))
            self._hand_on()
        self._take(turn, until)
        return turn.woken

    def wake(self, turn: Turn) -> None:
        """It may go on, behind those that may already."""
        with self._state:
            if not turn.waits:
                return
            turn.waits, turn.woken, turn.due = False, True, None
            if self.over:
                _open(turn)
                return
            self._ready.append(turn)
            if self._holder is None:
                self._hand_on()

    def end(self) -> None:
        """Let all go, for good."""
        with self._state:
            self._let_go()

    def _enter_main(self) -> None:
        if self.over:
            return
        with self._state:
            self._own.turn = self._holder = turn = Turn()
            turn.thread = threading.get_native_id()
            self._everybody.add(turn)
        register: Any = getattr(threading, "_register_atexit", None)
        if register is not None:
            # What ends the interpreter waits for threads where nobody can hand on the turn.
            register(self.end)

    def _leave(self, turn: Turn) -> None:
        with self._state:
            turn.done = True
            self._everybody.discard(turn)
            for some in (self._ready, self._in_c):
                if turn in some:
                    some.remove(turn)
        for joiner in turn.joiners:
            self.wake(joiner)
        with self._state:
            if self._holder is turn:
                self._hand_on()

    def _hand_on(self) -> None:
        """The turn goes to who may go on for longest, or to the first whose time is over.

        Who was left out and has been woken in C goes on already, so it is before all.
        """
        self._holder, self._handed_at, self._worked = None, _monotonic(), _cpu_seconds()
        self._looks = 0
        woken = [turn for turn in self._in_c if sleeps_at(turn.thread) != turn.left_out_at]
        if woken:
            self._holder = woken[0]
            self._in_c.remove(woken[0])
            woken[0].left_out_at = 0
            return
        if self._ready:
            self._holder = self._ready.popleft()
        else:
            self._holder = self._first_asleep(self._handed_at)
        if self._holder is not None:
            _open(self._holder)

    def _first_asleep(self, now: float) -> Turn | None:
        while self._asleep:
            due, _, turn, until = self._asleep[0]
            if turn.due == due and turn.waits:
                if until > now:
                    return None
                turn.waits, turn.due = False, None
                self._now = max(self._now, due)
                heapq.heappop(self._asleep)
                return turn
            heapq.heappop(self._asleep)
        return None

    def _take(self, turn: Turn, until: float | None) -> None:
        """Wait until the turn has come, or all were let go."""
        while True:
            if self.over and not (turn.waits and (until is None or until > _monotonic())):
                return
            if turn.gate.acquire(True, self._patience(until)):
                return
            with self._state:
                if self.over:
                    continue
                if self._holder is None:
                    self._hand_on()
                elif self._may_go_on(turn, until):
                    self._look()

    def _patience(self, until: float | None) -> float:
        """Seconds until it has to be looked what goes on."""
        left = _LOOK_SECONDS if until is None else until - _monotonic()
        if left <= 0:
            # Who has the turn hands it on; without, somebody else's time is not over yet.
            left = POLL_SECONDS if self._holder is None or self.over else _LOOK_SECONDS
        return min(left, _LOOK_SECONDS)

    def _may_go_on(self, turn: Turn, until: float | None) -> bool:
        """It would, if it had the turn."""
        is_due = turn.waits and until is not None and until <= _monotonic()
        return is_due or turn in self._ready

    def _look(self) -> None:
        """Take the turn from who waits in C, or let all go where nobody knows what it waits for."""
        now, holder = _monotonic(), self._holder
        if holder is None or now - self._looked_at < _LOOK_SECONDS:
            return
        worked = _cpu_seconds()
        still = worked - self._looked_cpu <= _STILL_CPU_SECONDS
        self._looked_at, self._looked_cpu = now, worked
        waits_at = sleeps_at(holder.thread) if still else 0
        others = [turn.thread for turn in self._everybody if turn not in self._in_c]
        self._looks = self._looks + 1 if waits_at and nobody_else_works(others) else 0
        if self._looks >= _STILL_LOOKS:
            holder.left_out_at = waits_at
            self._in_c.append(holder)
            self.left_out += 1
            self._hand_on()
        elif self._is_stuck():
            self._let_go()

    def _come_back(self, turn: Turn) -> None:
        """It was woken in C while others had the turn: it waits for its own."""
        with self._state:
            # It may have been seen to be back meanwhile, and has the turn then.
            if not turn.left_out_at:
                return
            turn.left_out_at = 0
            self._in_c.remove(turn)
            self._ready.append(turn)
            if self._holder is None:
                self._hand_on()
        self._take(turn, None)

    def _is_stuck(self) -> bool:
        """Who has the turn waits: on a busy machine, work takes long as well, but it is work."""
        now, worked = _monotonic(), _cpu_seconds()
        if now - self._handed_at < _STUCK_SECONDS:
            return False
        did_nothing = worked - self._worked < _IDLE_CPU_SECONDS
        self._handed_at, self._worked = now, worked
        return did_nothing

    def _let_go(self) -> None:
        self.over = True
        while self._ready:
            _open(self._ready.popleft())


def _open(turn: Turn) -> None:
    with contextlib.suppress(RuntimeError):  # it is open
        turn.gate.release()


TURNS = Turns()
