"""Trail: the decision tree as it was walked, question by question."""

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.causality.tree import render_tree
from bisect_debugger.errors import printable
from bisect_debugger.report.text import trail_lines
from bisect_debugger.tui.look import elide
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable


class TrailScreen(BaseScreen):
    """Questions on the path, with evidence and answer."""

    DEFAULT_CSS = """
    TrailScreen #questions { height: 2fr; }
    TrailScreen #evidence { height: 1fr; border-top: solid $primary; }
    """

    def main_pane(self) -> Widget:
        """The questions, and the evidence of the one under the cursor."""
        return Vertical(VirtualTable(self._line, id="questions"), Prose(id="evidence"), id="main")

    def side_pane(self) -> Widget:
        """The whole tree."""
        return Prose(id="side")

    def on_mount(self) -> None:
        """Ask for the trail."""
        self._trail: tuple[TrailStep, ...] = ()
        self.set_title("Trail")
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        diagnosis = await self.session.diagnose()
        self._trail = diagnosis.trail
        # The later origins have trails of their own, after the first one's.
        for origin in diagnosis.origins[1:]:
            self._trail += origin.trail
        table = self.query_one("#questions", VirtualTable)
        table.show(len(self._trail))
        table.focus()
        self.query_one("#side", Prose).show(render_tree())
        self.set_status(f"{len(self._trail)} questions on the path")

    def _line(self, index: int, width: int) -> Text:
        step = self._trail[index]
        answer = elide(step.answer, max(10, width // 3))
        question = elide(step.question, max(10, width - len(answer) - 5))
        gap = " " * max(1, width - len(question) - len(answer) - 4)
        return Text.assemble("> ", question, gap, (answer, "bold"))

    @on(VirtualTable.Moved, "#questions")
    def show_evidence(self, message: VirtualTable.Moved) -> None:
        """Show what the answer rests on."""
        step = self._trail[message.index]
        self.query_one("#evidence", Prose).show(
            f"{step.question}\n{printable(step.evidence, 2000)}\n=> {printable(step.answer)}"
        )

    def copied_text(self) -> str:
        """The trail in words."""
        return "\n".join(trail_lines(self._trail))
