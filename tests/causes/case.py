"""A case of the benchmark: a trainer, and what is to be found in it."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bisect_debugger.causality.causes import Cause

TRAINERS = Path(__file__).resolve().parent / "trainers"


@dataclass(frozen=True, slots=True)
class Case:
    """One trainer with a fault.

    Attributes:
        script: name of the script, without its suffix.
        kind: sort of trainer.
        components: globs of what a person would change; any of them is right. Words in braces
            stand for the line of the script that holds them.
        causes: what the fault is, most fitting first; any of them is right.
        knobs: knobs any of which takes the fault away; empty where no experiment can decide.
        runs: runs that it may take until the fault shows, where it fires by chance.
        why: why it is this and nothing else.
    """

    script: str
    kind: str
    components: tuple[str, ...]
    causes: tuple[Cause, ...]
    knobs: tuple[str, ...] = ()
    runs: int = 2
    why: str = ""

    @property
    def path(self) -> Path:
        """The script."""
        return TRAINERS / f"{self.script}.py"

    def is_at(self, component: str) -> bool:
        """A component is one of those that a person would change."""
        return any(fnmatchcase(component, self._filled(glob)) for glob in self.components)

    def _filled(self, glob: str) -> str:
        """The glob with its line filled in, and with brackets that mean themselves."""
        found = re.search(r"\{(.+)\}", glob)
        if found is not None:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            (number,) = [number for number, line in enumerate(lines, 1) if found[1] in line]
            glob = glob.replace(found[0], f"*{self.script}.py:{number}")
        return glob.replace("[", "[[]")


@dataclass(frozen=True, slots=True)
class Clean:
    """One trainer whose twins are equal, although it looks as if they might not be.

    Attributes:
        script: name of the script, without its suffix.
        kind: sort of trainer.
        why: what looks like a fault and is none.
    """

    script: str
    kind: str
    why: str = ""

    @property
    def path(self) -> Path:
        """The script."""
        return TRAINERS / f"{self.script}.py"
