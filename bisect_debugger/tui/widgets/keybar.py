"""The last line: keys with what they do, each of which can be clicked."""

from collections.abc import Iterator

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import Static

from bisect_debugger.tui.actions import Action, footer_actions

_GAP = 2


class KeyBar(Static):
    """Actions of the registry that fit into one line; a click does them."""

    DEFAULT_CSS = "KeyBar { height: 1; color: $text-muted; text-wrap: nowrap; }"

    class Clicked(Message):
        """An action was clicked."""

        def __init__(self, action: str) -> None:
            self.action = action
            super().__init__()

    def __init__(self) -> None:
        """Empty until its width is known."""
        super().__init__(id="footer", markup=False)
        self._shown: tuple[Action, ...] = ()

    def show(self, width: int) -> None:
        """Show as many actions as fit."""
        self._shown = footer_actions(width)
        text = Text(no_wrap=True)
        for action in self._shown:
            if text:
                text.append(" " * _GAP)
            text.append(action.shown, "bold")
            text.append(f" {action.label}")
        self.update(text)

    def column_of(self, name: str) -> int | None:
        """The first column of an action, or None where it does not fit."""
        return next((place.start for action, place in self._places() if action.name == name), None)

    def on_click(self, event: events.Click) -> None:
        """Tell which action stands there."""
        for action, place in self._places():
            if event.x in place:
                self.post_message(self.Clicked(action.name))

    def _places(self) -> Iterator[tuple[Action, range]]:
        """The actions with the columns that they take."""
        column = 0
        for action in self._shown:
            width = len(f"{action.shown} {action.label}")
            yield action, range(column, column + width)
            column += width + _GAP
