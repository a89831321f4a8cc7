"""Which threads are the program's own; needs neither numpy nor torch."""

import inspect
import sys
import threading
from pathlib import Path
from typing import Any

_INSTALLED = frozenset(("site-packages", "dist-packages"))
_NOT_MEANT = frozenset(("probes", "bisect_debugger", *sys.stdlib_module_names))
_POOLS = frozenset(("concurrent.futures.thread", "multiprocessing.pool", "threading"))
"""What of Python's own library runs functions of the program."""


def is_of_the_program(thread: threading.Thread) -> bool:
    """Its code is the program's, or a pool's that works for it; not that of a library."""
    if thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return False
    # A decorator of a library, such as torch.no_grad, leaves the function the program's.
    target: Any = inspect.unwrap(getattr(thread, "_target", None) or type(thread).run)
    code = getattr(getattr(target, "__func__", target), "__code__", None)
    module = str(getattr(target, "__module__", ""))
    path = Path(code.co_filename) if code is not None else Path()
    foreign = module.partition(".")[0] in _NOT_MEANT and module not in _POOLS
    return not foreign and not _INSTALLED.intersection(path.parts)


def works_for_a_pool(thread: threading.Thread) -> bool:
    """It runs the jobs of a pool, one after the other."""
    target = getattr(thread, "_target", None)
    return str(getattr(target, "__module__", "")).startswith(("concurrent.", "multiprocessing."))
