"""Timeline: steps by groups, from the whole run to single steps; read as it comes into view."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import THREAD_BESIDE
from bisect_debugger.format.words import step_words
from bisect_debugger.tui.look import groups_legend
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.ribbon import RibbonView
from bisect_debugger.tui.widgets.still import Still
from bisect_debugger.twins import Status
from bisect_debugger.twins.bands import Band
from bisect_debugger.views.counts import counted

_WHOLE_AT_FIRST = 5_000
"""Steps of a run that is shown as a whole at first; a longer one begins at its onset."""


class TimelineScreen(BaseScreen):
    """The ribbon."""

    HELP: ClassVar[str] = (
        "One line a group, in causal order; one column a step, or several steps when zoomed out "
        "(Z, z back in), and then the worst of them. O stands over the step in which an origin "
        "began, V where a loss or logged scalar differs first. Arrows move, enter shows the "
        "events of the step, n and N go to the next and previous step that differs, : and a number "
        "goes to a step. ? in a cell was not read yet."
    )
    DEFAULT_CSS = """
    TimelineScreen #words { height: 1fr; padding-top: 1; }
    TimelineScreen.low #words { padding: 0; }
    TimelineScreen.wide #main { min-width: 78; }
    """

    def main_pane(self) -> Widget:
        """The ribbon, and the cell under the cursor in words."""
        return Vertical(RibbonView(self.look, self.go_in), Still(id="words"), id="main")

    def side_pane(self) -> Widget:
        """What the symbols and groups are."""
        return Prose(id="side")

    async def load(self) -> None:
        """Show the ribbon at the onset; cells are read when they come into view."""
        session = self.session
        ribbon = self.query_one(RibbonView)
        ribbon.each = 1
        ribbon.show(session.ribbon, {}, 0)
        ribbon.focus()
        self._title_line()
        self.repaint()
        diagnosis = await session.diagnose()
        marks: dict[int, str] = {}
        if diagnosis.first_visible is not None:
            row = await session.row_of_step(diagnosis.first_visible.step)
            marks.update({} if row is None else {row: "V"})
        for origin in diagnosis.origins:
            row = await session.row_of_step(origin.step)
            marks.update({} if row is None else {row: marks.get(row, "") + "O"})
        onset = diagnosis.onset
        row = await session.row_of_step(onset.step) if onset is not None else 0
        if ribbon.row or ribbon.each > 1:
            # Somebody moved meanwhile, and stays there.
            ribbon.show(session.ribbon, marks, ribbon.row)
            return
        ribbon.show(session.ribbon, marks, row or 0)
        if onset is not None and onset.group in ribbon.groups:
            ribbon.group = ribbon.groups.index(onset.group)
        if session.step_count <= _WHOLE_AT_FIRST:
            ribbon.fit_whole()
        self._title_line()

    def repaint(self) -> None:
        """Colours and symbols as they are now."""
        ribbon = self.query_one(RibbonView)
        ribbon.look = self.look
        ribbon.refresh()
        self.query_one("#side", Prose).show(Text("\n").join([self.look.legend(), groups_legend()]))
        self._say_where()

    def zoom(self, by: int) -> None:
        """Fewer (-1) or more (1) steps a cell."""
        if not self.query_one(RibbonView).zoom(by):
            self.say("one step a cell" if by < 0 else "the whole run is in view")
        self._title_line()

    @on(RibbonView.Fitted)
    def _title_line(self) -> None:
        each = self.query_one(RibbonView).each
        scale = "one step a cell" if each == 1 else f"{each:,} steps a cell"
        self.set_title(f"Timeline: {counted(self.session.step_count, 'step')}, {scale}")

    @on(RibbonView.Wanted)
    def read_cells(self, message: RibbonView.Wanted) -> None:
        """Read what came into view; what is not in view any more need not be read."""
        self.read("cells", self._read, message.each, message.first, message.last)

    async def _read(self, each: int, first: int, last: int) -> None:
        ribbon, done = self.query_one(RibbonView), 0
        try:
            async for cells in self.session.fill_ribbon(each, first, last):
                done += cells
                if done < last - first:
                    self.set_busy(f"reading {100 * done // (last - first)} %")
                ribbon.filled()
        finally:
            self.set_busy("")

    @on(RibbonView.Moved)
    def say_where(self) -> None:
        """Paint the cells, and say in words what stands under the cursor."""
        self.query_one(RibbonView).refresh()
        self._say_where()

    def _say_where(self) -> None:
        ribbon = self.query_one(RibbonView)
        if not self.session.step_count:
            return
        cell, group = ribbon.cursor_cell, ribbon.cursor_group
        if cell is None:
            self.set_status("reading ...")
            self.query_one("#words", Still).say("")
            return
        status = cell.statuses[group].word
        where = f"enter: events  {_where(cell)}, {group.label}: {status}"
        self.set_status(where, "n N: differing steps", "z Z: zoom")
        self.query_one("#words", Still).say(self._words(cell, ribbon.groups))

    def _words(self, cell: Band, shown: tuple[Group, ...]) -> Text:
        differing = [group.label for group in cell.differing]
        what = f"differs in {', '.join(differing)}" if differing else "nothing differs"
        text = Text(f"{_where(cell)}: {what}\n")
        missing = [group.label for group in Group if group not in shown]
        if missing:
            text.append(f"not recorded: {', '.join(missing)}\n")
        if self._has_threads_beside:
            text.append("threads beside the training are in no cell; 4 lists what they did\n")
        text.append("O an origin began   V first visible in a loss\n")
        for number, status in enumerate(Status):
            # In two lines, or the smallest window would break one in the middle of its words.
            text.append("\n" if number == len(Status) // 2 else "")
            text.append_text(self.look.symbol(status))
            text.append(f" {status.word}  ")
        return text

    @property
    def _has_threads_beside(self) -> bool:
        """Which step their events stand in is chance, and no digest of a step holds them."""
        found = self.session.diagnosis
        uncovered = found.compared.uncovered if found is not None else ()
        return any(what.startswith(THREAD_BESIDE) for what in uncovered)

    def go_in(self) -> None:
        """Show the events of the step: of several the first that differs."""
        ribbon = self.query_one(RibbonView)
        lo, hi = ribbon.cursor_rows
        if hi - lo > 1:
            self.read("go-in", self._go_into, lo, hi, ribbon.cursor_group)
        else:
            self.debugger.show_step(lo, group=ribbon.cursor_group)

    async def _go_into(self, lo: int, hi: int, group: Group) -> None:
        found = await self.session.next_different(lo)
        row = found if found is not None and found < hi else lo
        self.debugger.show_step(row, group=group)

    async def next_divergence(self, forward: bool) -> None:
        """Go to the next or previous step in which anything differs."""
        ribbon = self.query_one(RibbonView)
        lo, hi = ribbon.cursor_rows
        if forward:
            row = await self.session.next_different(hi)
        else:
            row = await self.session.previous_different(lo)
        if row is None:
            self.say(f"no {'later' if forward else 'earlier'} step differs")
        else:
            ribbon.row = row

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a common row."""
        self.query_one(RibbonView).row = row

    def copied_text(self) -> str:
        """The steps on the page, in words."""
        ribbon = self.query_one(RibbonView)
        page, lines = ribbon.page, []
        for number in range(page.first, page.last):
            cell = ribbon.cell(number)
            if cell is not None:
                names = ", ".join(group.label for group in cell.differing)
                lines.append(f"{_where(cell)}: {names or 'equal'}")
        return "\n".join(lines)


def _where(cell: Band) -> str:
    first = step_words(cell.first_step)
    return first if cell.first_row == cell.last_row else f"{first} to {step_words(cell.last_step)}"
