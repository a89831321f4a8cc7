"""Buffer: the numbers of one event, and both values around the first difference."""

from rich.text import Text
from textual.widget import Widget

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference
from bisect_debugger.report.numbers import difference_lines
from bisect_debugger.tui.look import COLOURS, elide
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.session import BufferView
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.twins import Row, Status

_BAR = 24


class BufferScreen(BaseScreen):
    """Metrics, values in decimal and hex, and the histogram of ULP distances."""

    def main_pane(self) -> Widget:
        """All of it, scrolling."""
        return Prose(id="main")

    def on_mount(self) -> None:
        """Show nothing until an event is chosen."""
        self._view: BufferView | None = None
        self.set_title("Buffer")
        self.query_one("#main", Prose).show(
            "No buffer is chosen yet: choose one in the buffers of a step (4), or go to the first "
            "divergence (f)."
        )
        self.query_one("#main", Prose).focus()

    async def show_row(self, row: Row) -> None:
        """Show one event."""
        self._view = await self.session.buffer(row)
        self.set_title(f"Buffer: {elide(row.name, max(20, self.app.size.width - 30))}")
        self.set_status(f"{step_words(row.step)}, {row.group.label}, {row.status.word}")
        self._paint()

    def on_resize(self) -> None:
        """Lay the values out anew."""
        super().on_resize()
        self._paint()

    def _paint(self) -> None:
        if self._view is not None:
            self.query_one("#main", Prose).show(buffer_text(self._view, self.app.size.width - 2))

    def copied_text(self) -> str:
        """All numbers."""
        return buffer_text(self._view, 100).plain if self._view else ""


def buffer_text(view: BufferView, width: int) -> Text:
    """The screen's text.

    Args:
        view: what was read.
        width: columns.
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
        text.append(_why_no_numbers(row, view.level))
        return text
    text.append("\n".join(difference_lines(view.difference)))
    text.append("\n\n")
    text.append_text(_values(view, width))
    text.append_text(_histogram(view.difference))
    return text


def _why_no_numbers(row: Row, level: str) -> str:
    if row.a is None or row.b is None:
        only = "first" if row.a else "second"
        return f"Only the {only} run has this event: the runs did not do the same things here."
    if row.a.layout != row.b.layout:
        return f"{row.a.layout.text} in the first run, {row.b.layout.text} in the second."
    if row.status is Status.EQUAL:
        return f"Bit-equal, {row.a.layout.text}."
    if row.group is Group.RNG:
        return (
            "The states of this generator differ. A state is kept as a digest only, at every "
            "level: its bytes are no numbers that could be held against each other. What matters "
            "is where the streams part: look for the first step and event in which it differs, "
            "and at the seeding calls in the note (6)."
        )
    differ = f"The contents differ, {row.a.layout.text}, and no values were recorded"
    if level != "full":
        return f"{differ}: record at level full to see them."
    return f"{differ}: the recordings keep none of this step, or none of this buffer."


def _values(view: BufferView, width: int) -> Text:
    pairs = view.around
    text = Text("Around the first difference\n", "bold")
    hexadecimal = width >= 76
    index_width = max(len(_index(pair.index)) for pair in pairs)
    for pair in pairs:
        style = f"bold {COLOURS[Status.DIFFERS]}" if pair.differs else ""
        mark = ">" if pair.differs else " "
        text.append(f"{mark} {_index(pair.index):<{index_width}}  ", style)
        for side in (pair.a, pair.b):
            shown = f"{elide(side.decimal, 15):<15} "
            if hexadecimal:
                shown += f"{elide(side.hex, 18):<12} "
            text.append(shown, style)
        text.append("\n")
    return text


def _histogram(difference: Difference) -> Text:
    if not difference.ulp_histogram:
        return Text("")
    text = Text("\nDistance in ULP\n", "bold")
    most = max(count for _, _, count in difference.ulp_histogram)
    for low, high, count in difference.ulp_histogram:
        label = str(low) if low == high else f"{low}-{high}"
        bar = "#" * max(1, round(_BAR * count / most))
        text.append(f"{label:>23} {bar:<{_BAR}} {count}\n")
    return text


def _index(index: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, index)) + ")"
