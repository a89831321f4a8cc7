"""Buffers: the events of one step in execution order; equal ones are counted, not listed."""

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.tui.filters import BadFilter, Order, select
from bisect_debugger.tui.look import elide, symbol
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.screens.buffer import buffer_text
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Row

_GROUP_WIDTH = 13


class BuffersScreen(BaseScreen):
    """A virtual table of one step's events."""

    DEFAULT_CSS = """
    BuffersScreen #heads { height: 1; text-style: underline; }
    """

    def main_pane(self) -> Widget:
        """Column heads and events."""
        return Vertical(
            Static(id="heads", markup=False), VirtualTable(self._line, id="events"), id="main"
        )

    def side_pane(self) -> Widget:
        """The numbers of the event under the cursor."""
        return Prose(id="side")

    def __init__(self) -> None:
        """Show no step yet."""
        super().__init__()
        self.common_row = 0
        self.filter_text = ""
        self.show_equal = False
        self.order = Order.EXECUTION
        self._rows: tuple[Row, ...] = ()
        self._all: tuple[Row, ...] = ()
        self._step = 0
        self._hidden = 0

    def on_mount(self) -> None:
        """Show the step that was asked for last."""
        self.query_one("#heads", Static).update(Text(f"  {'group':<{_GROUP_WIDTH}}buffer"))
        self.query_one("#events", VirtualTable).focus()

    async def show_step(self, common_row: int, name: str = "") -> None:
        """Show a step.

        Args:
            common_row: index of the step among the common ones.
            name: buffer to put the cursor on; else the first that differs.
        """
        self.common_row = max(0, min(common_row, self.session.step_count - 1))
        self._step = await self.session.step_number(self.common_row)
        self._all = await self.session.rows(self.common_row)
        self._apply(name)

    @property
    def loaded(self) -> bool:
        """A step is shown."""
        return bool(self._all)

    def go_to_name(self, word: str) -> bool:
        """Put the cursor on the first listed event with the word in its name."""
        for index, row in enumerate(self._rows):
            if word in row.name:
                self.query_one("#events", VirtualTable).move_to(index)
                return True
        return False

    @property
    def chosen(self) -> Row | None:
        """The event under the cursor."""
        if not self.is_mounted:
            return None
        table = self.query_one("#events", VirtualTable)
        return self._rows[table.cursor] if table.cursor < len(self._rows) else None

    def set_filter(self, text: str) -> None:
        """Filter by name; an impossible filter is explained and changes nothing."""
        before, self.filter_text = self.filter_text, text
        try:
            self._apply()
        except BadFilter as error:
            self.filter_text = before
            self.set_status(str(error))

    def toggle_equal(self) -> None:
        """Show or hide equal events."""
        self.show_equal = not self.show_equal
        self._apply(self.chosen.name if self.chosen else "")

    def sort(self) -> None:
        """Sort by the next order."""
        self.order = self.order.following
        self._apply(self.chosen.name if self.chosen else "")

    async def next_divergence(self, forward: bool) -> None:
        """Go to the next or previous differing event, over the end of the step."""
        table = self.query_one("#events", VirtualTable)
        indices = [i for i, row in enumerate(self._rows) if row.status.diverges]
        later = [i for i in indices if (i > table.cursor if forward else i < table.cursor)]
        if later:
            table.move_to(later[0] if forward else later[-1])
        elif forward:
            row = await self.session.next_different(self.common_row + 1)
            if row is None:
                self.set_status("no further step differs")
            else:
                await self.show_step(row)
        else:
            self.set_status("no earlier event of this step differs")

    def _apply(self, name: str = "") -> None:
        self._rows, self._hidden = select(
            self._all, text=self.filter_text, equal=self.show_equal, order=self.order
        )
        wanted = [i for i, row in enumerate(self._rows) if row.name == name]
        self.query_one("#events", VirtualTable).show(len(self._rows), wanted[0] if wanted else 0)
        differing = sum(row.status.diverges for row in self._all)
        self.set_title(
            f"Buffers: {step_words(self._step)}, {differing} of {len(self._all)} events differ"
        )
        if not self._rows:
            self.set_status(self._empty())

    def _empty(self) -> str:
        if not self._all:
            return "no event was recorded in this step"
        if self.filter_text:
            return f"nothing matches {elide(self.filter_text, 30)}  (/ enter: no filter)"
        return f"all {len(self._all)} events are equal  (u: show them)"

    def _line(self, index: int, width: int) -> Text:
        row = self._rows[index]
        again = f" #{row.occurrence + 1}" if row.occurrence else ""
        moved = " moved" if row.moved else ""
        room = width - _GROUP_WIDTH - 2 - len(again) - len(moved)
        line = symbol(row.status, ascii_only=self.ascii_only)
        line.append(f" {row.group.label:<{_GROUP_WIDTH}}", "")
        line.append(f"{elide(row.name, room)}{again}{moved}", "")
        return line

    @on(VirtualTable.Moved, "#events")
    def preview(self, message: VirtualTable.Moved) -> None:
        """Say the full name, and show the numbers beside where there is room."""
        if message.index >= len(self._rows):
            return
        row = self._rows[message.index]
        hidden = f", {self._hidden} equal hidden" if self._hidden else ""
        place = f"{message.index + 1}/{len(self._rows)}{hidden}"
        room = self.app.size.width - len(place) - len(row.status.word) - 6
        self.set_status(f"{place}  {elide(row.name, room)}  {row.status.word}")
        if self.has_class("wide"):
            self.run_worker(self._numbers(row), group="preview", exclusive=True)

    async def _numbers(self, row: Row) -> None:
        view = await self.session.buffer(row)
        self.query_one("#side", Prose).show(buffer_text(view, self.app.size.width // 2 - 4))

    @on(VirtualTable.Chosen, "#events")
    def go_in(self, message: VirtualTable.Chosen) -> None:
        """Show the numbers of the event."""
        self.debugger.show_row(self._rows[message.index])

    def copied_text(self) -> str:
        """The listed events."""
        return "\n".join(f"{row.status.symbol} {row.group.label} {row.name}" for row in self._rows)
