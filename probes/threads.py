"""Threads of the trainer by number: the same thread has the same number in every run.

Numbers follow the threads' names and not the order in which they come: which of two threads is
first is decided by the system, anew in every run.
"""

import threading

import xxhash

MAIN = 0
"""Number of the main thread."""

_MOST = 0xFFFF
"""Greatest number that the file holds."""


class ThreadNumbers:
    """Numbers the threads that ask."""

    def __init__(self) -> None:
        """Know no thread yet."""
        # By the thread itself and not by its ident, which the system gives again to another.
        self.own = threading.local()
        """The calling thread's own ``number``, once `current` was asked in it."""
        self._by_name: dict[str, int] = {}
        self._lock = threading.Lock()
        self.foreign: set[int] = set()
        """Numbers of threads that Python did not start, such as those of the autograd engine."""
        self._numbered = 0

    @property
    def is_alone(self) -> bool:
        """No more than one thread has asked so far."""
        return self._numbered <= 1

    def current(self) -> int:
        """Number of the calling thread."""
        try:
            return self.own.number  # type: ignore[no-any-return]
        except AttributeError:
            number = self.own.number = self._number()
            return number

    def _number(self) -> int:
        with self._lock:
            self._numbered += 1
        ident = threading.get_ident()
        if ident == threading.main_thread().ident:
            return MAIN
        # `current_thread` would add a thread that Python did not start to those that it knows.
        known = (thread for thread in threading.enumerate() if thread.ident == ident)
        thread = next(known, None)
        with self._lock:
            if thread is None or isinstance(thread, threading._DummyThread):
                number = self._free(f"\0{len(self.foreign)}")
                self.foreign.add(number)
                return number
            if thread.name not in self._by_name:
                self._by_name[thread.name] = self._free(thread.name)
            return self._by_name[thread.name]

    def _free(self, name: str) -> int:
        """A number made from a name; the next one where another name has it already."""
        number = xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")) % _MOST
        taken = self.foreign.union(self._by_name.values())
        if len(taken) < _MOST - 1:
            while number == MAIN or number in taken:
                number = (number + 1) % _MOST
        return number
