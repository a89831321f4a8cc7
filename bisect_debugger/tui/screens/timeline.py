"""Timeline: steps by groups, one cell each; read in blocks as they come into view."""

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.format.groups import Group
from bisect_debugger.tui.look import SHORT_GROUPS, symbol
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status

BLOCK = 256
"""Steps per read."""

_STEP_WIDTH = 12
_CELL_WIDTH = 5


class TimelineScreen(BaseScreen):
    """The ribbon of the whole run."""

    DEFAULT_CSS = """
    TimelineScreen #heads { height: 1; text-style: underline; }
    """

    def main_pane(self) -> Widget:
        """Column heads and the ribbon."""
        return Vertical(
            Static(id="heads", markup=False), VirtualTable(self._line, id="ribbon"), id="main"
        )

    def side_pane(self) -> Widget:
        """What the groups are."""
        return Prose(id="side")

    def on_mount(self) -> None:
        """Show the ribbon; blocks are read when they come into view."""
        self._cells: dict[int, tuple[int, tuple[Status, ...]]] = {}
        self._asked: set[int] = set()
        self.set_title(f"Timeline: {self.session.step_count} steps")
        heads = "".join(f"{SHORT_GROUPS[group]:<{_CELL_WIDTH}}" for group in Group)
        self.query_one("#heads", Static).update(Text(f"{'step':<{_STEP_WIDTH}}{heads}"))
        table = self.query_one("#ribbon", VirtualTable)
        table.show(self.session.step_count)
        table.focus()
        self.query_one("#side", Prose).show(_legend(self.ascii_only))
        self.run_worker(self._go_to_onset(), exclusive=True)

    async def _go_to_onset(self) -> None:
        diagnosis = await self.session.diagnose()
        if diagnosis.onset is not None:
            row = await self.session.row_of_step(diagnosis.onset.step)
            self.query_one("#ribbon", VirtualTable).move_to(row or 0)

    def _line(self, index: int, width: int) -> Text:
        known = self._cells.get(index)
        if known is None:
            self._ask(index // BLOCK)
            return Text("...")
        step, statuses = known
        line = Text(f"{step_words(step)}{self._mark(step)}".ljust(_STEP_WIDTH))
        for status in statuses:
            line.append_text(symbol(status, ascii_only=self.ascii_only))
            line.append(" " * (_CELL_WIDTH - 1))
        return line

    def _mark(self, step: int) -> str:
        diagnosis = self.session.diagnosis
        if diagnosis is None or diagnosis.onset is None:
            return ""
        if diagnosis.onset.step == step:
            return " <"
        return ""

    def _ask(self, block: int) -> None:
        if block not in self._asked:
            self._asked.add(block)
            self.run_worker(self._read(block), group="cells")

    async def _read(self, block: int) -> None:
        lo = block * BLOCK
        cells = await self.session.cells(lo, lo + BLOCK)
        self._cells.update(enumerate(cells, lo))
        self.query_one("#ribbon", VirtualTable).refresh()

    @on(VirtualTable.Moved, "#ribbon")
    def say_where(self, message: VirtualTable.Moved) -> None:
        """Say in words what the cells of the step are."""
        known = self._cells.get(message.index)
        if known is None:
            return
        step, statuses = known
        differing = [
            group.label for group, status in zip(Group, statuses, strict=True) if status.diverges
        ]
        words = ", ".join(differing) if differing else "nothing differs"
        self.set_status(f"{step_words(step)}: {words}  (< onset, enter: its events)")

    @on(VirtualTable.Chosen, "#ribbon")
    def go_in(self, message: VirtualTable.Chosen) -> None:
        """Show the events of the step."""
        self.debugger.show_step(message.index)

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a step."""
        self.query_one("#ribbon", VirtualTable).move_to(row)

    async def next_divergence(self, forward: bool) -> None:
        """Go to the next or previous step in which anything differs."""
        table = self.query_one("#ribbon", VirtualTable)
        if forward:
            row = await self.session.next_different(table.cursor + 1)
        else:
            cells = await self.session.cells(0, table.cursor)
            differing = [
                index
                for index, (_, statuses) in enumerate(cells)
                if any(status.diverges for status in statuses)
            ]
            row = differing[-1] if differing else None
        if row is None:
            self.set_status("no further step differs")
        else:
            table.move_to(row)

    def copied_text(self) -> str:
        """The steps that were read, in words."""
        lines = []
        for step, statuses in self._cells.values():
            names = [g.label for g, s in zip(Group, statuses, strict=True) if s.diverges]
            lines.append(f"{step_words(step)}: {', '.join(names) or 'equal'}")
        return "\n".join(lines)


def _legend(ascii_only: bool) -> Text:
    text = Text("Symbols\n", "bold")
    for status in Status:
        text.append_text(symbol(status, ascii_only=ascii_only))
        text.append(f"  {status.word}\n")
    text.append("\nGroups\n", "bold")
    for group in Group:
        text.append(f"{SHORT_GROUPS[group]:<5}{group.label}: {group.meaning}\n")
    return text
