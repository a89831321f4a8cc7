"""Buffers: the events of one step in execution order; equal ones are counted, not listed."""

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.tui.filters import BadFilter, Order, name_filter, select
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
    BuffersScreen #filter { height: 1; text-style: bold; display: none; }
    BuffersScreen #filter.active { display: block; }
    """

    def main_pane(self) -> Widget:
        """The filter where there is one, column heads, events."""
        return Vertical(
            Static(id="filter", classes="line", markup=False),
            Static(id="heads", classes="line", markup=False),
            VirtualTable(self._line, id="events"),
            id="main",
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
        self.query_one("#events", VirtualTable).focus()

    async def show_step(self, common_row: int, name: str = "") -> None:
        """Show a step.

        Args:
            common_row: index of the step among the common ones.
            name: buffer to put the cursor on; else the first that differs. A filter that hides
                it is cleared, or the cursor would stand on another one.
        """
        self.common_row = max(0, min(common_row, self.session.step_count - 1))
        self._step = await self.session.step_number(self.common_row)
        self._all = await self.session.rows(self.common_row)
        if self.filter_text and name and not name_filter(self.filter_text)(name):
            self.filter_text = ""
        self._apply(name)

    @property
    def loaded(self) -> bool:
        """A step is shown."""
        return bool(self._all)

    def go_to_name(self, word: str) -> str:
        """Put the cursor on the first listed event with the word in its name.

        Returns:
            Why the cursor stays where it is, or nothing where it moved.
        """
        for index, row in enumerate(self._rows):
            if word in row.name:
                self.query_one("#events", VirtualTable).move_to(index)
                return ""
        unlisted = [row for row in self._all if word in row.name]
        if not unlisted:
            return f"no buffer of this step has {elide(word, 40)} in its name"
        # With a filter and equal events hidden, the way that takes one key is told first.
        matching = [row for row in unlisted if self._matches(row)]
        name = elide((matching or unlisted)[0].name, 40)
        if matching:
            return f"{name} is equal in this step  (u: show what is equal)"
        return f"the filter hides {name}  (esc: clear the filter)"

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
            self._apply(self.chosen.name if self.chosen else "")
        except BadFilter as error:
            self.filter_text = before
            self.say(str(error))

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
            return
        ask = self.session.next_different if forward else self.session.previous_different
        row = await ask(self.common_row + 1 if forward else self.common_row)
        while row is not None and not self._lists_any(await self.session.rows(row)):
            row = await ask(row + 1 if forward else row)
        if row is not None:
            await self.show_step(row)
            if not forward:
                table.action_edge(1)
            return
        way = "later" if forward else "earlier"
        self.say(f"no {way} event {'of the filter ' if self.filter_text else ''}differs")

    def _lists_any(self, rows: Sequence[Row]) -> bool:
        """Whether the filter leaves a difference; without a filter every step will do."""
        return not self.filter_text or any(
            row.status.diverges and self._matches(row) for row in rows
        )

    def _matches(self, row: Row) -> bool:
        return not self.filter_text or name_filter(self.filter_text)(row.name)

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
        self._head_lines()
        if not self._rows:
            self.set_status(self._empty())
            self.query_one("#side", Prose).show("")

    def _head_lines(self) -> None:
        """Say what is listed: by which filter, and in which order."""
        line = self.query_one("#filter", Static)
        line.set_class(bool(self.filter_text), "active")
        hidden = f", {self._hidden} equal hidden" if self._hidden else ""
        found = f"{len(self._rows)} of {len(self._all)} events{hidden}  (esc: clear)"
        room = self.query_one("#main").size.width or self.size.width
        name = elide(self.filter_text, max(8, room - len(found) - len('filter "": ')))
        line.update(f'filter "{name}": {found}')
        order = f"in order of {self.order.value}  (s: by {self.order.following.value})"
        self.query_one("#heads", Static).update(f"  {'group':<{_GROUP_WIDTH}}buffer, {order}")

    def _empty(self) -> str:
        if not self._all:
            return "no event was recorded in this step"
        if self.filter_text:
            way = "u: show equal  esc: clear" if self._hidden else "esc: clear the filter"
            what = "nothing that differs" if self._hidden else "nothing"
            return f"{what} matches {elide(self.filter_text, 30)}  ({way})"
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
