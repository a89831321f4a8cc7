"""The file of a process: it gets its name when the training takes its first step.

Which process trains is known only then, and so is its rank. Until then the file lies beside,
under a name that no other process has. Of processes that train side by side, the one that comes
first is chance; in a twin, each takes the name that its like had in the first run.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from probes.writer import RunWriter

_MOST_PROCESSES = 1000


class OutputFile:
    """Where this process's run goes."""

    def __init__(self, asked: Path, known: Iterable[tuple[str, str]] = ()) -> None:
        """Choose a name beside the asked one.

        Args:
            asked: absolute path that the command was given.
            known: what tells the processes of the first run apart, and the suffix of each.
        """
        self._known = known
        self._asked = asked
        self.path = asked.with_name(f"{asked.name}.{os.getpid()}.part")
        self.is_named = False
        self.suffix = ""
        """What the name has beyond the asked one: ``.rank1``, or ``.2`` for a second process."""

    def name(self, writer: RunWriter, rank: int, world_size: int) -> None:
        """Give the file its final name, which nobody else has.

        Raises:
            OSError: it cannot be given.
        """
        own = f".rank{rank}" if world_size > 1 else ""
        me = identity()
        # Ranks have the same arguments, and a name that is no chance already.
        known = self._known if world_size == 1 else ()
        suffixes = [suffix for process, suffix in known if process == me]
        suffixes += [own, *(f"{own}.{number}" for number in range(2, _MOST_PROCESSES))]
        for suffix in suffixes:
            path = self.beside(self._asked, suffix)
            try:
                writer.rename(path)
            except FileExistsError:
                continue
            self.path, self.suffix, self.is_named = path, suffix, True
            return

    @staticmethod
    def beside(path: Path, suffix: str) -> Path:
        """The path with a suffix before its extension."""
        return path.with_name(f"{path.stem}{suffix}{path.suffix}")

    def discard(self) -> None:
        """Remove a file that holds no step."""
        self.path.unlink(missing_ok=True)


def identity() -> str:
    """What tells this process from others of its run, and is the same in the next run."""
    processes = sys.modules.get("multiprocessing.process")
    name = processes.current_process().name if processes is not None else "MainProcess"
    return json.dumps([str(name), *map(str, getattr(sys, "argv", ()))])
