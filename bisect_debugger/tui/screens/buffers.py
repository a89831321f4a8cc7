"""Buffers: the events of one step in execution order; equal ones are counted, not listed."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import NAME_BYTES
from bisect_debugger.format.words import step_words
from bisect_debugger.tui.filters import NameFilter, Order, occurs, select
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.screens.buffer import buffer_text
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.still import Still
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Row
from bisect_debugger.views.counts import counted
from bisect_debugger.views.names import elide

_GROUP_WIDTH = 13


class BuffersScreen(BaseScreen):
    """A virtual table of one step's events."""

    HELP: ClassVar[str] = (
        "The events of one step in the order in which they happened; equal ones are counted and "
        "hidden (u shows them). The first that differs is the likeliest culprit of the step. "
        "enter shows its values, n and N go to the next and previous difference over the end of "
        "the step, / filters by name (text, !text, re:pattern, upper and lower case the same), s "
        "sorts, 7 shows how its difference grows. : and a part of a name goes to the next with it."
    )
    DEFAULT_CSS = """
    BuffersScreen #heads { height: 1; text-style: underline; }
    BuffersScreen #filter { height: 1; text-style: bold; display: none; }
    BuffersScreen #filter.active { display: block; }
    """

    def main_pane(self) -> Widget:
        """The filter where there is one, column heads, events."""
        return Vertical(
            Still(id="filter", classes="line"),
            Still(id="heads", classes="line"),
            VirtualTable(self._line, self.go_in, id="events"),
            id="main",
        )

    def side_pane(self) -> Widget:
        """The numbers of the event under the cursor."""
        return Prose(id="side")

    def __init__(self) -> None:
        """Show no step yet."""
        super().__init__()
        self.common_row = 0
        self.names = NameFilter()
        self.show_equal = False
        self.order = Order.EXECUTION
        self.listed: tuple[Row, ...] = ()
        self.rows: tuple[Row, ...] = ()
        self.loaded = False
        """A step is shown."""
        self._step = 0
        self._hidden = 0

    def on_mount(self) -> None:
        """What is listed is told by `show_step`."""
        self.query_one("#events", VirtualTable).focus()

    def begin(self) -> None:
        """Another pair: forget the step, keep filter and order."""
        self.loaded, self.rows, self.listed = False, (), ()
        self.query_one("#events", VirtualTable).show(0)

    def repaint(self) -> None:
        """Colours and symbols as they are now."""
        self._head_lines()
        table = self.query_one("#events", VirtualTable)
        table.refresh()
        if table.cursor < len(self.listed):
            # The name is as long as there is room for.
            self._tell_place(table.cursor)

    async def show_step(
        self, common_row: int, name: str = "", group: Group | None = None, *, last: bool = False
    ) -> None:
        """Show a step.

        Args:
            common_row: index of the step among the common ones.
            name: buffer to put the cursor on; else the first that differs. A filter that hides
                it is cleared, or the cursor would stand on another one.
            group: group to put the cursor into, where no name is given.
            last: put the cursor on the last line.
        """
        self.common_row = max(0, min(common_row, self.session.step_count - 1))
        self._step = await self.session.step_number(self.common_row)
        self.rows = await self.session.rows(self.common_row)
        self.loaded = True
        await self.names.learn(row.name for row in self.rows)
        if name and not self.names.matches(name):
            self.names = NameFilter()
        if not name and group is not None:
            found = [
                row for row in self.rows if row.group is group and self.names.matches(row.name)
            ]
            chosen = next((row for row in found if row.diverges), None)
            name = chosen.name if chosen is not None else ""
        self._apply(name)
        if last:
            self.query_one("#events", VirtualTable).action_edge(1)

    def go_to_name(self, word: str) -> str | None:
        """Put the cursor on the first listed event with the word in its name, or on the next one.

        Returns:
            Which of several it is, or why the cursor stays where it is; nothing where it moved to
            the only one, None where no event of the step is called so.
        """
        table = self.query_one("#events", VirtualTable)
        hits = [index for index, row in enumerate(self.listed) if occurs(word, row.name)]
        if hits:
            on_one = table.cursor in hits
            later = [index for index in hits if on_one and index > table.cursor]
            found = (later or hits)[0]
            table.move_to(found)
            if len(hits) == 1:
                return ""
            place = f"{hits.index(found) + 1} of {len(hits)} with {elide(word, 20)}"
            return f"{elide(self.listed[found].name, 40)}, {place}  (again: the next)"
        unlisted = [row for row in self.rows if occurs(word, row.name)]
        if not unlisted:
            return None
        # With a filter and equal events hidden, the way that takes one key is told first.
        matching = [row for row in unlisted if self.names.matches(row.name)]
        name = elide((matching or unlisted)[0].name, 40)
        if matching:
            return f"{name} is equal in this step  (u: show what is equal)"
        return f"the filter hides {name}  (esc: clear the filter)"

    @property
    def chosen(self) -> Row | None:
        """The event under the cursor."""
        if not self.is_built:
            return None
        table = self.query_one("#events", VirtualTable)
        return self.listed[table.cursor] if table.cursor < len(self.listed) else None

    async def set_filter(self, text: str) -> None:
        """Filter by name.

        Raises:
            BadFilter: it is impossible, and nothing has changed.
        """
        wanted = NameFilter(text)
        await wanted.learn(row.name for row in self.rows)
        self.names = wanted
        self._apply(self.chosen.name if self.chosen else "")

    def toggle_equal(self) -> None:
        """Show or hide equal events."""
        if not self.loaded:
            return
        self.show_equal = not self.show_equal
        self._apply(self.chosen.name if self.chosen else "")

    def sort(self) -> None:
        """Sort by the next order."""
        if not self.loaded:
            return
        self.order = self.order.following
        self._apply(self.chosen.name if self.chosen else "")

    async def next_divergence(self, forward: bool) -> None:
        """Go to the next or previous differing event, over the end of the step."""
        table = self.query_one("#events", VirtualTable)
        indices = [i for i, row in enumerate(self.listed) if row.diverges]
        later = [i for i in indices if (i > table.cursor if forward else i < table.cursor)]
        if later:
            table.move_to(later[0] if forward else later[-1])
            return
        start = self.common_row + 1 if forward else self.common_row
        self.set_busy("looking for it, esc stops")
        try:
            row = await self.session.next_listed(start, self.names, forward=forward)
        finally:
            self.set_busy("")
        if row is not None:
            await self.show_step(row, last=not forward)
            return
        way = "later" if forward else "earlier"
        self.say(f"no {way} event {'of the filter ' if self.names.text else ''}differs")

    def _apply(self, name: str = "") -> None:
        self.listed, self._hidden = select(
            self.rows, names=self.names, equal=self.show_equal, order=self.order
        )
        same = [i for i, row in enumerate(self.listed) if row.name == name]
        differing = [i for i in same if self.listed[i].diverges] or same
        self.query_one("#events", VirtualTable).show(
            len(self.listed), differing[0] if differing else 0
        )
        self.set_title(f"Buffers: {step_words(self._step)}, {self._differing()}")
        self._head_lines()
        if not self.listed:
            self.set_status(self._empty())
            self.query_one("#side", Prose).show("")

    def _differing(self) -> str:
        """How many events differ, of those that the filter takes where there is one."""
        taken = [row for row in self.rows if self.names.matches(row.name)]
        if self.names.text and not taken:
            return "no event has such a name"
        count = sum(row.diverges for row in taken)
        events = counted(len(taken), "filtered event" if self.names.text else "event")
        return f"{count} of {events} differ{'s' * (count == 1)}"

    def _head_lines(self) -> None:
        """Say what is listed: by which filter, and in which order."""
        line = self.query_one("#filter", Still)
        line.set_class(bool(self.names.text), "active")
        hidden = f", {self._hidden} equal hidden" if self._hidden else ""
        found = f"{len(self.listed)} of {counted(len(self.rows), 'event')}{hidden}  (esc: clear)"
        room = self.query_one("#main").size.width or self.size.width
        name = elide(self.names.text, max(8, room - len(found) - len('filter "": ')))
        line.say(f'filter "{name}": {found}')
        order = f"in order of {self.order.value}  (s: by {self.order.following.value})"
        self.query_one("#heads", Still).say(f"  {'group':<{_GROUP_WIDTH}}buffer, {order}")

    def _empty(self) -> str:
        if not self.rows:
            return "no event was recorded in this step (level coarse keeps none)  3: its groups"
        if self.names.text:
            way = "u: show equal  esc: clear" if self._hidden else "esc: clear the filter"
            what = "nothing that differs" if self._hidden else "nothing"
            return f"{what} matches {elide(self.names.text, 30)}  ({way})"
        return f"none of {counted(len(self.rows), 'event')} differs  (u: show what is equal)"

    def _line(self, index: int, width: int) -> Text:
        return row_line(self.listed[index], width, self.look)

    @on(VirtualTable.Moved, "#events")
    def preview(self, message: VirtualTable.Moved) -> None:
        """Say the full name, and show the numbers beside where there is room."""
        if message.index >= len(self.listed):
            return
        self._tell_place(message.index)
        if self.has_class("wide"):
            self.read("preview", self._numbers, self.listed[message.index])

    def _tell_place(self, index: int) -> None:
        row = self.listed[index]
        hidden = f", {self._hidden} equal hidden" if self._hidden else ""
        place = f"{index + 1}/{len(self.listed)}{hidden}"
        room = self.app.size.width - len(place) - len(row.status.word) - 6
        equal = "u: hide equal" if self.show_equal else "u: show equal"
        self.set_status(
            f"{place}  {elide(row.name, room)}  {row.status.word}", "enter: values", equal
        )

    async def _numbers(self, row: Row) -> None:
        view = await self.session.buffer(row)
        width = self.app.size.width // 2 - 4
        self.query_one("#side", Prose).show(buffer_text(view, width, self.look))

    def go_in(self, index: int) -> None:
        """Show the numbers of the event."""
        self.debugger.show_row(self.listed[index])

    def copied_text(self) -> str:
        """The listed events."""
        return "\n".join(
            f"{row.status.symbol} {row.group.label} {printable(row.name, NAME_BYTES)}"
            for row in self.listed
        )


def row_line(row: Row, width: int, look: Look) -> Text:
    """One event as a line: symbol, group, name, which call it is, whether it moved."""
    again = f" #{row.occurrence + 1}" if row.occurrence else ""
    moved = " moved" if row.moved else ""
    room = width - _GROUP_WIDTH - 2 - len(again) - len(moved)
    line = look.symbol(row.status)
    line.append(f" {row.group.label:<{_GROUP_WIDTH}}", "")
    line.append(f"{elide(row.name, room)}{again}{moved}", "")
    line.truncate(max(0, width))
    return line
