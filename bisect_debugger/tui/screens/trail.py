"""Trail: the decision tree as it was walked, question by question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.causality.conclusion import render_tree
from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.diagnosis.trail import CONCLUSION, FORK, conclusion_of
from bisect_debugger.errors import printable
from bisect_debugger.report.text import dormancy_words, trail_lines
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.views.counts import counted
from bisect_debugger.views.names import elide, elide_end

_FOLDED_FROM = 3
"""Questions answered no, one after the other, that are folded into one line."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Questions that led past a cause each, shown as one line until somebody asks for them."""

    steps: tuple[TrailStep, ...]

    @property
    def words(self) -> str:
        """How many there are, and how to see them."""
        return f"{len(self.steps)} questions answered no, enter shows them"


Line = TrailStep | Origin | Folded


class TrailScreen(BaseScreen):
    """Questions on the path, with evidence and answer."""

    HELP: ClassVar[str] = (
        "Why the tool thinks so: every question it asked, in order, with its answer at the right. "
        "The pane below has what the answer rests on. First stands the search, then the way of "
        "each origin through the decision tree; what was answered no several times on end is one "
        "line, which enter unfolds. Beside it, from 120 columns on, stands the whole tree."
    )
    DEFAULT_CSS = """
    TrailScreen #questions { height: 2fr; }
    TrailScreen #evidence { height: 1fr; border-top: solid $primary; }
    """

    def main_pane(self) -> Widget:
        """The questions, and the evidence of the one under the cursor."""
        return Vertical(
            VirtualTable(self._line, self.unfold, id="questions"), Prose(id="evidence"), id="main"
        )

    def side_pane(self) -> Widget:
        """The whole tree."""
        return Prose(id="side")

    def __init__(self) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._trail: tuple[TrailStep, ...] = ()
        self._lines: tuple[Line, ...] = ()

    async def load(self) -> None:
        """Ask for the trail."""
        self.set_title("Trail: why the tool thinks so")
        table = self.query_one("#questions", VirtualTable)
        table.focus()
        diagnosis = await self.session.diagnose()
        lines = _lines(diagnosis)
        self._trail = tuple(line for line in lines if isinstance(line, TrailStep))
        self._lines = tuple(_folded(lines))
        table.show(len(self._lines), 0)
        self.query_one("#side", Prose).show_indented(render_tree())
        questions = counted(len(self._trail), "question")
        self.set_title(f"Trail: why the tool thinks so, {questions}")
        self.set_status("up down: what each answer rests on", "tab: scroll it", "1: verdict")

    def _line(self, index: int, width: int) -> Text:
        step = self._lines[index]
        if isinstance(step, Folded):
            return Text(f"  {step.words}", "italic")
        if isinstance(step, Origin):
            cause = f": {step.cause.value}, because"
            return Text(f"{elide(step.component, max(10, width - len(cause)))}{cause}", "bold")
        # A cell is left free before the scrollbar, whose thumb would look like part of the answer.
        answer = elide(step.answer, max(10, width // 3))
        question = elide_end(step.question, max(10, width - cell_len(answer) - 4))
        gap = " " * max(1, width - cell_len(question) - cell_len(answer) - 3)
        return Text.assemble("> ", question, gap, (answer, "bold"))

    @on(VirtualTable.Moved, "#questions")
    def show_evidence(self, message: VirtualTable.Moved) -> None:
        """Show what the answer rests on."""
        if message.index >= len(self._lines):
            return
        step = self._lines[message.index]
        if isinstance(step, Folded):
            asked = (f"- {each.question}" for each in step.steps)
            self.query_one("#evidence", Prose).show("\n".join((step.words, *asked)))
            return
        if isinstance(step, Origin):
            self.query_one("#evidence", Prose).show(
                f"How {printable(step.component)} was found to be {step.cause.value}:\n"
                f"{dormancy_words(step)}"
            )
            return
        self.query_one("#evidence", Prose).show(
            f"{step.question}\n{printable(step.evidence, 2000)}\n=> {printable(step.answer)}"
        )

    def unfold(self, index: int) -> None:
        """Show the questions of a folded line in its place."""
        line = self._lines[index]
        if isinstance(line, Folded):
            self._lines = (*self._lines[:index], *line.steps, *self._lines[index + 1 :])
            self.query_one("#questions", VirtualTable).show(len(self._lines), index)

    def copied_text(self) -> str:
        """The trail in words."""
        return "\n".join(trail_lines(self._trail))


def _folded(lines: Sequence[TrailStep | Origin]) -> Iterator[Line]:
    """The same with every long row of no as one line, so that the answers that decide are seen.

    The last no before a conclusion decides as well, and stays.
    """
    row: list[TrailStep] = []
    for line in lines:
        if isinstance(line, TrailStep) and line.answer == "no":
            row.append(line)
            continue
        decides = isinstance(line, Origin) or line.node == CONCLUSION
        yield from _as_folded(row, keep_last=decides)
        row = []
        yield line
    yield from _as_folded(row, keep_last=True)


def _as_folded(row: Sequence[TrailStep], *, keep_last: bool) -> Iterator[Line]:
    kept = len(row) - 1 if keep_last else len(row)
    if kept < _FOLDED_FROM:
        yield from row
        return
    yield Folded(tuple(row[:kept]))
    yield from row[kept:]


def _lines(diagnosis: Diagnosis) -> tuple[TrailStep | Origin, ...]:
    """The search, then the way of each origin through the tree under its name."""
    trail = diagnosis.trail
    if not diagnosis.origins:
        return trail
    fork = next((place for place, step in enumerate(trail, 1) if step.node == FORK), len(trail))
    lines: list[TrailStep | Origin] = list(trail[:fork])
    for origin in diagnosis.origins:
        lines += (origin, *origin.trail, conclusion_of(origin))
    return tuple(lines)
