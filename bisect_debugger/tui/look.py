"""How things look: symbols, colours that colour-blind people tell apart, names that fit."""

from rich.style import Style
from rich.text import Text

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Status

COLOURS: dict[Status, str] = {
    Status.EQUAL: "#56B4E9",
    Status.WITHIN: "#F0E442",
    Status.DIFFERS: "#E69F00",
    Status.NONFINITE: "#CC79A7",
    Status.ONE_SIDED: "#CC79A7",
    Status.NOT_RECORDED: "#808080",
}
"""From the palette of Okabe and Ito, which stays distinct under colour blindness."""

SHORT_GROUPS: dict[Group, str] = {
    Group.RNG: "rng",
    Group.SIMULATOR: "sim",
    Group.REPLAY: "repl",
    Group.DATA: "data",
    Group.PARAM: "par",
    Group.FORWARD: "fwd",
    Group.LOSS: "loss",
    Group.GRAD_OUT: "gout",
    Group.GRAD_SCRATCH: "gscr",
    Group.GRAD: "grad",
    Group.OPTIM: "opt",
    Group.USER: "user",
}

_THREE = {Group.LOSS: "los", Group.GRAD_OUT: "gou", Group.GRAD_SCRATCH: "gsc", Group.GRAD: "gra"}


def short_group(group: Group, width: int) -> str:
    """The group in at most four characters, or in three where there is no room for more."""
    short = SHORT_GROUPS[group]
    if len(short) <= width:
        return short
    return _THREE.get(group, short[:width])


def groups_legend() -> Text:
    """Every group with its short form and what it is."""
    text = Text("Groups\n", "bold")
    for group in Group:
        text.append(f"{SHORT_GROUPS[group]:<5}{group.label}: {group.meaning}\n")
    return text


def symbols_legend(*, ascii_only: bool) -> Text:
    """Every symbol with its word."""
    text = Text("Symbols\n", "bold")
    for status in Status:
        text.append_text(symbol(status, ascii_only=ascii_only))
        text.append(f"  {status.word}\n")
    return text


def symbol(status: Status, *, ascii_only: bool) -> Text:
    """The status as one coloured character."""
    return Text(status.ascii_symbol if ascii_only else status.symbol, style_of(status))


def style_of(status: Status) -> Style:
    """The status's colour; bold where it diverges, so that it shows without colour too."""
    return Style(color=COLOURS[status], bold=status.diverges)


def elide(name: str, width: int) -> str:
    """A recorded name made safe and cut in the middle to a width in characters."""
    safe = printable(name, max(len(name) * 12, 16))
    if len(safe) <= width:
        return safe
    if width < 4:
        return safe[:width]
    head = (width - 1) // 2
    return f"{safe[:head]}…{safe[len(safe) - (width - 1 - head) :]}"
