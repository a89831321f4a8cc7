"""The reader: one thread that owns the open files. Screens ask with `await` and never wait for it.

What a person looks at goes before what takes long, also where that has begun: between two of its
reads, `check` answers the more urgent questions that came meanwhile. A question that nobody waits
for any more is dropped, or ended where it is being answered: `check` raises in the thread.
"""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

URGENT, SEARCH, LONG, BACKGROUND, LAST = range(5)
"""Whose turn it is: what is looked at, what is looked for, what goes over the whole of both runs,
what is read ahead, closing."""


class Cancelled(BaseException):
    """Nobody waits for what is being read. No error: nothing but the reader catches it."""


@dataclass(order=True)
class _Job:
    """A question with the future of its answer; of two alike the earlier goes first."""

    priority: int
    number: int
    call: Callable[[], Any] = field(compare=False)
    answer: "asyncio.Future[Any]" = field(compare=False)
    loop: asyncio.AbstractEventLoop = field(compare=False)
    dropped: threading.Event = field(compare=False, default_factory=threading.Event)


class Reader:
    """One thread, and the questions that wait for it."""

    def __init__(self) -> None:
        """Start when the first question is asked."""
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._current: _Job | None = None
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    async def ask(self, call: Callable[[], T], priority: int = URGENT) -> T:
        """Answer a question in the reader's thread.

        Args:
            call: what to do there; it calls `check` in long loops.
            priority: `URGENT` for what is looked at, which is small and held up by nothing else;
                `SEARCH`, `LONG` and `BACKGROUND` for what may take longer.

        Raises:
            CancelledError: the reader was closed.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if self._closing.is_set():
            raise asyncio.CancelledError
        job = _Job(priority, next(self._numbers), call, answer, loop)
        answer.add_done_callback(lambda done: job.dropped.set() if done.cancelled() else None)
        self._start()
        self._jobs.put(job)
        return await answer

    def check(self) -> None:
        """Called from long loops in the reader's thread, where no read is under way.

        What is more urgent is answered here and now, in this call.

        Raises:
            Cancelled: nobody waits for this any more.
        """
        current = self._current
        if threading.current_thread() is not self._thread or current is None:
            return
        while current.priority > URGENT and (waiting := self._next_before(current)) is not None:
            self._answer(waiting)
        if current.dropped.is_set() or self._closing.is_set():
            raise Cancelled

    def _next_before(self, current: _Job) -> _Job | None:
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        if job.priority < current.priority:
            return job
        # Its number keeps its place.
        self._jobs.put(job)
        return None

    def close(self, last: Callable[[], None]) -> None:
        """End what is being read, drop what waits, do a last thing in the thread.

        The thread ends the process's wait at most by a second: a read that hangs in the system
        must not keep a person from leaving.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        if self._thread is None:
            last()
            return
        loop = asyncio.new_event_loop()
        self._jobs.put(_Job(LAST, next(self._numbers), last, loop.create_future(), loop))
        self._thread.join(timeout=1.0)
        loop.close()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="reader", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job.priority == LAST:
                job.call()
                return
            self._answer(job)

    def _answer(self, job: _Job) -> None:
        if job.dropped.is_set() or self._closing.is_set():
            return
        outer, self._current = self._current, job
        try:
            answer = job.call()
        except Cancelled:
            return
        except Exception as error:  # noqa: BLE001 - raised again where the question was asked
            self._tell(job, None, error)
        else:
            self._tell(job, answer, None)
        finally:
            self._current = outer

    def _tell(self, job: _Job, answer: object, error: Exception | None) -> None:
        def settle() -> None:
            if job.answer.done():
                return
            if error is not None:
                job.answer.set_exception(error)
            else:
                job.answer.set_result(answer)

        if not job.loop.is_closed():
            job.loop.call_soon_threadsafe(settle)
