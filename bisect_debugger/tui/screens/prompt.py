"""A one-line prompt at the bottom of the screen, for filters and for going to places."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input


class Prompt(ModalScreen[str | None]):
    """Asks for one line; enter answers, escape gives None."""

    DEFAULT_CSS = """
    Prompt { align: left bottom; background: transparent; }
    Prompt Input { height: 1; border: none; width: 100%; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", show=False)]

    def __init__(self, hint: str, value: str = "") -> None:
        """Ask.

        Args:
            hint: shown while nothing was typed.
            value: what stands there at first.
        """
        super().__init__()
        self._hint = hint
        self._value = value

    def compose(self) -> ComposeResult:
        """One input line."""
        yield Input(self._value, placeholder=self._hint)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        """Answer None."""
        self.dismiss(None)
