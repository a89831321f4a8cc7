"""The table of groups x steps as text: symbols and counts, then what differs by name."""

from collections.abc import Sequence

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.report.grid import GridCell, GroupGrid, Named
from bisect_debugger.twins import Status

_LETTERS = {
    Group.REPLAY: "replay samples",
    Group.PARAM: "parameters",
    Group.FORWARD: "inputs and outputs of modules",
    Group.GRAD_OUT: "gradients of outputs",
    Group.GRAD_SCRATCH: "gradients of one backward pass",
}

_GROUP_WIDTH = 16
_NAME_CHARACTERS = 80


def render_grid(grid: GroupGrid) -> str:
    """One line a group, one column a step; below it every cell that is not equal, in words."""
    columns = [
        [step_words(step), *map(_mark, cells)]
        for step, cells in zip(grid.steps, zip(*grid.cells, strict=True), strict=False)
    ]
    heads = ["group", *(f"{group.letter} {group.label}".lstrip() for group in grid.groups)]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        f"  {head:<{_GROUP_WIDTH}}"
        + "  ".join(
            f"{column[place]:<{width}}" for column, width in zip(columns, widths, strict=True)
        )
        for place, head in enumerate(heads)
    ]
    lines.append(f"  {_legend(grid)}")
    letters = letters_legend(grid.groups)
    if letters:
        lines.append(f"  ({letters})")
    details = list(_details(grid))
    return "\n".join(line.rstrip() for line in [*lines, *([""] if details else []), *details])


def _mark(cell: GridCell) -> str:
    return f"{cell.status.symbol} {cell.counts}".rstrip()


def _legend(grid: GroupGrid) -> str:
    used = {cell.status for cells in grid.cells for cell in cells}
    words = [f"{status.symbol} {status.word}" for status in Status if status in used]
    return f"({', '.join([*words, 'k/n: differing of all events'])})"


def letters_legend(groups: Sequence[Group]) -> str:
    """What the letters before these groups stand for; empty where none of them has one."""
    words = [f"{group.letter} {_LETTERS[group]}" for group in groups if group.letter]
    return f"letters of determinism reports: {', '.join(words)}" if words else ""


def _details(grid: GroupGrid) -> list[str]:
    lines = []
    for group, cells in zip(grid.groups, grid.cells, strict=True):
        for step, cell in zip(grid.steps, cells, strict=True):
            if cell.status in (Status.EQUAL, Status.NOT_RECORDED):
                continue
            words = ", ".join(map(named_words, cell.worst))
            more = f" and {cell.unnamed} more" if cell.unnamed else ""
            tail = f": {words}{more}" if words else ""
            lines.append(f"  {step_words(step)}, {group.label} {cell.word}{tail}")
    return lines


def named_words(named: Named) -> str:
    """A differing buffer with its greatest difference, or what else is wrong with it."""
    size = size_words(named)
    return printable(named.name, _NAME_CHARACTERS) + (f" ({size})" if size else "")


def size_words(named: Named) -> str:
    """How far the sides are apart, in two digits; empty where it is not known."""
    if named.status is Status.ONE_SIDED:
        return "in one run only"
    if named.status is Status.NONFINITE:
        return "NaN or Inf on one side"
    return "" if named.max_abs is None else f"max {named.max_abs:.2g}"
