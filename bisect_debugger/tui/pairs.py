"""The pairs of runs that were opened, and going from one to another."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bisect_debugger.diagnosis import Diagnosis
from bisect_debugger.tui.reader import Reader
from bisect_debugger.tui.session import Session
from bisect_debugger.views.pairs import PairLine, pairs_of

if TYPE_CHECKING:
    from bisect_debugger.tui.app import BisectApp

__all__ = ["Pairs", "pairs_of"]


class Pairs:
    """Which pairs there are, which one is shown, and what is known about each."""

    def __init__(self, app: "BisectApp", lines: Sequence[PairLine], session: Session) -> None:
        """Begin with the first one."""
        self._app = app
        a, b = map(str, session.paths)
        self.lines = tuple(lines) or (PairLine(a, b, session.rank),)
        self.number = 0
        self._known: dict[int, Diagnosis] = {}

    def note_verdict(self, verdict: str) -> None:
        """Remember what was found about the pair that is shown."""
        lines = list(self.lines)
        lines[self.number] = replace(lines[self.number], verdict=verdict)
        self.lines = tuple(lines)

    @property
    def words(self) -> str:
        """Which of several pairs is shown, to be written behind something; empty for one."""
        if len(self.lines) == 1:
            return ""
        line, last = self.lines[self.number], self.number == len(self.lines) - 1
        told = ", ".join(filter(None, (self.rank_of(line), self.kept_of(line))))
        number = f", pair {self.number + 1} of {len(self.lines)}{f' ({told})' if told else ''}"
        return f"{number}  {'[: previous pair' if last else ']: next pair'}"

    def rank_of(self, line: PairLine) -> str:
        """The rank of a pair, where there are several; else empty."""
        return f"rank {line.rank}" if len({each.rank for each in self.lines}) > 1 else ""

    def kept_of(self, line: PairLine) -> str:
        """Which pass a pair is of, where there are several; else empty."""
        return line.kept if len({each.kept for each in self.lines}) > 1 else ""

    def number_of(self, files: tuple[Path, Path] | None) -> int | None:
        """Which of the pairs these two runs are, from 0; None where they are none of them."""
        wanted = files and tuple(map(Path.absolute, files))
        shown = [(Path(line.a).absolute(), Path(line.b).absolute()) for line in self.lines]
        return shown.index(wanted) if wanted in shown else None

    async def move(self, by: int) -> None:
        """Show the next or previous pair, around in a circle."""
        if len(self.lines) == 1:
            self._app.say("there is one pair; name more runs when you open them")
            return
        await self.switch((self.number + by) % len(self.lines))

    async def switch(self, number: int) -> None:
        """Show a pair; what cannot be opened is told, and the one before stays.

        Raises:
            BisectError: the runs cannot be opened or compared.
        """
        if number == self.number:
            await self._app.navigator.go("verdict")
            return
        line, reader = self.lines[number], Reader()
        try:
            session = await reader.ask(lambda: Session.open(line.a, line.b, reader))
        except BaseException:
            reader.close(lambda: None)
            raise
        before, self._app.session = self._app.session, session
        # With what only the driver knew: remarks of both passes, the other pairs, the control.
        if before.diagnosis is not None:
            self._known[self.number] = before.diagnosis
        session.diagnosis = self._known.get(number)
        self.number = number
        before.close()
        self._app.navigator.forget()
        await self._app.navigator.go("verdict")
        told = self.kept_of(line)
        self._app.say(f"pair {number + 1} of {len(self.lines)}{f', {told}' if told else ''}")
