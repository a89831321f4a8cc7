"""Reach: which components each origin contaminated, and when."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.still import Still
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status
from bisect_debugger.views.counts import counted
from bisect_debugger.views.names import elide, pad
from bisect_debugger.views.reach import NOTHING_REACHED, Reach, ReachRow, bar, reach_lines, reaches

_STEP_WIDTH = 20


class ReachScreen(BaseScreen):
    """A line a component, a bar from the step on in which the difference arrived."""

    HELP: ClassVar[str] = (
        "How far each origin spread. The line with the mark is the origin; below it stand the "
        "components that its difference arrived in, in order of execution, with the step, the "
        "part of the step (backward: by a gradient alone so far), and a bar that begins there. An "
        "origin without any is dormant: harmless so far. enter shows the buffer that carried it."
    )
    DEFAULT_CSS = """
    ReachScreen #heads { height: 1; text-style: underline; }
    ReachScreen #nothing { height: 1fr; display: none; }
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._reaches: tuple[Reach, ...] = ()
        self._lines: tuple[tuple[Reach, ReachRow | None], ...] = ()

    def main_pane(self) -> Widget:
        """Components of all origins."""
        return Vertical(
            Still(id="heads", classes="line"),
            VirtualTable(self._line, self.go_in, id="components"),
            Static(id="nothing", markup=False),
            id="main",
        )

    async def load(self) -> None:
        """Take it from the diagnosis."""
        self.set_title("Reach")
        table = self.query_one("#components", VirtualTable)
        table.focus()
        diagnosis = await self.session.diagnose()
        self._reaches = reaches(diagnosis)
        lines: list[tuple[Reach, ReachRow | None]] = []
        for reach in self._reaches:
            lines += [(reach, row) for row in reach.rows]
            if len(reach.rows) == 1:
                lines.append((reach, None))
        self._lines = tuple(lines)
        nothing = self.query_one("#nothing", Static)
        nothing.display = not lines
        table.display = self.query_one("#heads").display = bool(lines)
        if not lines:
            nothing.update(
                "No origin is known, so nothing was contaminated: nothing diverged in training, or "
                "the recording holds no single events to follow (level coarse)."
            )
            self.set_status("1: what was compared")
            return
        # A component that several origins reached is one.
        reached = {row.component for x in self._reaches for row in x.rows if not row.is_origin}
        origins = counted(len(self._reaches), "origin")
        components = counted(len(reached), "component")
        self.set_title(f"Reach: {origins} reached {components}")
        table.show(len(lines), 0)

    def repaint(self) -> None:
        """Bars as long as there is room for."""
        head = (
            f"{'  component':<{self._name_width(self.app.size.width)}}{'reached in':<{_STEP_WIDTH}}"
        )
        self.query_one("#heads", Still).say(f"{head}time, later to the right")
        table = self.query_one("#components", VirtualTable)
        table.refresh()
        self._tell_arrival(table.cursor)

    @staticmethod
    def _name_width(width: int) -> int:
        return max(20, min(64, width - _STEP_WIDTH - 26))

    def _line(self, index: int, width: int) -> Text:
        row = self._lines[index][1]
        if row is None:
            return Text(f"    {NOTHING_REACHED}", "italic")
        names = self._name_width(self.app.size.width)
        line = self.look.symbol(Status.DIFFERS) if row.is_origin else Text(" ")
        name = elide(row.component, names - 3 if row.is_origin else names - 5)
        line.append(
            pad(f" {name}" if row.is_origin else f"   {name}", names - 1), "bold" * row.is_origin
        )
        line.append(f"{row.when:<{_STEP_WIDTH}}")
        line.append(
            bar(row.filled, max(4, min(60, width - names - _STEP_WIDTH - 1))),
            self.look.style(Status.DIFFERS),
        )
        return line

    @on(VirtualTable.Moved, "#components")
    def tell(self, message: VirtualTable.Moved) -> None:
        """Say by which buffer it came."""
        self._tell_arrival(message.index)

    def _tell_arrival(self, index: int) -> None:
        if index >= len(self._lines):
            return
        reach, row = self._lines[index]
        if row is None:
            self.set_status(NOTHING_REACHED)
            return
        how = f"origin ({reach.cause}) in" if row.is_origin else "by"
        tail = f", {row.when}"
        room = self.app.size.width - len(tail) - len(how) - 18
        self.set_status(f"enter: values  {how} {elide(row.buffer, max(12, room))}{tail}")

    def go_in(self, index: int) -> None:
        """Show the buffer in the step of its arrival."""
        row = self._lines[index][1]
        if row is not None:
            self.debugger.go_to_event(row.step, row.buffer, values=True)

    def copied_text(self) -> str:
        """All of it in lines."""
        return "\n".join(reach_lines(self._reaches))
