"""The history of an investigation as a section of the note."""

from bisect_debugger.history.entries import History
from bisect_debugger.history.table import HEADS, cells_of, damage_words
from bisect_debugger.note.escape import text

_SHOWN = 40
_CELL_CHARACTERS = 400


def render_history(history: History) -> str:
    """A table, the newest entries where there are many."""
    lines = ["## History", "", f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
    for entry in history.entries[-_SHOWN:]:
        cells = (text(cell, _CELL_CHARACTERS) for cell in cells_of(entry))
        lines.append(f"| {' | '.join(cells)} |")
    left = len(history.entries) - _SHOWN
    notes = [f"{left} older entries are not shown."] if left > 0 else []
    notes += [damage_words(history)] if history.damaged else []
    return "\n".join([*lines, *(["", *notes] if notes else [])])
