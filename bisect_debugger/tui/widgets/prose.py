"""Text that scrolls: paragraphs, lists, notes. Never parsed as markup."""

from typing import ClassVar

from rich.console import Console, ConsoleRenderable, Group, RichCast
from rich.padding import Padding
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static


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

    def compose(self) -> ComposeResult:
        """One static text."""
        yield Static(markup=False)

    def show(self, text: RichCast | ConsoleRenderable | str, *, home: bool = True) -> None:
        """Show text, or something else that Rich can render, from its beginning or where it was."""
        shown = Text(text) if isinstance(text, str) else text
        static = self.query_one(Static)
        static.update(shown, layout=False)
        # A layout goes over every widget of the screen, and costs a frame of its own.
        if not (isinstance(shown, Text) and self._is_as_high(static)):
            static.refresh(layout=True)
        if home and self.scroll_offset.y:
            self.scroll_home(animate=False)

    @staticmethod
    def _is_as_high(static: Static) -> bool:
        """What it shows now takes the lines that were laid out for what it showed before."""
        width, height = static.size
        return width > 0 and static.visual.get_height(static.styles.get_rules(), width) == height

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
