"""A history as a table for the terminal."""

from collections.abc import Sequence

from bisect_debugger.errors import printable
from bisect_debugger.history.entries import Entry, History

HEADS = ("when", "verdict", "cleared", "found", "fixed", "next")
_WIDEST = 44


def cells_of(entry: Entry) -> tuple[str, ...]:
    """What stands in the columns, each as one text."""
    return (
        entry.at.replace("T", " ").removesuffix("Z"),
        entry.verdict,
        ", ".join(entry.cleared),
        "; ".join(entry.found),
        entry.fixed,
        entry.next,
    )


def damage_words(history: History) -> str:
    """Which lines could not be read, or empty."""
    if not history.damaged:
        return ""
    numbers = ", ".join(map(str, history.damaged[:20]))
    more = f" and {len(history.damaged) - 20} more" if len(history.damaged) > 20 else ""
    return f"Damaged and left out, as they stand in the file: line {numbers}{more}."


def render_table(history: History) -> str:
    """Columns side by side; a text that is too wide goes on below itself."""
    rows = [HEADS, *map(cells_of, history.entries)]
    wrapped = [[_wrap(printable(cell, 2000)) for cell in row] for row in rows]
    widths = [max(len(line) for row in wrapped for line in row[i]) for i in range(len(HEADS))]
    lines = []
    for number, row in enumerate(wrapped):
        for index in range(max(len(cell) for cell in row)):
            texts = (cell[index] if index < len(cell) else "" for cell in row)
            lines.append(_line(list(texts), widths))
        if number == 0:
            lines.append(_line(["-" * width for width in widths], widths))
    return "\n".join(lines)


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(t.ljust(w) for t, w in zip(texts, widths, strict=True)).rstrip()


def _wrap(text: str) -> list[str]:
    """Lines of bounded width; words that are longer are cut."""
    lines, line = [], ""
    for word in text.split(" "):
        while len(word) > _WIDEST:
            lines += [line, word[:_WIDEST]] if line else [word[:_WIDEST]]
            line, word = "", word[_WIDEST:]
        if line and len(line) + 1 + len(word) > _WIDEST:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
