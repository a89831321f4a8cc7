"""The table of groups x steps in the form that determinism reports have."""

from bisect_debugger.format.words import step_words
from bisect_debugger.note.escape import code
from bisect_debugger.report.grid import GridCell, GroupGrid, Named
from bisect_debugger.report.table import letters_legend, size_words

_NAME_CHARACTERS = 60


def render_table(grid: GroupGrid) -> str:
    """Rows are groups with their letter, columns are steps; below it what the letters mean."""
    lines = [
        "| group | " + " | ".join(map(step_words, grid.steps)) + " |",
        "|---|" + "---|" * len(grid.steps),
    ]
    for group, cells in zip(grid.groups, grid.cells, strict=True):
        head = f"{group.letter} {code(group.label)}".lstrip()
        lines.append(f"| {head} | " + " | ".join(map(_cell, cells)) + " |")
    letters = letters_legend(grid.groups)
    legend = ["k/n: differing of all events", *([letters] if letters else [])]
    return "\n".join([*lines, "", f"({'; '.join(legend)})"])


def _cell(cell: GridCell) -> str:
    if not cell.differing:
        return f"**{cell.word}**" if cell.status.diverges else cell.word
    words = ", ".join(map(_named, cell.worst))
    more = f", {cell.unnamed} more" if cell.unnamed else ""
    return f"**{cell.word}** {cell.counts}: {words}{more}"


def _named(named: Named) -> str:
    size = size_words(named)
    return code(named.name, _NAME_CHARACTERS) + (f" ({size})" if size else "")
