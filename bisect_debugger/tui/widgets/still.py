"""Text in a place of its own size: what it says never moves what stands around it."""

from rich.text import Span, Text
from textual.widgets import Static


class Still(Static):
    """Text that is painted only where it is another one, and without a new layout.

    A layout goes over every widget of the screen; a status line changes with each key.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        """Say nothing yet.

        Args:
            id: Textual id; its height stands in the CSS of the screen.
            classes: Textual classes.
        """
        super().__init__(id=id, classes=classes, markup=False)
        self._said: tuple[str, list[Span], object] | None = None

    def say(self, text: Text | str, *, layout: bool = False) -> None:
        """Show text, never parsed as markup.

        Args:
            text: what to show.
            layout: its height may be another one now.
        """
        shown = Text(text) if isinstance(text, str) else text
        # Texts that differ in their ground style alone are equal to Rich.
        said = (shown.plain, list(shown.spans), shown.style)
        if said != self._said:
            self._said = said
            self.update(shown, layout=layout)
