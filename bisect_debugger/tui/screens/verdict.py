"""Verdict: one sentence, the origins, and what to press."""

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.report.text import dormancy_words, render_diagnosis
from bisect_debugger.tui.look import COLOURS, elide, symbol
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status


class VerdictScreen(BaseScreen):
    """What a person sees first."""

    DEFAULT_CSS = """
    VerdictScreen #sentence { height: auto; max-height: 6; padding: 1 0; }
    VerdictScreen.low #sentence { padding: 0; max-height: 4; }
    VerdictScreen #origins { height: auto; max-height: 8; min-height: 1; }
    VerdictScreen #detail { height: 1fr; border-top: solid $primary; }
    """

    def main_pane(self) -> Widget:
        """Sentence, origins, and the chosen origin in words."""
        return Vertical(
            Static("Reading the runs ...", id="sentence", markup=False),
            VirtualTable(self._line, id="origins"),
            Prose(id="detail"),
            id="main",
        )

    def side_pane(self) -> Widget:
        """Everything in words, as `compare` prints it."""
        return Prose(id="side")

    def on_mount(self) -> None:
        """Ask for the diagnosis; the screen stays alive meanwhile."""
        self._origins: Sequence[Origin] = ()
        self.set_title("Verdict")
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        diagnosis = await self.session.diagnose()
        self._origins = (*diagnosis.origins, *diagnosis.dormant_streams)
        self.set_title(f"Verdict: {diagnosis.verdict.value}")
        self.query_one("#sentence", Static).update(self._sentence(diagnosis))
        table = self.query_one("#origins", VirtualTable)
        table.styles.height = max(1, min(8, len(self._origins)))
        table.show(len(self._origins))
        table.focus()
        self.query_one("#side", Prose).show_indented(render_diagnosis(diagnosis, trail=True))
        if not self._origins:
            self.query_one("#detail", Prose).show(render_diagnosis(diagnosis))
        hint = "enter: values  2: why  3: steps  tab: scroll the text  x: write the note"
        self.set_status(hint if self._origins else "3: all steps  x: write the note")

    @staticmethod
    def _sentence(diagnosis: Diagnosis) -> Text:
        status = Status.DIFFERS if diagnosis.origins else Status.EQUAL
        verdict = diagnosis.sentence.partition(":" if not diagnosis.origins else ".")[0]
        text = Text(diagnosis.sentence)
        text.stylize(f"bold {COLOURS[status]}", 0, len(verdict))
        return text

    def _line(self, index: int, width: int) -> Text:
        origin = self._origins[index]
        inside = index < self._training_origins()
        mark = symbol(Status.DIFFERS, ascii_only=self.ascii_only)
        outside = "" if inside else ", outside the training"
        cause = f"  {origin.cause.value}, {step_words(origin.step)}{outside}"
        name = elide(origin.component, max(10, width - len(cause) - 4))
        return Text.assemble(mark, " ", (name, "bold" if inside else ""), cause)

    def _training_origins(self) -> int:
        diagnosis = self.session.diagnosis
        return len(diagnosis.origins) if diagnosis else 0

    @on(VirtualTable.Moved, "#origins")
    def show_detail(self, message: VirtualTable.Moved) -> None:
        """Tell about the origin under the cursor."""
        origin = self._origins[message.index]
        text = Text(f"{dormancy_words(origin)}\n\n")
        text.append("\n".join(f"- {sentence}" for sentence in origin.evidence))
        text.append("\n\nWhat to change\n", "bold")
        text.append("\n".join(f"{n}. {line}" for n, line in enumerate(origin.advice, 1)))
        text.append(f"\n\nWhat would confirm it: {origin.confirm}")
        self.query_one("#detail", Prose).show(text)

    @on(VirtualTable.Chosen, "#origins")
    def go_in(self, message: VirtualTable.Chosen) -> None:
        """Show the values of the origin."""
        origin = self._origins[message.index]
        self.debugger.go_to_event(origin.step, origin.buffer, values=True)

    def copied_text(self) -> str:
        """The verdict in words."""
        diagnosis = self.session.diagnosis
        return render_diagnosis(diagnosis) if diagnosis else ""
