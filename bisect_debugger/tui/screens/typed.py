"""A modal screen with one input, that loses no key of somebody who types fast."""

from textual import events
from textual.screen import ModalScreen
from textual.widgets import Input


class TypedScreen(ModalScreen[str | None]):
    """Keys that were on their way to the screen below when this one opened are meant for it."""

    DEFAULT_CSS = "TypedScreen Input:nocolor > .input--selection { text-style: reverse; }"

    def __init__(self) -> None:
        """Nothing was typed yet."""
        super().__init__()
        self._early: list[events.Key] = []

    def take_early(self) -> None:
        """Take the keys that came before there was an input; called when it is there."""
        early, self._early = self._early, []
        for event in early:
            self.take(event)

    def take(self, event: events.Key) -> None:
        """Take a key that nobody else took."""
        lines = self.query(Input)
        if not lines:
            self._early.append(event)
        elif event.is_printable and event.character:
            lines.first().replace(event.character, *lines.first().selection)
        elif event.key == "enter" and not lines.first().has_focus:
            self.entered(lines.first().value)

    def entered(self, value: str) -> None:
        """Enter was pressed."""
        self.dismiss(value)
