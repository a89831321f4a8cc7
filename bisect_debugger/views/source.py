"""Some lines of the user's code around the place that a diagnosis names.

A recording may come from anywhere, so the file that it names is read only where it looks like code
that lies here: a regular ``.py`` file of ordinary size.
"""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_debugger.errors import printable

AROUND = 2
"""Lines of code shown before and after the one that is named."""

_MOST_BYTES = 4 << 20
_MOST_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Code:
    """Where an origin's code stands, with some lines of it.

    Attributes:
        operator: e.g. ``aten::index_add_``, or empty where operators were not looked at.
        location: ``file:line`` as recorded, or empty.
        lines: (number, text) around the place; empty where the file is not here.
        number: the line that is named, 0 where none is.
        why_not: why there are no lines, a clause; empty where there are.
    """

    operator: str
    location: str
    lines: tuple[tuple[int, str], ...]
    number: int
    why_not: str

    def text(self) -> str:
        """All of it in plain lines."""
        head = printable(self.location) or "not recorded"
        if self.operator:
            head = f"{printable(self.operator)} at {head}"
        shown = [head]
        shown += [
            f"{'>' if number == self.number else ' '} {number:>5}  {line}"
            for number, line in self.lines
        ]
        if self.lines:
            # The recording holds the place and not the text: somebody may have edited it since.
            shown.append("  (as the file is now)")
        elif self.location:
            shown.append(f"  ({self.why_not})")
        return "\n".join(shown)


def code_at(operator: str, location: str, folders: Sequence[Path]) -> Code:
    """Code around a recorded place.

    Args:
        operator: the culprit operator or empty.
        location: ``file:line`` or empty.
        folders: where a relative file may lie, the likeliest first.
    """
    name, _, number_text = location.rpartition(":")
    if not name or not (number_text.isascii() and number_text.isdecimal()):
        return Code(operator, location, (), 0, "no line was recorded")
    number = int(number_text[:9])
    path = _find(name, folders)
    if path is None:
        return Code(operator, location, (), number, "the file is not on this machine")
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            # As Python counts them: a form feed or a Unicode separator ends no line.
            lines = list(stream)
    except OSError:
        return Code(operator, location, (), number, "the file cannot be read")
    if not 0 < number <= len(lines):
        return Code(operator, location, (), number, "the file has no such line any more")
    lo, hi = max(1, number - AROUND), min(len(lines), number + AROUND)
    shown = tuple(
        (k, printable(lines[k - 1].expandtabs(4).rstrip(), _MOST_CHARACTERS))
        for k in range(lo, hi + 1)
    )
    return Code(operator, location, shown, number, "")


def _find(name: str, folders: Sequence[Path]) -> Path | None:
    if not name.endswith(".py") or "\0" in name or len(name) > 4096:
        return None
    candidates = [Path(name)] if Path(name).is_absolute() else [folder / name for folder in folders]
    for candidate in candidates:
        try:
            found = candidate.stat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES:
            return candidate
    return None
