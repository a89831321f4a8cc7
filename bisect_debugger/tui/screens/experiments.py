"""Experiments: what changing one condition did to the divergence."""

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from bisect_debugger.diagnosis.model import Diagnosis
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose
from bisect_debugger.tui.widgets.table import VirtualTable
from bisect_debugger.twins import Status
from bisect_debugger.views.experiments import (
    ExperimentRow,
    best_row,
    experiment_lines,
    experiment_table,
    isolation_lines,
    none_lines,
)
from bisect_debugger.views.names import elide, pad

_EQUAL_WIDTH = 14


class ExperimentsScreen(BaseScreen):
    """A line an experiment, what it changed and says below."""

    HELP: ClassVar[str] = (
        "The twins run again, each time with one condition changed (a knob). Where every pair "
        "became equal, that condition is part of the cause. The pane below says what the knob "
        "did, what follows, and what to change."
    )
    DEFAULT_CSS = """
    ExperimentsScreen #table { height: auto; max-height: 60%; min-height: 1; }
    ExperimentsScreen #detail { height: 1fr; border-top: solid $primary; }
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._rows: tuple[ExperimentRow, ...] = ()
        self._diagnosis: Diagnosis | None = None
        self._elsewhere: tuple[Path, Path] | None = None

    def main_pane(self) -> Widget:
        """The experiments and the one under the cursor in words."""
        return Vertical(VirtualTable(self._line, id="table"), Prose(id="detail"), id="main")

    async def load(self) -> None:
        """Take them from the diagnosis."""
        self.set_title("Experiments")
        table = self.query_one("#table", VirtualTable)
        self._diagnosis = await self.session.diagnose()
        self._rows = experiment_table(self._diagnosis)
        table.display = bool(self._rows)
        table.styles.height = max(1, len(self._rows))
        if not self._rows:
            await self._tell_why_none(self._diagnosis)
            return
        told = best_row(self._rows)
        found = "none of them" if told is None else self._rows[told].knobs
        self.set_title(f"Experiments: {len(self._rows)} tried; all pairs equal with {found}")
        self.set_status("up down: what each one did", "1: verdict")
        table.show(len(self._rows), told or 0)
        table.focus()

    async def _tell_why_none(self, diagnosis: Diagnosis) -> None:
        """Say it, and the way to the pair that has some."""
        self._elsewhere = await self.session.experimented_on()
        detail = self.query_one("#detail", Prose)
        detail.show("\n".join(none_lines(diagnosis, self._elsewhere)))
        detail.focus()
        number = self.debugger.pairs.number_of(self._elsewhere)
        there = [] if number is None else [f"0: choose pair {number + 1}, which has some"]
        self.set_status(*there, "1: verdict", "2: why the tool thinks so")

    def repaint(self) -> None:
        """Colours as they are now."""
        self.query_one("#table", VirtualTable).refresh()

    def _line(self, index: int, width: int) -> Text:
        row = self._rows[index]
        helped = row.takes_away
        line = self.look.symbol(Status.EQUAL if helped else Status.DIFFERS)
        onsets = max(len(each.onset_words) for each in self._rows)
        names = max(12, width - _EQUAL_WIDTH - min(onsets, width // 3) - 4)
        line.append(f" {pad(elide(row.knobs, names), names)} ", "bold" if helped else "")
        line.append(f"{row.equal}/{row.pairs} equal".ljust(_EQUAL_WIDTH))
        line.append(row.onset_words)
        return line

    @on(VirtualTable.Moved, "#table")
    def tell(self, message: VirtualTable.Moved) -> None:
        """Say what it changed and what follows."""
        row = self._rows[message.index]
        text = Text(f"{row.says}\n", "bold")
        for did in row.did:
            text.append(f"\n{did}")
        if row.advice:
            text.append("\n\nWhat to change\n", "bold")
            text.append("\n".join(f"{n}. {line}" for n, line in enumerate(row.advice, 1)))
        if self._diagnosis is not None:
            text.append("\n\n" + "\n".join(isolation_lines(self._diagnosis)))
        self.query_one("#detail", Prose).show(text)

    def copied_text(self) -> str:
        """All of it in lines."""
        if self._diagnosis is None:
            return ""
        return "\n".join(experiment_lines(self._diagnosis, self._elsewhere))
