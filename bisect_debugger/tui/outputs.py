"""What leaves the UI: the clipboard, the note beside the run, the editor."""

from pathlib import Path
from typing import TYPE_CHECKING

from bisect_debugger.tui.export import (
    edit,
    has_editor,
    is_first_time,
    write_copied,
    write_numbered,
)
from bisect_debugger.views.names import elide

if TYPE_CHECKING:
    from bisect_debugger.tui.app import BisectApp

FIRST_TIME = "first time here? enter goes in, esc comes back, ? explains, ctrl+p lists all"
"""At most 80 characters: it has to fit into the smallest design size."""


class Outputs:
    """Writes, and says where."""

    def __init__(self, app: "BisectApp") -> None:
        """Write for an app."""
        self._app = app

    def greet(self) -> None:
        """Tell somebody who is here for the first time how to go on, once."""
        if self._app.greets and is_first_time():
            self._app.say(FIRST_TIME)

    def copy(self) -> None:
        """Copy what is in view to the clipboard, and write it to a file, which always works."""
        app = self._app
        text = app.navigator.screen.copied_text() if app.navigator.screen else ""
        if not text:
            app.say("there is nothing to copy here")
            return
        app.copy_to_clipboard(text)
        try:
            path = write_copied(text)
        except (OSError, RuntimeError) as error:
            # Without a home folder there is no cache folder, which is a RuntimeError.
            words = "sent to the clipboard; the cache folder cannot be written to"
            why = getattr(error, "strerror", None) or str(error)
            app.say(f"{words}: {elide(why, 60)}")
        else:
            # Whether a terminal takes what it is sent cannot be known; the file is certain.
            self._say_path("sent to the clipboard; also written to", path)

    async def export(self) -> None:
        """Write the note beside the first run."""
        self._write_note(await self._app.session.note())

    async def edit(self) -> None:
        """Write the note and open it in the editor."""
        app = self._app
        path = self._write_note(await app.session.note())
        if path is None:
            return
        if not has_editor():
            self._say_path("no $EDITOR is set (try: export EDITOR=nano); the note is in", path)
            return
        with app.suspend():
            problem = edit(path)
        if problem:
            app.say(elide(problem, app.size.width))

    def _write_note(self, content: str) -> Path | None:
        folder = self._app.session.paths[0].parent
        try:
            path = write_numbered(folder, "note", ".md", content)
        except OSError as error:
            self._app.say(f"{elide(str(folder), 50)} cannot be written to: {error.strerror}")
            return None
        self._say_path("the note is in", path)
        return path

    def _say_path(self, words: str, path: Path) -> None:
        app = self._app
        app.say(f"{words} {elide(str(path), max(20, app.size.width - len(words) - 1))}")
