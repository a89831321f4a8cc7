"""Buffer: the numbers of one event, and both values around a difference."""

from typing import ClassVar

from rich.text import Text
from textual.widget import Widget

from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.numbers import difference_lines
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.twins import Row, Status
from bisect_debugger.views.buffer import (
    BufferView,
    histogram_lines,
    map_lines,
    why_no_numbers,
)
from bisect_debugger.views.digits import Marked, SideBySide
from bisect_debugger.views.names import elide

_HEX_FROM = 74
"""Columns from which the bits stand beside the decimals."""


class BufferScreen(BaseScreen):
    """Metrics, values in decimal and hex, a map, and the histogram of ULP distances."""

    HELP: ClassVar[str] = (
        "How far the two runs are apart in this buffer. relFro is the distance of floats, k / n "
        "the count of elements whose bits differ. Below stand both values around one differing "
        "element, the first run left, the digits that differ marked; n and N go to the next and "
        "previous differing element. The map shows where in the tensor they lie. 7 shows how the "
        "difference grows."
    )

    def __init__(self) -> None:
        """No event is chosen yet."""
        super().__init__()
        self._view: BufferView | None = None

    def main_pane(self) -> Widget:
        """All of it, scrolling."""
        return Prose(id="main")

    async def load(self) -> None:
        """Show nothing until an event is chosen."""
        self._view = None
        self.set_title("Buffer")
        self.set_status("f: first divergence  4: the events of a step")
        self.query_one("#main", Prose).show(
            "No buffer is chosen yet: choose one in the buffers of a step (4), or go to the first "
            "divergence (f)."
        )
        self.query_one("#main", Prose).focus()

    @property
    def row(self) -> Row | None:
        """The event that is shown."""
        return self._view.row if self._view else None

    async def show_row(self, row: Row, place: int = 0) -> None:
        """Show one event, around the differing element of this number."""
        self._view = await self.session.buffer(row, place)
        self._paint(scroll=place == 0)

    async def next_divergence(self, forward: bool) -> None:
        """Go to the next or previous differing element."""
        view = self._view
        if view is None or not view.places:
            self.say("no differing element is known here")
            return
        wanted = view.place + (1 if forward else -1)
        if not 0 <= wanted < view.places:
            self.say(f"this is the {'last' if forward else 'first'} differing element")
            return
        await self.show_row(view.row, wanted)

    def repaint(self) -> None:
        """Lay the values out anew."""
        self._paint(scroll=False)

    def _paint(self, *, scroll: bool) -> None:
        view = self._view
        if view is None:
            return
        row, where = view.row, ""
        self.set_title(f"Buffer: {elide(row.name, max(20, self.app.size.width - 30))}")
        if view.places > 1:
            where = f"element {view.place + 1:,} of {view.places:,} that differ (n N)  "
        tail = f"{step_words(row.step)}, {row.group.label}, {row.status.word}"
        room = self.app.size.width - len(where) - len(tail) - 2
        name = elide(row.name, room) + "  " if room >= 12 else ""
        self.set_status(f"{where}{name}{tail}")
        text = buffer_text(view, self.app.size.width - 2, self.look)
        self.query_one("#main", Prose).show(text, home=scroll)

    def copied_text(self) -> str:
        """All numbers."""
        return buffer_text(self._view, 100, Look()).plain if self._view else ""


def buffer_text(view: BufferView, width: int, look: Look) -> Text:
    """The screen's text.

    Args:
        view: what was read.
        width: columns.
        look: how what differs is painted.
    """
    row = view.row
    text = Text(f"{printable(row.name, 400)}\n", "bold")
    text.append(f"{row.group.label} of {printable(row.component)}, {step_words(row.step)}", "")
    if row.occurrence:
        text.append(f", call {row.occurrence + 1} in the step")
    if row.location:
        text.append(f", {printable(row.location)}")
    text.append("\n\n")
    if view.difference is None:
        text.append(why_no_numbers(row, view.level))
        return text
    text.append("\n".join(difference_lines(view.difference)))
    text.append("\n\n")
    text.append_text(_values(view, width, look))
    if view.map is not None:
        text.append("\nWhere they lie: rows down, last axis to the right\n", "bold")
        text.append("\n".join(f"  {line}" for line in map_lines(view.map)) + "\n")
    bars = histogram_lines(view.difference)
    if bars:
        text.append("\nElements by distance in ULP\n", "bold")
        text.append("\n".join(f"  {line}" for line in bars) + "\n")
    return text


def _values(view: BufferView, width: int, look: Look) -> Text:
    at = "the first difference" if view.place == 0 else f"differing element {view.place + 1:,}"
    text = Text(f"Around {at}, first run left, second right\n", "bold")
    index_width = max((len(element.index) for element in view.around), default=0)
    for element in view.around:
        text.append_text(_element(element, index_width, hexadecimal=width >= _HEX_FROM, look=look))
    return text


def _element(element: SideBySide, index_width: int, *, hexadecimal: bool, look: Look) -> Text:
    style = f"bold {look.colour(Status.DIFFERS)}"
    line = Text("> " if element.differs else "  ", style if element.differs else "")
    line.append(f"{element.index:<{index_width}}  ", "")
    for side, decimal in enumerate(element.decimal):
        # Integers stand without their bits, and may have 20 digits.
        line.append_text(_marked(decimal, 20 if element.hex is None else 15, style))
        if hexadecimal and element.hex is not None:
            line.append_text(_marked(element.hex[side], 12, style))
    line.append("\n")
    return line


def _marked(marked: Marked, width: int, style: str) -> Text:
    """A value in its column, with the digits that differ marked; too long a one is cut."""
    text = Text(marked.text)
    for first, last in marked.spans:
        text.stylize(f"{style} underline", first, last)
    if len(text) > width:
        text.truncate(width, overflow="ellipsis")
    text.pad_right(max(0, width - len(text)) + 1)
    return text
