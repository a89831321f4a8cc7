"""Note: how the markdown will read."""

from typing import ClassVar

from textual.widget import Widget

from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.markdown import NoteMarkdown
from bisect_debugger.tui.widgets.prose import Prose


class NoteScreen(BaseScreen):
    """A preview of the note; what is written and copied is its markdown."""

    HELP: ClassVar[str] = (
        "The note for a pull request as a browser would show it. x writes it beside the first "
        "run, E opens it in your editor, y copies the markdown."
    )

    def main_pane(self) -> Widget:
        """The note as a reader sees it."""
        return Prose(id="main")

    def __init__(self) -> None:
        """Nothing is written yet."""
        super().__init__()
        self._note = ""

    async def load(self) -> None:
        """Render the note."""
        self._note = ""
        self.set_title("Note: how it will read")
        self.set_status("x: write the file  E: write and edit it  y: copy markdown")
        pane = self.query_one("#main", Prose)
        pane.show("Writing the note ...")
        pane.focus()
        self._note = await self.session.note()
        pane.show(NoteMarkdown(self._note))

    def copied_text(self) -> str:
        """The note, as markdown."""
        return self._note
