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

from bisect_debugger.diagnosis.model import Diagnosis, Origin, Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.text import compared_words, dormancy_words, render_diagnosis
from bisect_debugger.report.zoom import MARK, excerpt_lines, operator_words
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
_CODE_AROUND = 2
_CODE_LINES = 2 * _CODE_AROUND + 1
_TOLD_EVERY_SECONDS = 0.5
_PROVE = (
    "Not proven: `bisect-debugger twin --explain -- CMD` runs the trainer again with one condition "
    "changed at a time, and says which change takes the divergence away."
)


class VerdictScreen(BaseScreen):
    """What a person sees first."""

    HELP: ClassVar[str] = (
        "The sentence says what broke. Below stand the origins: buffers that differ although "
        "everything they were computed from is equal; the first one is the one to fix first. The "
        "pane at the bottom tells about the one under the cursor: why the tool thinks so, the "
        "code, and what to change. enter shows its values, 2 the questions that led to it, 3 when "
        "it spread. Random streams that differ outside the training are no cause of it: they are "
        "one line, which u shows and hides."
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
        self._streams: Sequence[Origin] = ()
        self._unfolded = False
        self._diagnosis: Diagnosis | None = None

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
        self._diagnosis, self._origins, self._streams, self._unfolded = None, (), (), False
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
        self._origins, self._streams = diagnosis.origins, diagnosis.dormant_streams
        self.debugger.pairs.note_verdict(diagnosis.verdict.value)
        self.set_title(f"Verdict: {diagnosis.verdict.value}{self.debugger.pairs.words}")
        self._list(0)
        self.query_one("#side", Prose).show_indented(render_diagnosis(diagnosis, trail=True))
        self.repaint()
        # One line has nowhere to move to: the keys go to the text below it.
        is_alone = len(self._origins) == 1 and not self._streams
        if is_alone:
            self.query_one("#detail", Prose).focus()
        if not diagnosis.origins:
            await self._tell_what_was_compared(diagnosis)
        if self._origins:
            scroll = "down: more text" if is_alone else "tab: scroll the text"
            hints: tuple[str, ...] = ("enter: values", "2: why", "3: steps", scroll)
        else:
            hints = ("3: all steps", "0: the runs")
        self.set_status(*hints, "x: write the note")
        self.debugger.outputs.greet()

    def _list(self, cursor: int) -> None:
        """List the origins, and below them the streams, or one line for them."""
        streams = len(self._streams) if self._unfolded else min(1, len(self._streams))
        count = len(self._origins) + streams
        table = self.query_one("#origins", VirtualTable)
        table.styles.height = max(1, min(_ORIGINS_HIGH, count))
        table.display = bool(count)
        table.show(count, cursor)

    def toggle_equal(self) -> None:
        """Show or hide the streams that differ outside the training."""
        if not self._streams:
            super().toggle_equal()
            return
        self._unfolded = not self._unfolded
        self._list(len(self._origins) if self._unfolded else 0)

    def _line_of(self, index: int) -> Origin | None:
        """The origin or stream of a line; None where it stands for all streams."""
        if index < len(self._origins):
            return self._origins[index]
        return self._streams[index - len(self._origins)] if self._unfolded else None

    @property
    def _stream_words(self) -> str:
        many = len(self._streams)
        differ = "streams differ" if many > 1 else "stream differs"
        return f"{many} random {differ} outside the training"

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
        hints = hint_lines(diagnosis)
        lines = [*hints, *[""] * bool(hints), *compared_lines(await self.session.compared())]
        lines += ["", *(printable(remark, 1000) for remark in diagnosis.remarks)]
        lines.append(compared_words(diagnosis))
        detail = self.query_one("#detail", Prose)
        detail.show("\n".join(lines))
        if not self._streams:
            detail.focus()

    def repaint(self) -> None:
        """The sentence and the marks in the colours as they are now."""
        if self._diagnosis is not None:
            self.query_one("#sentence", Static).update(self._sentence(self._diagnosis))
        self.query_one("#origins", VirtualTable).refresh()

    def _sentence(self, diagnosis: Diagnosis) -> Text:
        equal = diagnosis.verdict is Verdict.BIT_EQUAL
        status = Status.EQUAL if equal else Status.DIFFERS
        verdict = diagnosis.sentence.partition(":" if not diagnosis.origins else ".")[0]
        text = Text(diagnosis.sentence)
        text.stylize(f"bold {self.look.colour(status)}", 0, len(verdict))
        # All origins stand in the list below, and in the words beside and in the note.
        return in_lines(text, self.main_width, _SENTENCE_LINES, self.app.console)

    def _line(self, index: int, width: int) -> Text:
        origin = self._line_of(index)
        if origin is None:
            return Text(f"  {self._stream_words}  u: show")
        inside = index < len(self._origins)
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
        # Where nothing diverged, what was compared stands there until somebody moves.
        if self._diagnosis is None or not (message.index or self._origins):
            return
        if message.index >= message.table.count:
            return
        origin = self._line_of(message.index)
        if origin is not None:
            self.read("detail", self._detail, origin)
        else:
            names = ", ".join(printable(stream.component) for stream in self._streams)
            self.query_one("#detail", Prose).show(
                f"{self._stream_words}: {names}\n\nNothing that the training computes was seen to "
                "draw from them, so they are no cause of what diverged.\nu or enter shows each."
            )

    async def _detail(self, origin: Origin) -> None:
        code = await self.session.code(origin)
        inside = origin in self._origins
        found = self._diagnosis if inside else None
        hints = hint_lines(found) if found is not None else []
        provable = found is not None and not found.experiments
        self.query_one("#detail", Prose).show(_told(origin, hints, code, provable=provable))

    def go_in(self, index: int) -> None:
        """Show the values of the origin, or what a line stands for."""
        origin = self._line_of(index)
        if origin is None:
            self.toggle_equal()
            return
        self.debugger.go_to_event(origin.step, origin.buffer, values=True)

    def copied_text(self) -> str:
        """The verdict in words."""
        return render_diagnosis(self._diagnosis) if self._diagnosis else ""


def _told(origin: Origin, hints: Sequence[str], code: Code, *, provable: bool) -> Group:
    """What there is to say about an origin; what to do and the code come first, and into view."""
    parts: list[RenderableType] = []
    if origin.advice:
        first = printable(origin.advice[0], 2000)
        parts.append(Text.assemble(("Do first: ", "bold"), first))
    place, *lines = _code_lines(origin, code)
    where = [Text.assemble(("Where: ", "bold"), place), *map(_code_line, lines), Text()]
    is_known = bool(origin.location or origin.source)
    parts += where if is_known else [Text()]
    parts += [Text(f"{hint}\n", "bold") for hint in hints]
    parts += _listed("Why", [printable(line, 2000) for line in origin.evidence])
    parts.append(Text(f"{dormancy_words(origin)}\n"))
    parts += _listed("Then", [printable(line, 2000) for line in origin.advice[1:]])
    parts.append(Text(f"What would confirm it: {printable(origin.confirm, 2000)}\n"))
    if provable:
        parts.append(Text(f"{_PROVE}\n"))
    others = [f"{x.cause.value}: {printable(x.why, 400)}" for x in origin.alternatives]
    parts += _listed("What else it could be", others)
    return Group(*parts, *([] if is_known else where))


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
    """The place, and the lines around it: as they were recorded, else as they are here now."""
    recorded = excerpt_lines(origin)
    if recorded:
        meant = next((at for at, line in enumerate(recorded) if line.startswith(MARK)), 0)
        lines = recorded[max(0, meant - _CODE_AROUND) :][:_CODE_LINES]
        while lines and lines[-1].strip().isdecimal():
            # A number alone: a blank line of the source.
            lines.pop()
        return [operator_words(origin), *lines]
    place, *lines = code.text().splitlines()
    unknown = [] if code.operator else ["operator: not recorded (no second pass looked into it)"]
    return [operator_words(origin) or place, *lines, *unknown]
