"""Threads of the program beside the one that trains: what they do is seen in part only.

Their calls of modules, loaders and environments are recorded; what they draw, write or decide is
not. That they are there is worth knowing where something differs that nothing recorded explains.
"""

import re
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import THREAD_BESIDE
from probes.unedited.program_threads import is_of_the_program


class ThreadsBeside:
    """Tells of each sort of thread once, when a step is closed."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Know no thread yet.

        Args:
            tell: called with a line for each sort.
        """
        self._tell = tell
        self._count = 1
        self._told: set[str] = set()

    def step_closed(self, step: int, digests: npt.NDArray[np.uint64] | None) -> None:
        """Look who is there, if the number of threads is another than before."""
        count = threading.active_count()
        if count == self._count:
            return
        self._count = count
        here = threading.current_thread()
        for thread in threading.enumerate():
            if thread is not here and is_of_the_program(thread):
                name = re.sub(r"\d+", "N", thread.name)
                if name not in self._told:
                    self._told.add(name)
                    self._tell(f"{THREAD_BESIDE}{name}")
