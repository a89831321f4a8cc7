"""The ribbon: groups downwards, steps to the right, a character a cell."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.widgets.ribbon_page import (
    BESIDE_GROUPS,
    HEAD,
    Page,
    cell_width,
    groups_in_view,
)
from bisect_debugger.twins.bands import Band
from bisect_debugger.views.ribbon import Ribbon, zoom_levels

PATIENCE_SECONDS = 0.1
"""So long the page before stays in view while cells are read; a page read within it does not
flicker, and is painted once."""


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
    DEFAULT_CSS = "RibbonView { height: auto; min-height: 4; max-height: 100%; }"

    row: var[int] = var(0, init=False)
    group: var[int] = var(0, init=False)

    class Moved(Message):
        """The cursor is on another cell, or the cells are others.

        Who takes it refreshes the ribbon, together with the words about it: that is one frame.
        """

    class Fitted(Message):
        """The zoom follows the width, which was not known before."""

    class Wanted(Message):
        """Cells ``first:last`` came into view and were not read yet."""

        def __init__(self, each: int, first: int, last: int) -> None:
            self.each, self.first, self.last = each, first, last
            super().__init__()

    def __init__(self, look: Look, choose: Callable[[], None]) -> None:
        """Show nothing yet.

        Args:
            look: how statuses are painted.
            choose: the cell under the cursor was chosen. No message, which the next key would
                overtake.
        """
        super().__init__(id="ribbon")
        self.look = look
        self._choose = choose
        self.each = 1
        """Steps a cell."""
        self.groups: tuple[Group, ...] = tuple(Group)
        self._ribbon = Ribbon(0, ())
        self._marks: Mapping[int, str] = {}
        self._asked: tuple[int, int, int] | None = None
        self._waiting: Timer | None = None
        self._slow = False
        """What was asked for last takes its time: what is known is painted meanwhile."""
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
        self.styles.height = len(self.groups) + BESIDE_GROUPS
        self.set_reactive(RibbonView.row, max(0, min(row, ribbon.steps - 1)))
        self.changed()

    def changed(self) -> None:
        """The cells are others: paint them, and ask for those that are missing."""
        self._asked = None
        self._ask_for_page()
        self.refresh()
        self._paint()

    # --- geometry: the page of cells that holds the cursor

    @property
    def cells_there(self) -> int:
        """Cells of the whole ribbon."""
        return self._ribbon.count(self.each)

    @property
    def _cell_width(self) -> int:
        return cell_width(self.cells_there, self.size.width)

    @property
    def columns(self) -> int:
        """Cells on a page."""
        return max(1, (self.size.width - HEAD) // self._cell_width)

    @property
    def page(self) -> Page:
        """The cells in view."""
        columns, cursor = self.columns, self.row // self.each
        first, lines = cursor // columns * columns, self._lines
        return Page(
            each=self.each,
            first=first,
            last=min(self.cells_there, first + columns),
            cell_width=self._cell_width,
            groups=self.groups[lines.start : lines.stop],
            hidden=len(self.groups) - len(lines),
            cursor=cursor,
            group=self.group - lines.start,
            focused=self.has_focus,
        )

    @property
    def _lines(self) -> range:
        """Which groups there is room for."""
        return groups_in_view(len(self.groups), self.group, self.size.height)

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
        self._slow = False
        self._paint()

    def zoom(self, by: int) -> bool:
        """Take the next finer (-1) or coarser (1) zoom; False where there is none."""
        finer = [level for level in self._levels if level < self.each]
        coarser = [level for level in self._levels if level > self.each]
        wanted = finer[-1:] if by < 0 else coarser[:1]
        if not wanted:
            return False
        self.each = wanted[0]
        self._moved()
        return True

    @property
    def _levels(self) -> tuple[int, ...]:
        return zoom_levels(self._ribbon.steps, max(1, self.size.width - HEAD))

    def fit_whole(self) -> None:
        """Zoom out until the whole run is in view, once the width is known."""
        self._to_fit = not self.size.width
        if not self._to_fit and self.columns < self._ribbon.steps:
            self.each = max(self.each, self._levels[-1])
            self._moved()

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
            self._choose()

    def watch_row(self) -> None:
        """Paint the cursor, tell the screen."""
        self._moved()

    def watch_group(self) -> None:
        """Paint the cursor, tell the screen."""
        self._moved()

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked cell; choose it where the cursor is there."""
        number = self.page.first + (event.x - HEAD) // self._cell_width
        lines, line = self._lines, event.y - 1
        if event.x < HEAD or not 0 <= number < self.cells_there:
            return
        inside = 0 <= line < len(lines)
        if number == self.row // self.each and (not inside or lines[line] == self.group):
            self.action_choose()
            return
        if inside:
            self.group = lines[line]
        self.row = number * self.each

    def on_mouse_scroll_down(self) -> None:
        """Move on by some cells."""
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        """Move back by some cells."""
        self.action_move(-3)

    # --- painting

    def _moved(self) -> None:
        """Paint where the cursor is now, as soon as the page is there or takes its time."""
        if not self._ask_for_page() or self._slow:
            self._paint()
        elif self._waiting is None:
            self._waiting = self.set_timer(PATIENCE_SECONDS, self._paint_what_is_known)

    def _paint_what_is_known(self) -> None:
        self._slow = True
        self._paint()

    def _paint(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self.post_message(self.Moved())

    def _ask_for_page(self) -> bool:
        """Ask for the cells of the page that are missing; True where some are."""
        if not self.size.width:
            return False
        page = (self.each, self.page.first, self.page.last)
        if not self._ribbon.missing(*page):
            return False
        if self._asked != page:
            self._asked = page
            self.post_message(self.Wanted(*page))
        return True

    def render_line(self, y: int) -> Strip:
        """Marks, a line for each group, the cursor, the numbers of steps."""
        base = self.rich_style
        pieces = self.page.line(y, self.cell, self._marks, self.look)
        segments = [Segment(text, base + style) for text, style in pieces]
        return Strip(segments).adjust_cell_length(self.size.width, base)

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
        self.changed()
