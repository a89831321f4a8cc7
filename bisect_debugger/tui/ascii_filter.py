"""Nothing but ASCII leaves for the terminal: what has no plain form is shown as ``?``."""

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PLAIN = str.maketrans(
    {
        "─": "-",
        "━": "-",
        "│": "|",
        "┃": "|",
        "≠": "#",
        "∅": "0",
        "·": ".",
        "•": "-",
        "–": "-",
        "×": "x",
        "—": "-",
        "‖": "|",
        "→": ">",
        "\N{NO-BREAK SPACE}": " ",
        # The ends of a scrollbar's thumb: # says that something differs.
        **dict.fromkeys("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▔", "|"),
    }
)

_ELIDED = re.compile(r".?…")


class AsciiFilter(LineFilter):
    """Replaces each character by plain ones of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Lines as they are painted, the last stop before the terminal."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(plain(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def plain(text: str) -> str:
    """The text in ASCII, as wide as it was."""
    mapped = text.translate(_PLAIN)
    narrow = "".join(c if c.isascii() or c == "…" else "?" * cell_len(c) for c in mapped)
    # An ellipsis takes the cell before it as well: one dot alone looks like part of a name.
    return _ELIDED.sub(lambda found: "." * len(found[0]), narrow)
