"""Text that scrolls: paragraphs, lists, notes. Never parsed as markup."""

from typing import ClassVar

from rich.console import Console, ConsoleRenderable, Group, RichCast
from rich.padding import Padding
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

_SHORT = 2000
"""Characters of a text that is shown again and again, beside a cursor that moves."""


class Prose(VerticalScroll, can_focus=True):
    """Scrolling text.

    | key | does |
    |---|---|
    | up down, j k | scroll by a line |
    | page up, page down | scroll by a page |
    | g G, home end | to the beginning or end |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll_up", "up", show=False),
        Binding("j", "scroll_down", "down", show=False),
        Binding("g", "scroll_home", "top", show=False),
        Binding("G", "scroll_end", "bottom", show=False),
    ]
    DEFAULT_CSS = """
    Prose { height: 1fr; scrollbar-size-vertical: 1; }
    Prose > Static { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        """Show nothing yet.

        Args:
            id: Textual id.
        """
        super().__init__(id=id)
        self._lines: tuple[int, int] | None = None

    def compose(self) -> ComposeResult:
        """One static text."""
        yield Static(markup=False)

    def show(self, text: RichCast | ConsoleRenderable | str, *, home: bool = True) -> None:
        """Show text, or something else that Rich can render, from its beginning or where it was."""
        shown = Text(text) if isinstance(text, str) else text
        static, lines = self.query_one(Static), self._lines_of(shown)
        # A layout goes over every widget of the screen, and costs a frame of its own.
        static.update(shown, layout=lines is None or lines != self._lines)
        self._lines = lines
        if home and self.scroll_offset.y:
            self.scroll_home(animate=False)

    def _lines_of(self, shown: object) -> tuple[int, int] | None:
        """Width and lines of a short text; None for what takes longer to find out."""
        width = self.query_one(Static).size.width
        if not (isinstance(shown, Text) and width and len(shown) <= _SHORT):
            return None
        return width, len(shown.wrap(self.app.console, width))

    def show_indented(self, text: str) -> None:
        """Show lines, each of which keeps its indentation where it wraps."""
        lines = [
            Padding(Text(line.lstrip(" ")), (0, 0, 0, len(line) - len(line.lstrip(" "))))
            for line in text.splitlines()
        ]
        self.show(Group(*lines))


def in_lines(text: Text, width: int, most: int, console: Console) -> Text:
    """Text in so many lines; where it has more, an ellipsis says so.

    Args:
        text: without line breaks of its own.
        width: columns there are.
        most: lines there is room for.
        console: knows how wide characters are.
    """
    lines = text.wrap(console, max(1, width))
    if len(lines) <= most:
        return text
    for line in lines:
        line.rstrip()
    last = lines[most - 1]
    last.truncate(max(0, width - 2))
    last.append(" \N{HORIZONTAL ELLIPSIS}")
    return Text("\n").join(lines[:most])
