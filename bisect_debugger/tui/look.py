"""How things look: symbols with words, colours that colour-blind people tell apart."""

from dataclasses import dataclass
from functools import cache

from rich.style import Style
from rich.text import Text

from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Status

_DARK: dict[Status, str] = {
    Status.EQUAL: "#56B4E9",
    Status.WITHIN: "#F0E442",
    Status.DIFFERS: "#E69F00",
    Status.NONFINITE: "#CC79A7",
    Status.ONE_SIDED: "#CC79A7",
    Status.NOT_RECORDED: "#8A8A8A",
}
"""From the palette of Okabe and Ito, which stays distinct under colour blindness."""

_LIGHT: dict[Status, str] = {
    Status.EQUAL: "#0072B2",
    Status.WITHIN: "#6E5F00",
    Status.DIFFERS: "#B34700",
    Status.NONFINITE: "#A0387E",
    Status.ONE_SIDED: "#A0387E",
    Status.NOT_RECORDED: "#6B6B6B",
}
"""The same hues, dark enough to be read on a light ground (contrast of at least 4.5)."""

SHORT_GROUPS: dict[Group, str] = {
    Group.RNG: "rng",
    Group.SIMULATOR: "simulator",
    Group.REPLAY: "replay",
    Group.DATA: "data",
    Group.PARAM: "param",
    Group.FORWARD: "forward",
    Group.LOSS: "loss",
    Group.GRAD_OUT: "grad_out",
    Group.GRAD_SCRATCH: "scratch",
    Group.GRAD: "grad",
    Group.OPTIM: "optim",
    Group.USER: "user",
}
"""Heads of the ribbon's lines, at most nine characters."""


@dataclass(frozen=True, slots=True)
class Look:
    """How statuses are painted.

    Attributes:
        ascii_only: plain ASCII symbols.
        dark: the ground is dark.
    """

    ascii_only: bool = False
    dark: bool = True

    def colour(self, status: Status) -> str:
        """The status's colour on this ground."""
        return (_DARK if self.dark else _LIGHT)[status]

    def style(self, status: Status) -> Style:
        """Its colour; bold where it diverges, so that it shows without colour too."""
        return _style(self.colour(status), status.diverges)

    def character(self, status: Status) -> str:
        """The status as one character."""
        return status.ascii_symbol if self.ascii_only else status.symbol

    def symbol(self, status: Status) -> Text:
        """The status as one coloured character."""
        return Text(self.character(status), self.style(status))

    def legend(self) -> Text:
        """Every symbol with its word."""
        text = Text("Symbols\n", "bold")
        for status in Status:
            text.append_text(self.symbol(status))
            text.append(f"  {status.word}\n")
        return text


@cache
def _style(colour: str, bold: bool) -> Style:
    """One of a dozen; a page of cells asks a thousand times."""
    return Style(color=colour, bold=bold)


def groups_legend() -> Text:
    """Every group and what it is."""
    text = Text("Groups\n", "bold")
    for group in Group:
        text.append(f"{group.label:<13}{group.meaning}\n")
    return text
