"""A table that renders only what is in view.

Textual's DataTable measures every cell (100,000 rows take 16 s); here a line is made when it is
painted, so a million rows cost nothing until somebody looks.
"""

from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

Line = Callable[[int, int], Text]
"""(index, width) -> the line as styled text."""


class VirtualTable(ScrollView, can_focus=True):
    """Lines with a cursor.

    | key | does |
    |---|---|
    | up down, j k | move the cursor |
    | page up, page down | move by a page |
    | g G, home end | first and last line |
    | enter | choose the line |

    A click moves the cursor; a click on the cursor's line chooses it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("g,home", "edge(0)", "first", show=False),
        Binding("G,end", "edge(1)", "last", show=False),
        Binding("enter", "choose", "choose", show=False),
    ]
    DEFAULT_CSS = """
    VirtualTable { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    """

    cursor: var[int] = var(0, init=False)

    class Moved(Message):
        """The cursor is on another line.

        Who takes it calls `follow`, together with what is said about the line: that is one frame.
        """

        def __init__(self, table: "VirtualTable", index: int) -> None:
            self.table = table
            self.index = index
            super().__init__()

        @property
        def control(self) -> "VirtualTable":
            """The table, for `on` with a selector."""
            return self.table

    def __init__(
        self,
        line: Line,
        choose: Callable[[int], None] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        """Show lines.

        Args:
            line: makes one line; called for visible lines only.
            choose: a line was chosen. No message, which the next key would overtake.
            id: Textual id.
        """
        super().__init__(id=id)
        self._line = line
        self._choose = choose
        self.count = 0

    def show(self, count: int, cursor: int | None = None) -> None:
        """Show this many lines, with the cursor on one of them."""
        self.count = count
        self.virtual_size = Size(self.size.width, count)
        wanted = self.cursor if cursor is None else cursor
        self.set_reactive(VirtualTable.cursor, max(0, min(wanted, count - 1)))
        self._keep_in_view()
        self.refresh()
        if count:
            self.post_message(self.Moved(self, self.cursor))

    def move_to(self, index: int) -> None:
        """Put the cursor on a line, clipped to the lines there are."""
        self.cursor = max(0, min(index, self.count - 1))

    def render_line(self, y: int) -> Strip:
        """Paint one line of the view."""
        index = y + self.scroll_offset.y
        # Beside the scrollbar, where there is one.
        width = self.scrollable_content_region.width
        if index >= self.count:
            return Strip.blank(width, self.rich_style)
        text = self._line(index, width)
        text.truncate(width, overflow="ellipsis", pad=True)
        base = self.rich_style
        if index == self.cursor:
            base += Style(reverse=True) if self.has_focus else Style(underline=True)
        segments = text.render(self.app.console)
        return Strip(segments).apply_style(base).adjust_cell_length(width, base)

    def watch_cursor(self, new: int) -> None:
        """Tell the screen."""
        self.post_message(self.Moved(self, new))

    def follow(self) -> None:
        """Keep the cursor in view, and paint where it is."""
        self._keep_in_view()
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move by lines."""
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move by pages."""
        self.move_to(self.cursor + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        """Move to the first or last line."""
        self.move_to(self.count - 1 if last else 0)

    def action_choose(self) -> None:
        """Choose the line under the cursor."""
        if self.count and self._choose is not None:
            self._choose(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked line; choose it if the cursor is there already."""
        index = event.y + self.scroll_offset.y
        if index >= self.count:
            return
        if index == self.cursor:
            self.action_choose()
        else:
            self.move_to(index)

    def on_resize(self, event: events.Resize) -> None:
        """Lines follow the width."""
        self.virtual_size = Size(event.size.width, self.count)
        self._keep_in_view()

    def on_focus(self) -> None:
        """The cursor shows where the keys go."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor shows where the keys went."""
        self.refresh()

    def _keep_in_view(self) -> None:
        if self.count and self.size.height:
            region = Region(0, self.cursor, 1, 1)
            self.scroll_to_region(region, animate=False, force=True)
