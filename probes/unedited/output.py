"""The file of a process: it gets its name when the training takes its first step.

Which process trains is known only then, and so is its rank. Until then the file lies beside,
under a name that no other process has.
"""

import os
from pathlib import Path

from probes.writer import RunWriter

_MOST_PROCESSES = 1000


class OutputFile:
    """Where this process's run goes."""

    def __init__(self, asked: Path) -> None:
        """Choose a name beside the asked one.

        Args:
            asked: absolute path that the command was given.
        """
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
        for number in range(1, _MOST_PROCESSES):
            suffix = own if number == 1 else f"{own}.{number}"
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
