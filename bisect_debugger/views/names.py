"""Recorded names made safe to show, and cut to a width in cells of a terminal."""

from rich.cells import cell_len, set_cell_size

from bisect_debugger.errors import printable

_PER_CELL = 4
"""Characters that are looked at for each cell: marks that take no room cannot fill memory."""


def elide(name: str, width: int) -> str:
    """A recorded name, escaped, and cut in the middle to at most this many cells.

    Args:
        name: text from a recording, of any length and content.
        width: cells of a terminal; a character takes none, one or two.
    """
    if width <= 0:
        return ""
    most = max(16, width * _PER_CELL)
    # Escaping only makes text longer, so what cannot be shown need not be escaped.
    cut = len(name) > 2 * most
    safe = printable(f"{name[:most]}{name[-most:]}" if cut else name, 26 * most)
    if not cut and len(safe) <= most and cell_len(safe) <= width:
        return safe
    if width < 4:
        return set_cell_size(safe[:most], width).rstrip()
    head = (width - 1) // 2
    return f"{_head(safe, head, most)}…{_tail(safe, width - 1 - head, most)}"


def elide_end(text: str, width: int) -> str:
    """A sentence, escaped, and cut at its end to at most this many cells.

    Args:
        text: words whose beginning says most.
        width: cells of a terminal.
    """
    safe = printable(text, max(16, width * _PER_CELL))
    if cell_len(safe) <= width:
        return safe
    return f"{_head(safe, width - 1, len(safe)).rstrip()}…" if width > 1 else safe[: max(0, width)]


def pad(text: str, width: int) -> str:
    """Text cut or filled with blanks to exactly this many cells."""
    return set_cell_size(text, max(0, width))


def _head(text: str, width: int, most: int) -> str:
    taken = text[:most]
    while cell_len(taken) > width:
        taken = taken[: max(0, len(taken) - max(1, (cell_len(taken) - width) // 2))]
    return taken


def _tail(text: str, width: int, most: int) -> str:
    taken = text[-most:]
    while cell_len(taken) > width:
        taken = taken[max(1, (cell_len(taken) - width) // 2) :]
    return taken
