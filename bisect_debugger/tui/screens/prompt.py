"""A prompt at the bottom of the screen, for filters and for going to places."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class Prompt(ModalScreen[str | None]):
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
        self._early: list[events.Key] = []

    def compose(self) -> ComposeResult:
        """The hint, and below it label and input."""
        yield Static(self._hint, id="hint", markup=False)
        with Horizontal(id="line"):
            yield Static(f"{self._label}: ", id="label", markup=False)
            yield Input(self._value, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """What stands there is selected, so that typing replaces it."""
        self.query_one(Input).select_all()
        early, self._early = self._early, []
        for event in early:
            self.take(event)

    def take(self, event: events.Key) -> None:
        """Take a key that was on its way to the screen below when the prompt opened.

        Somebody types faster than a screen opens; what follows the key that opens the prompt is
        meant for the prompt.
        """
        lines = self.query(Input)
        if not lines:
            self._early.append(event)
        elif event.is_printable and event.character:
            lines.first().replace(event.character, *lines.first().selection)
        elif event.key == "enter" and not lines.first().has_focus:
            self.dismiss(lines.first().value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        """Answer None."""
        self.dismiss(None)
