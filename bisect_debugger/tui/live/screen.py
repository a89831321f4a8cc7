"""Live: paints what was heard, several times a second."""

import time
from collections.abc import Callable

from rich.text import Text
from textual import on
from textual.events import Click
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.progress import Seen
from bisect_debugger.tui.live.view import live_lines, title
from bisect_debugger.tui.screens.base import BaseScreen

_LOOKS_PER_SECOND = 4


class LiveScreen(BaseScreen):
    """Both runs as they go."""

    DEFAULT_CSS = """
    LiveScreen #main { height: 1fr; }
    """

    def __init__(self, look: Callable[[], Seen]) -> None:
        """Paint on mounting.

        Args:
            look: gives what there is to see; it is asked several times a second.
        """
        super().__init__()
        self._look = look
        self._painted: list[Text] = []

    def main_pane(self) -> Widget:
        """All of it; what does not fit is left out, in words."""
        return Static(id="main", classes="line", markup=False)

    def on_mount(self) -> None:
        """Look again and again."""
        self.set_status("the verdict follows by itself")
        self.set_interval(1 / _LOOKS_PER_SECOND, self.paint)
        self.call_after_refresh(self.paint)

    def on_resize(self) -> None:
        """Lay it out anew, once there is a layout."""
        self.call_after_refresh(self.paint)

    def paint(self) -> None:
        """Show what there is to see now, if it is something else than before."""
        seen = self._look()
        size = self.query_one("#main").size
        if not size.width or not size.height:
            return
        # Every time: the base class has the keys of a verdict there after each resize.
        self.query_one("#footer", Static).update("q stop (asks first)  y copy  ctrl+z suspend")
        self.set_title(title(seen.view))
        lines = live_lines(
            seen, time.monotonic(), size.width, size.height, ascii_only=self.ascii_only
        )
        if lines != self._painted:
            self._painted = lines
            self.query_one("#main", Static).update(Text("\n").join(lines))

    def copied_text(self) -> str:
        """What stands there, in words."""
        return "\n".join(line.plain for line in self._painted)

    @on(Click, "#footer")
    async def ask_to_stop(self) -> None:
        """A click on the keys is as good as the key."""
        await self.app.run_action("quit")
