"""Note: how the markdown will read."""

from textual.widget import Widget

from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.markdown import NoteMarkdown
from bisect_debugger.tui.widgets.prose import Prose


class NoteScreen(BaseScreen):
    """A preview of the note; what is written and copied is its markdown."""

    def main_pane(self) -> Widget:
        """The note as a reader sees it."""
        return Prose(id="main")

    def on_mount(self) -> None:
        """Render the note."""
        self._note = ""
        self.set_title("Note: how it will read")
        self.set_status("x: write the file  E: write and edit it  y: copy markdown")
        self.query_one("#main", Prose).show("Writing the note ...")
        self.query_one("#main", Prose).focus()
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        self._note = await self.session.note()
        self.query_one("#main", Prose).show(NoteMarkdown(self._note))

    def copied_text(self) -> str:
        """The note, as markdown."""
        return self._note
