"""Runs: facts side by side, what differs first; the pairs that can be switched between."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.errors import printable
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status
from bisect_debugger.views.counts import counted
from bisect_debugger.views.facts import FactRow
from bisect_debugger.views.names import elide, pad
from bisect_debugger.views.pairs import PairLine, told_apart

_NAME_WIDTH = 25

_IN_STATUS = 90
"""Characters of a value in the status line, which has four lines at most."""

_COPIED = 10_000
"""The same where a value is copied."""


class RunsScreen(BaseScreen):
    """Pairs, then a line a fact: its name, the first run's value, the second's."""

    HELP: ClassVar[str] = (
        "What both recordings say about where and how they were made; what differs stands first "
        "and is marked. Above stand all pairs of the runs that were opened; enter on one, or ] "
        "and [, shows it. Only runs of one rank are held against each other. A twin's second pass "
        "is a pair of its own: with values, of few steps. Whole values stand in the pane below, in "
        "a low window in the line below."
    )
    DEFAULT_CSS = """
    RunsScreen #facts { height: 2fr; }
    RunsScreen #detail { height: 1fr; border-top: solid $primary; }
    RunsScreen.low #detail { display: none; }
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._facts: tuple[FactRow, ...] = ()
        self._pairs: tuple[PairLine, ...] = ()
        self._names: list[str] = []
        """Of both runs of each pair, the folders that all share left out."""

    def main_pane(self) -> Widget:
        """Pairs and facts."""
        return Vertical(
            VirtualTable(self._line, self.switch, id="facts"), Prose(id="detail"), id="main"
        )

    async def load(self) -> None:
        """Read the facts."""
        self.set_title("Runs")
        self._pairs = self.debugger.pairs.lines
        self._names = told_apart([name for pair in self._pairs for name in (pair.a, pair.b)])
        self._facts = await self.session.facts()
        differing = sum(fact.differs for fact in self._facts)
        many = f"pair {self.debugger.pairs.number + 1} of {len(self._pairs)}, " * (
            len(self._pairs) > 1
        )
        what = f"{counted(differing, 'fact')} differ{'s' * (differing < 2)}"
        self.set_title(f"Runs: {many}{what}")
        table = self.query_one("#facts", VirtualTable)
        table.show(self._pair_lines + 1 + len(self._facts), 0)
        table.focus()

    @property
    def _pair_lines(self) -> int:
        """Lines of the pairs: none where there is one."""
        return len(self._pairs) if len(self._pairs) > 1 else 0

    def repaint(self) -> None:
        """Colours as they are now."""
        self.query_one("#facts", VirtualTable).refresh()

    def _line(self, index: int, width: int) -> Text:
        if index < self._pair_lines:
            return self._pair_line(index, width)
        index -= self._pair_lines
        half = max(8, (width - _NAME_WIDTH - 4) // 2)
        if index == 0:
            first, second = told_apart([str(path) for path in self.session.paths])
            heads = [f"first: {first}", f"second: {second}"]
            if max(map(len, heads)) > half:
                # Cut, both may read the same; the files stand below.
                heads = ["first", "second"]
            paths = " ".join(pad(elide(head, half), half) for head in heads)
            return Text(f"  {'fact':<{_NAME_WIDTH}}{paths}", "underline")
        fact = self._facts[index - 1]
        status = Status.DIFFERS if fact.differs else Status.EQUAL
        line = self.look.symbol(status) if fact.differs else Text(" ")
        line.append(
            f" {pad(elide(fact.name, _NAME_WIDTH - 1), _NAME_WIDTH)}", "bold" * fact.differs
        )
        style = self.look.style(status) if fact.differs else ""
        line.append(f"{pad(elide(fact.a, half), half)} {elide(fact.b, half)}", style)
        return line

    def _pair_line(self, index: int, width: int) -> Text:
        pair = self._pairs[index]
        here = index == self.debugger.pairs.number
        tail = self._told_of(pair)
        room = max(8, (width - max(map(len, map(self._told_of, self._pairs))) - 4) // 2)
        line = Text("> " if here else "  ", "bold")
        names = self._names[2 * index : 2 * index + 2]
        line.append("  ".join(pad(elide(name, room), room) for name in names), "bold" * here)
        line.append(tail)
        return line

    def _told_of(self, pair: PairLine) -> str:
        kept = self.debugger.pairs.kept_of(pair)
        return f"  rank {pair.rank}{f', {kept}' if kept else ''}: {pair.verdict}"

    @on(VirtualTable.Moved, "#facts")
    def tell(self, message: VirtualTable.Moved) -> None:
        """The whole value, both runs one below the other."""
        index = message.index - self._pair_lines
        detail = self.query_one("#detail", Prose)
        if index < 0:
            pair = self._pairs[message.index]
            self.set_status("enter: show this pair", "] [: next and previous pair")
            detail.show(f"{self._told_of(pair).strip()}\n{_both(pair.a, pair.b)}")
            return
        if index == 0:
            a, b = map(str, self.session.paths)
            self._tell_whole("what differs stands first", "up down: whole values", a, b)
            detail.show(_both(a, b))
            return
        fact = self._facts[index - 1]
        word = (
            "differs" if fact.differs else "is the same" if fact.a == fact.b else "is no difference"
        )
        self._tell_whole(f"{elide(fact.name, 40)} {word}", "", fact.a, fact.b)
        detail.show(f"{printable(fact.name)}\n{_both(fact.a, fact.b)}")

    def _tell_whole(self, words: str, hint: str, a: str, b: str) -> None:
        """Say something of two values; in a window too low for their pane, with the values."""
        if not self.has_class("low"):
            self.set_status(words, *filter(None, (hint,)))
            return
        first, second = printable(a, _IN_STATUS), printable(b, _IN_STATUS)
        self.set_status(f"{words}: {first}" + (f" against {second}" if a != b else ""))

    def switch(self, index: int) -> None:
        """Show the pair under the cursor."""
        if index < self._pair_lines:
            self.debugger.switch_pair(index)

    def copied_text(self) -> str:
        """All facts, tab-separated."""
        return "\n".join(
            "\t".join(printable(text, _COPIED) for text in (fact.name, fact.a, fact.b))
            for fact in self._facts
        )


def _both(first: str, second: str) -> str:
    """What either run has, one below the other."""
    return f"first:  {printable(first, 2000)}\nsecond: {printable(second, 2000)}"
