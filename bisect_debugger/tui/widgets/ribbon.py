"""The ribbon: groups downwards, steps to the right, a character a cell."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.look import SHORT_GROUPS, Look
from bisect_debugger.twins.bands import Band
from bisect_debugger.views.ribbon import Ribbon, zoom_levels

HEAD = 10
"""Columns for the names of the groups."""

_WIDEST_CELL = 6
_LABEL_EVERY = 10


class RibbonView(Widget, can_focus=True):
    """A cell a step and group, with a cursor.

    | key | does |
    |---|---|
    | left right, h l | move by a cell |
    | up down, k j | move by a group |
    | page up, page down | move by a page |
    | g G, home end | first and last step |
    | enter | go into the step |

    A click moves the cursor; a click on the cursor goes in. The wheel moves along the steps.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1)", "left", show=False),
        Binding("right,l", "move(1)", "right", show=False),
        Binding("up,k", "group(-1)", "up", show=False),
        Binding("down,j", "group(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page back", show=False),
        Binding("pagedown", "page(1)", "page on", show=False),
        Binding("g,home", "edge(0)", "first", show=False),
        Binding("G,end", "edge(1)", "last", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]
    DEFAULT_CSS = "RibbonView { height: auto; min-height: 4; }"

    row: reactive[int] = reactive(0)
    group: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor is on another cell, or the cells are others."""

    class Chosen(Message):
        """A cell was chosen."""

    class Fitted(Message):
        """The zoom follows the width, which was not known before."""

    class Wanted(Message):
        """Cells ``first:last`` came into view and were not read yet."""

        def __init__(self, each: int, first: int, last: int) -> None:
            self.each, self.first, self.last = each, first, last
            super().__init__()

    def __init__(self, look: Look) -> None:
        """Show nothing yet."""
        super().__init__(id="ribbon")
        self.look = look
        self.each = 1
        """Steps a cell."""
        self.groups: tuple[Group, ...] = tuple(Group)
        self._ribbon = Ribbon(0, ())
        self._marks: Mapping[int, str] = {}
        self._asked: tuple[int, int, int] | None = None
        self._to_fit = False

    def show(self, ribbon: Ribbon, marks: Mapping[int, str], row: int) -> None:
        """Show a ribbon.

        Args:
            ribbon: the cells, filled as they are read.
            marks: letters over the cell of a common row, e.g. ``O`` for an origin.
            row: where the cursor stands.
        """
        self._ribbon, self._marks = ribbon, marks
        self.groups = ribbon.recorded or tuple(Group)
        self.set_reactive(RibbonView.group, min(self.group, len(self.groups) - 1))
        self.styles.height = len(self.groups) + 3
        self.set_reactive(RibbonView.row, max(0, min(row, ribbon.steps - 1)))
        self.changed()

    def changed(self) -> None:
        """The cells are others: paint them, and ask for those that are missing."""
        self._asked = None
        self.refresh()
        self.post_message(self.Moved())

    # --- geometry: the page of cells that holds the cursor

    @property
    def cells_there(self) -> int:
        """Cells of the whole ribbon."""
        return self._ribbon.count(self.each)

    @property
    def _cell_width(self) -> int:
        room = max(1, self.size.width - HEAD)
        return max(1, min(_WIDEST_CELL, room // max(1, self.cells_there)))

    @property
    def columns(self) -> int:
        """Cells on a page."""
        return max(1, (self.size.width - HEAD) // self._cell_width)

    @property
    def _first(self) -> int:
        return self.row // self.each // self.columns * self.columns

    def cell(self, number: int) -> Band | None:
        """One cell by its number, None while it is being read."""
        return self._ribbon.cell(self.each, number)

    @property
    def cursor_cell(self) -> Band | None:
        """The cell under the cursor, None while it is being read."""
        return self.cell(self.row // self.each)

    @property
    def cursor_rows(self) -> tuple[int, int]:
        """Common rows ``lo:hi`` of the cell under the cursor."""
        lo = self.row // self.each * self.each
        return lo, min(lo + self.each, self._ribbon.steps)

    @property
    def cursor_group(self) -> Group:
        """The group under the cursor."""
        return self.groups[self.group]

    # --- moving

    def filled(self) -> None:
        """Cells were read: paint them."""
        self.refresh()
        self.post_message(self.Moved())

    def zoom(self, by: int) -> bool:
        """Take the next finer (-1) or coarser (1) zoom; False where there is none."""
        levels = zoom_levels(self._ribbon.steps, max(1, self.size.width - HEAD))
        finer = [level for level in levels if level < self.each]
        coarser = [level for level in levels if level > self.each]
        wanted = finer[-1:] if by < 0 else coarser[:1]
        if not wanted:
            return False
        self.each = wanted[0]
        self.changed()
        return True

    def fit_whole(self) -> None:
        """Zoom out until the whole run is in view, once the width is known."""
        self._to_fit = not self.size.width
        if not self._to_fit and self.columns < self._ribbon.steps:
            while self.zoom(1):
                pass

    def action_move(self, by: int) -> None:
        """Move by cells."""
        number = max(0, min(self.row // self.each + by, self.cells_there - 1))
        self.row = min(number * self.each, self._ribbon.steps - 1) if self._ribbon.steps else 0

    def action_page(self, by: int) -> None:
        """Move by pages."""
        self.action_move(by * self.columns)

    def action_edge(self, last: int) -> None:
        """Move to the first or last step."""
        self.row = max(0, self._ribbon.steps - 1) if last else 0

    def action_group(self, by: int) -> None:
        """Move by groups."""
        self.group = max(0, min(self.group + by, len(self.groups) - 1))

    def action_choose(self) -> None:
        """Choose the cell under the cursor."""
        if self._ribbon.steps:
            self.post_message(self.Chosen())

    def watch_row(self) -> None:
        """Paint the cursor, tell the screen."""
        self.refresh()
        self.post_message(self.Moved())

    def watch_group(self) -> None:
        """Paint the cursor, tell the screen."""
        self.refresh()
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked cell; choose it where the cursor is there."""
        number = self._first + (event.x - HEAD) // self._cell_width
        line = event.y - 1
        if event.x < HEAD or not 0 <= number < self.cells_there:
            return
        inside = 0 <= line < len(self.groups)
        if number == self.row // self.each and (not inside or line == self.group):
            self.action_choose()
            return
        if inside:
            self.group = line
        self.row = number * self.each

    def on_mouse_scroll_down(self) -> None:
        """Move on by some cells."""
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        """Move back by some cells."""
        self.action_move(-3)

    # --- painting

    def render_line(self, y: int) -> Strip:
        """Marks, a line for each group, the cursor, the numbers of steps."""
        base = self.rich_style
        if y == 0:
            self._ask_for_page()
        segments = [Segment(text, base + style) for text, style in self._line(y)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _line(self, y: int) -> list[tuple[str, Style]]:
        plain = Style()
        last = min(self.cells_there, self._first + self.columns)
        numbers = range(self._first, last)
        if y == 0:
            return [(" " * HEAD, plain), (self._marks_line(numbers), Style(bold=True))]
        if 1 <= y <= len(self.groups):
            return self._group_line(y - 1, numbers)
        if y == len(self.groups) + 1:
            place = (self.row // self.each - self._first) * self._cell_width
            return [(" " * (HEAD + place) + "^", Style(bold=True))]
        if y == len(self.groups) + 2:
            return [(f"{'step':<{HEAD}}{self._labels(numbers)}", plain)]
        return []

    def _marks_line(self, numbers: Sequence[int]) -> str:
        line = ""
        for number in numbers:
            lo = number * self.each
            found = [mark for row, mark in self._marks.items() if lo <= row < lo + self.each]
            # An origin goes before what it made visible, where there is room for one letter.
            mark = "".join(sorted(set("".join(found))))[: self._cell_width]
            line += mark.ljust(self._cell_width)
        return line

    def _group_line(self, index: int, numbers: Sequence[int]) -> list[tuple[str, Style]]:
        group = self.groups[index]
        here = index == self.group
        head = Style(reverse=True) if here and self.has_focus else Style(bold=here)
        line = [(f"{SHORT_GROUPS[group]:<{HEAD - 1}}", head), (" ", Style())]
        for number in numbers:
            cell = self.cell(number)
            status = None if cell is None else cell.statuses[group]
            style = Style() if status is None else self.look.style(status)
            character = "?" if status is None else self.look.character(status)
            if here and number == self.row // self.each:
                style += Style(reverse=True)
            line.append((character, style))
            if self._cell_width > 1:
                line.append((" " * (self._cell_width - 1), Style()))
        return line

    def _labels(self, numbers: Sequence[int]) -> str:
        line, free = "", 0
        for number in numbers:
            column = (number - self._first) * self._cell_width
            label = self._label(number)
            wide = self._cell_width == _WIDEST_CELL
            if label and column >= free and (wide or number % _LABEL_EVERY == 0):
                line = f"{line:<{column}}{label}"
                free = column + len(label) + 1
        return line

    def _label(self, number: int) -> str:
        cell = self.cell(number)
        if cell is None:
            return ""
        return "init" if cell.first_step < 0 else str(cell.first_step)

    def _ask_for_page(self) -> None:
        page = (self.each, self._first, self._first + self.columns)
        if self._asked != page and self._ribbon.missing(*page):
            self._asked = page
            self.post_message(self.Wanted(*page))

    def on_focus(self) -> None:
        """The cursor shows where the keys go."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor shows where the keys went."""
        self.refresh()

    def on_resize(self) -> None:
        """Pages are as wide as the screen."""
        self._asked = None
        if self._to_fit and self.size.width:
            self.fit_whole()
            self.post_message(self.Fitted())
        self.refresh()
