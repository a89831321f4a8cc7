"""Note: the markdown as it would be written."""

from textual.widget import Widget

from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose


class NoteScreen(BaseScreen):
    """A preview of the note."""

    def main_pane(self) -> Widget:
        """The markdown's source, which is what a pull request gets."""
        return Prose(id="main")

    def on_mount(self) -> None:
        """Render the note."""
        self._note = ""
        self.set_title("Note")
        self.set_status("x: write it beside the first run  E: write and open it in $EDITOR")
        self.query_one("#main", Prose).focus()
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        self._note = await self.session.note()
        self.query_one("#main", Prose).show(self._note)

    def copied_text(self) -> str:
        """The note."""
        return self._note
