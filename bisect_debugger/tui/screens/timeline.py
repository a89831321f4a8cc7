"""Timeline: steps by groups, one cell each; read in blocks as they come into view."""

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.format.groups import Group
from bisect_debugger.tui.look import groups_legend, short_group, symbol, symbols_legend
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.session import BLOCK
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status

_STEP_WIDTH = 12
_CELL_WIDTH = 5
_NARROW_CELL = 4
_TABLE_WIDTH = _STEP_WIDTH + _CELL_WIDTH * len(Group) + 1


class TimelineScreen(BaseScreen):
    """The ribbon of the whole run."""

    # Beside the second pane the ribbon keeps the width in which every group has its column.
    DEFAULT_CSS = f"""
    TimelineScreen #heads {{ height: 1; text-style: underline; }}
    TimelineScreen #legend {{ height: 1; color: $text-muted; }}
    TimelineScreen.wide #main {{ min-width: {_TABLE_WIDTH}; }}
    """

    def main_pane(self) -> Widget:
        """Column heads, the ribbon, and what its short heads mean."""
        return Vertical(
            Static(id="heads", classes="line", markup=False),
            VirtualTable(self._line, id="ribbon"),
            Static(id="legend", classes="line", markup=False),
            id="main",
        )

    def side_pane(self) -> Widget:
        """What the groups are."""
        return Prose(id="side")

    def on_mount(self) -> None:
        """Show the ribbon; blocks are read when they come into view."""
        self._cells: dict[int, tuple[int, tuple[Status, ...]]] = {}
        self._asked: set[int] = set()
        self.set_title(f"Timeline: {self.session.step_count} steps")
        table = self.query_one("#ribbon", VirtualTable)
        table.show(self.session.step_count)
        table.focus()
        legend = Text("\n").join([symbols_legend(ascii_only=self.ascii_only), groups_legend()])
        self.query_one("#side", Prose).show(legend)
        self.run_worker(self._go_to_onset(), exclusive=True)

    def on_resize(self) -> None:
        """Heads as wide as there is room for."""
        super().on_resize()
        cell = self._cell_width()
        heads = "".join(f"{short_group(group, cell - 1):<{cell}}" for group in Group).rstrip()
        self.query_one("#heads", Static).update(f"{'step':<{_STEP_WIDTH}}{heads}")
        out, scratch = (short_group(g, cell - 1) for g in (Group.GRAD_OUT, Group.GRAD_SCRATCH))
        words = f"{out}: gradient of outputs  {scratch}: per backward pass  ?: all  < onset"
        self.query_one("#legend", Static).update(words)

    def _cell_width(self) -> int:
        return _CELL_WIDTH if self.app.size.width >= _TABLE_WIDTH else _NARROW_CELL

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
        gap = " " * (self._cell_width() - 1)
        for place, status in enumerate(statuses):
            line.append(gap if place else "")
            line.append_text(symbol(status, ascii_only=self.ascii_only))
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
        self._say_where()

    @on(VirtualTable.Moved, "#ribbon")
    def say_where(self) -> None:
        """Say in words what the cells of the step are."""
        self._say_where()

    def _say_where(self) -> None:
        known = self._cells.get(self.query_one("#ribbon", VirtualTable).cursor)
        if known is None:
            return
        step, statuses = known
        differing = [
            group for group, status in zip(Group, statuses, strict=True) if status.diverges
        ]
        words = ", ".join(group.label for group in differing)
        if len(words) > self.app.size.width - 40:
            words = " ".join(short_group(group, _CELL_WIDTH - 1) for group in differing)
        what = f"differs in {words}" if differing else "nothing differs"
        self.set_status(f"enter: events  {step_words(step)}: {what}")

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
            row = await self.session.previous_different(table.cursor)
        if row is None:
            self.say(f"no {'later' if forward else 'earlier'} step differs")
        else:
            table.move_to(row)

    def copied_text(self) -> str:
        """The steps that were read, in words."""
        lines = []
        for step, statuses in self._cells.values():
            names = [g.label for g, s in zip(Group, statuses, strict=True) if s.diverges]
            lines.append(f"{step_words(step)}: {', '.join(names) or 'equal'}")
        return "\n".join(lines)
