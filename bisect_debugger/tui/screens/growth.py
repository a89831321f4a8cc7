"""Growth: how the difference of one buffer grows over the steps."""

from typing import ClassVar

from textual.widget import Widget

from bisect_debugger.diagnosis import Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.views.chart import log_chart
from bisect_debugger.views.growth import Growth, growth_words
from bisect_debugger.views.names import elide


class GrowthScreen(BaseScreen):
    """A chart over all steps that were compared."""

    HELP: ClassVar[str] = (
        "The distance (relFro) of one buffer in every step, on a logarithmic axis: * a value, = "
        "on the line of zero where both runs are equal, ! NaN or Inf, ? differs and no values "
        "were recorded. The chart ends with the last step that was compared, and nothing is said "
        "beyond. It shows the buffer that was looked at last (4, 5), or the one that differed "
        "first."
    )

    def __init__(self) -> None:
        """No growth is known yet."""
        super().__init__()
        self._growth: Growth | None = None
        self._key: tuple[Group, str] | None = None

    def main_pane(self) -> Widget:
        """The chart."""
        return Prose(id="main")

    async def load(self) -> None:
        """Follow the buffer that differed first."""
        self._growth = self._key = None
        self.set_title("Growth")
        pane = self.query_one("#main", Prose)
        pane.show("Reading the runs ...")
        pane.focus()
        diagnosis = await self.session.diagnose()
        if diagnosis.onset is None:
            known = "Nothing diverged in training, so nothing grows."
            if diagnosis.verdict is not Verdict.BIT_EQUAL:
                known = "No first divergence is known."
            pane.show(f"{known} Choose a buffer (4) and press 7 to follow it.")
            self.set_status("1: what was compared")
        elif not diagnosis.onset.buffer:
            pane.show(
                "Not recorded: the runs hold no single events (level coarse). 3 shows which groups "
                "differ in which step."
            )
            self.set_status("3: steps by groups")
        elif self._key is None:
            await self._follow((diagnosis.onset.group, diagnosis.onset.buffer))

    def follow(self, key: tuple[Group, str]) -> None:
        """Show the growth of a buffer."""
        if key != self._key:
            self.read("load", self._follow, key)

    async def _follow(self, key: tuple[Group, str]) -> None:
        self._key, self._growth = key, None
        self._head(key[1])
        diagnosis = await self.session.diagnose()
        onset = diagnosis.onset.step if diagnosis.onset else 0
        row = await self.session.row_of_step(onset) or 0
        try:
            async for growth in self.session.growth(key, row):
                self._growth = growth
                self.set_busy(f"reading {len(growth.points)} steps")
                self.repaint()
        finally:
            self.set_busy("")

    def repaint(self) -> None:
        """Draw for the size that there is."""
        growth = self._growth
        if growth is None:
            return
        self._head(growth.name)
        pane = self.query_one("#main", Prose)
        width = max(24, self.app.size.width - 2)
        words = growth_words(growth)
        lines = log_chart(
            growth.values(),
            width=width,
            height=max(7, self.app.size.height - 5 - len(words) // width),
            unit=f"{growth.measure.meaning}, log scale",
        )
        pane.show("\n".join([words, *lines]))
        looked = len(growth.points)
        which = "every step" if looked == growth.steps else f"{looked} of {growth.steps:,} steps"
        self.set_status(f"{which}  {growth.group.label}  {printable(growth.name, 200)}")

    def _head(self, name: str) -> None:
        self.set_title(f"Growth: {elide(name, max(12, self.app.size.width - 30))}")

    def copied_text(self) -> str:
        """Step and value, a line each."""
        if self._growth is None:
            return ""
        unit = self._growth.measure.value
        lines = [f"step\t{unit}"]
        lines += [
            f"{step}\t{'not recorded' if value is None else repr(value)}"
            for step, value in self._growth.values()
        ]
        return "\n".join(lines)
