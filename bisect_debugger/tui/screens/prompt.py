"""A prompt at the bottom of the screen, for filters and for going to places."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from bisect_debugger.tui.screens.typed import TypedScreen


class Prompt(TypedScreen):
    """Asks for one line, with a label before it and what may be typed above it.

    | key | does |
    |---|---|
    | enter | answer |
    | escape | answer None |
    """

    # Two lines, in place of the status line and the footer, and never a border: a border that
    # comes with the focus would leave a line of one row no room for what is typed.
    DEFAULT_CSS = """
    Prompt { align: left bottom; background: transparent; }
    Prompt #hint { height: 1; width: 100%; color: $text-muted; background: $surface; }
    Prompt #hint { text-wrap: nowrap; text-overflow: ellipsis; }
    Prompt #line { height: 1; width: 100%; background: $surface; }
    Prompt #label { height: 1; width: auto; text-style: bold; }
    Prompt Input, Prompt Input:focus { height: 1; width: 1fr; border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", show=False)]

    def __init__(self, label: str, hint: str, value: str = "") -> None:
        """Ask.

        Args:
            label: what is asked for, in a word or two.
            hint: what may be typed.
            value: what stands there at first.
        """
        super().__init__()
        self._label = label
        self._hint = hint
        self._value = value

    def compose(self) -> ComposeResult:
        """The hint, and below it label and input."""
        yield Static(self._hint, id="hint", markup=False)
        with Horizontal(id="line"):
            yield Static(f"{self._label}: ", id="label", markup=False)
            yield Input(self._value, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """What stands there is selected, so that typing replaces it."""
        # Whoever types fast may have closed the prompt before it was built.
        for line in self.query(Input):
            line.select_all()
        self.take_early()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        """Answer None."""
        self.dismiss(None)
