"""The knob `turns`: threads work one after the other, and results come in the order of their jobs.

A pool has one worker. What asks for results as they get ready gets them in the order in which they
were asked for. A thread that is started has a moment for itself before the one that started it goes
on; one that never ends goes on beside it then, as it would have anyway.
"""

import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from probes.unedited.program_threads import is_of_the_program, works_for_a_pool

_MOMENT_SECONDS = 1.0
_NUMBER = "_bisect_debugger_number"


def threads_one_by_one() -> None:
    """A thread of the program ends, or a moment passes, before `start` returns."""
    kind: Any = threading.Thread
    original = kind.start

    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        original(self)
        if is_of_the_program(self) and not works_for_a_pool(self):
            self.join(_MOMENT_SECONDS)

    kind.start = start


def pools_of_one() -> None:
    """`ThreadPoolExecutor` has one worker, and its jobs have numbers."""
    pools: Any = sys.modules["concurrent.futures.thread"]
    kind = pools.ThreadPoolExecutor
    make, submit, numbers = kind.__init__, kind.submit, itertools.count()

    @functools.wraps(make)
    def __init__(self: Any, max_workers: Any = None, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        make(self, 1, *args, **kwargs)

    @functools.wraps(submit)
    def numbered(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        job = submit(self, fn, *args, **kwargs)
        setattr(job, _NUMBER, next(numbers))
        return job

    kind.__init__, kind.submit = __init__, numbered


def completed_in_order() -> None:
    """`as_completed` returns jobs in the order in which they were handed in."""
    base: Any = sys.modules["concurrent.futures._base"]
    original = base.as_completed

    @functools.wraps(original)
    def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
        jobs = list(dict.fromkeys(fs))
        if isinstance(fs, (set, frozenset)):
            jobs.sort(key=lambda job: getattr(job, _NUMBER, 0))
        for job in jobs:
            base.wait((job,), timeout)
            yield job

    base.as_completed = as_completed
    package: Any = sys.modules.get("concurrent.futures")
    if hasattr(package, "as_completed"):
        package.as_completed = as_completed


def unordered_in_order() -> None:
    """`Pool.imap_unordered` returns results in the order of what they were made from."""
    pools: Any = sys.modules["multiprocessing.pool"]
    pools.Pool.imap_unordered = pools.Pool.imap
