"""Verdict: one sentence, the origins, and what to press."""

from collections.abc import Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.text import compared_words, dormancy_words, render_diagnosis
from bisect_debugger.report.zoom import excerpt_lines, operator_words
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose, in_lines
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status
from bisect_debugger.views.names import elide
from bisect_debugger.views.source import Code
from bisect_debugger.views.states import compared_lines, hint_lines

_SENTENCE_LINES = 4
_ORIGINS_HIGH = 6
_ORIGINS_LOW = 3
_TOLD_EVERY_SECONDS = 0.5


class VerdictScreen(BaseScreen):
    """What a person sees first."""

    HELP: ClassVar[str] = (
        "The sentence says what broke. Below stand the origins: buffers that differ although "
        "everything they were computed from is equal; the first one is the one to fix first. The "
        "pane at the bottom tells about the one under the cursor: why the tool thinks so, the "
        "code, and what to change. enter shows its values, 2 the questions that led to it, 3 when "
        "it spread."
    )
    DEFAULT_CSS = f"""
    VerdictScreen #sentence {{ height: auto; padding: 1 0; }}
    VerdictScreen.low #sentence {{ padding: 0; }}
    VerdictScreen #origins {{ height: auto; max-height: {_ORIGINS_HIGH}; min-height: 1; }}
    VerdictScreen.low #origins {{ max-height: {_ORIGINS_LOW}; }}
    VerdictScreen #detail {{ height: 1fr; border-top: solid $primary; }}
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._origins: Sequence[Origin] = ()
        self._diagnosis: Diagnosis | None = None
        self._told = ""

    def main_pane(self) -> Widget:
        """Sentence, origins, and the chosen origin in words."""
        return Vertical(
            Static(id="sentence", markup=False),
            VirtualTable(self._line, self.go_in, id="origins"),
            Prose(id="detail"),
            id="main",
        )

    def side_pane(self) -> Widget:
        """Everything in words, as `compare` prints it."""
        return Prose(id="side")

    async def load(self) -> None:
        """Ask for the diagnosis; the screen stays alive meanwhile."""
        self._diagnosis, self._origins = None, ()
        self.set_title("Verdict")
        self.query_one("#sentence", Static).update("Comparing the runs ...")
        table = self.query_one("#origins", VirtualTable)
        table.show(0)
        table.focus()
        self.set_status("q: leave  3: steps, while this goes on")
        progress = self.set_interval(_TOLD_EVERY_SECONDS, self._tell_progress)
        try:
            diagnosis = await self.session.diagnose()
        finally:
            progress.stop()
            self.set_busy("")
        self._diagnosis = diagnosis
        self._origins = (*diagnosis.origins, *diagnosis.dormant_streams)
        self.debugger.pairs.note_verdict(diagnosis.verdict.value)
        self.set_title(f"Verdict: {diagnosis.verdict.value}{self.debugger.pairs.words}")
        table.styles.height = max(1, min(_ORIGINS_HIGH, len(self._origins)))
        table.display = bool(self._origins)
        table.show(len(self._origins), 0)
        self.query_one("#side", Prose).show_indented(render_diagnosis(diagnosis, trail=True))
        self.repaint()
        if not diagnosis.origins:
            await self._tell_what_was_compared(diagnosis)
        if self._origins:
            hints: tuple[str, ...] = ("enter: values", "2: why", "3: steps", "tab: scroll the text")
        else:
            hints = ("3: all steps", "0: the runs")
        self.set_status(*hints, "x: write the note")
        self.debugger.outputs.greet()

    def _tell_progress(self) -> None:
        self.set_busy(f"comparing, {self.session.rows_read:,} rows read")

    def fail(self, sentence: str) -> None:
        """Say on the screen itself why there is no verdict."""
        self.set_title("Verdict: none")
        self.query_one("#sentence", Static).update(Text(sentence))
        self.query_one("#detail", Prose).show(
            "The comparison ended here. What can still be read is shown on the other screens: 3 "
            "steps, 0 runs."
        )

    async def _tell_what_was_compared(self, diagnosis: Diagnosis) -> None:
        lines = [*hint_lines(diagnosis), "", *compared_lines(await self.session.compared())]
        lines += ["", *(printable(remark, 1000) for remark in diagnosis.remarks)]
        lines.append(compared_words(diagnosis))
        detail = self.query_one("#detail", Prose)
        detail.show("\n".join(lines))
        if not self._origins:
            detail.focus()

    def repaint(self) -> None:
        """The sentence and the marks in the colours as they are now."""
        if self._diagnosis is not None:
            self.query_one("#sentence", Static).update(self._sentence(self._diagnosis))
        self.query_one("#origins", VirtualTable).refresh()

    def _sentence(self, diagnosis: Diagnosis) -> Text:
        status = Status.DIFFERS if diagnosis.onset is not None else Status.EQUAL
        verdict = diagnosis.sentence.partition(":" if not diagnosis.origins else ".")[0]
        text = Text(diagnosis.sentence)
        text.stylize(f"bold {self.look.colour(status)}", 0, len(verdict))
        # All origins stand in the list below, and in the words beside and in the note.
        return in_lines(text, self.main_width, _SENTENCE_LINES, self.app.console)

    def _line(self, index: int, width: int) -> Text:
        origin = self._origins[index]
        inside = self._diagnosis is not None and index < len(self._diagnosis.origins)
        outside = "" if inside else ", outside the training"
        proven = ", proven" if origin.proven else ""
        cause = f"  {origin.cause.value}{proven}, {step_words(origin.step)}{outside}"
        name = elide(origin.component, max(10, width - len(cause) - 4))
        return Text.assemble(
            self.look.symbol(Status.DIFFERS), " ", (name, "bold" if inside else ""), cause
        )

    @on(VirtualTable.Moved, "#origins")
    def show_detail(self, message: VirtualTable.Moved) -> None:
        """Tell about the origin under the cursor."""
        if message.index < len(self._origins) and (
            message.index > 0 or (self._diagnosis is not None and self._diagnosis.origins)
        ):
            self.read("detail", self._detail, self._origins[message.index])

    async def _detail(self, origin: Origin) -> None:
        code = await self.session.code(origin)
        inside = self._diagnosis is not None and origin in self._diagnosis.origins
        hints = hint_lines(self._diagnosis) if self._diagnosis is not None and inside else []
        self.query_one("#detail", Prose).show(_told(origin, hints, code))

    def go_in(self, index: int) -> None:
        """Show the values of the origin."""
        origin = self._origins[index]
        self.debugger.go_to_event(origin.step, origin.buffer, values=True)

    def copied_text(self) -> str:
        """The verdict in words."""
        return render_diagnosis(self._diagnosis) if self._diagnosis else ""


def _told(origin: Origin, hints: Sequence[str], code: Code) -> Group:
    """What there is to say about an origin: in the smallest window what to do comes in view."""
    parts: list[RenderableType] = []
    if origin.advice:
        first = printable(origin.advice[0], 2000)
        parts.append(Text.assemble(("Do first: ", "bold"), first))
    place = operator_words(origin) or printable(origin.source)
    if place:
        parts.append(Text.assemble(("Where: ", "bold"), place))
    parts += [Text()] if parts else []
    parts += [Text(f"{hint}\n", "bold") for hint in hints]
    parts.append(Text(f"{dormancy_words(origin)}\n"))
    parts += _listed("Why", [printable(line, 2000) for line in origin.evidence])
    parts += _listed("Then", [printable(line, 2000) for line in origin.advice[1:]])
    parts.append(Text(f"What would confirm it: {printable(origin.confirm, 2000)}\n"))
    others = [f"{x.cause.value}: {printable(x.why, 400)}" for x in origin.alternatives]
    parts += _listed("What else it could be", others)
    parts.append(Text("Where in the code", "bold"))
    parts += map(_code_line, _code_lines(origin, code))
    return Group(*parts)


def _code_line(line: str) -> Text:
    """Sentences wrap; a line of code, which is indented by its number or mark, is cut."""
    is_code = line.startswith((" ", ">"))
    return Text(line, no_wrap=is_code, overflow="ellipsis" if is_code else None)


def _listed(title: str, lines: Sequence[str]) -> list[RenderableType]:
    """A title and a list below it; what wraps keeps the indentation."""
    if not lines:
        return []
    items = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        items.add_row(Text("-"), Text(line))
    return [Text(title, "bold"), items, Text()]


def _code_lines(origin: Origin, code: Code) -> list[str]:
    """The operator, and the lines around it: as they were recorded, else as they are here now."""
    recorded = excerpt_lines(origin)
    if recorded:
        return [operator_words(origin), *recorded]
    unknown = [] if code.operator else ["operator: not recorded (no second pass looked into it)"]
    return [code.text(), *unknown]
