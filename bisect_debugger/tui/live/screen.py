"""Live: paints what was heard, several times a second."""

import time
from collections.abc import Callable

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.events import Click
from textual.screen import Screen
from textual.widgets import Static

from bisect_debugger.progress import Seen
from bisect_debugger.tui.live.view import live_lines, title
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.widgets.still import Still

_LOOKS_PER_SECOND = 4


class LiveScreen(Screen[None]):
    """Both runs as they go; there is no session yet that could be asked for more."""

    DEFAULT_CSS = """
    LiveScreen Static { text-wrap: nowrap; text-overflow: ellipsis; }
    LiveScreen #title { height: 1; text-style: bold reverse; }
    LiveScreen #main { height: 1fr; }
    LiveScreen #status { height: 1; }
    LiveScreen #footer { height: 1; color: $text-muted; }
    """

    def __init__(
        self, see: Callable[[], Seen], look: Look, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Paint on mounting.

        Args:
            see: gives what there is to see; it is asked several times a second.
            look: how statuses are painted.
            clock: seconds, on the clock of the events.
        """
        super().__init__()
        self._clock = clock
        self._see = see
        self._look = look

    def compose(self) -> ComposeResult:
        """Title, all that is to be seen, status, keys."""
        yield Still(id="title")
        yield Still(id="main")
        yield Still(id="status")
        yield Static("q stop (asks first)  ctrl+z suspend", id="footer", markup=False)

    def on_mount(self) -> None:
        """Look again and again."""
        self.query_one("#status", Still).say("the verdict follows by itself")
        self.set_interval(1 / _LOOKS_PER_SECOND, self.paint)

    def on_resize(self) -> None:
        """Lay it out anew, once there is a layout."""
        self.call_after_refresh(self.paint)

    def paint(self) -> None:
        """Show what there is to see now, if it is something else than before."""
        seen = self._see()
        size = self.query_one("#main").size
        if not size.width or not size.height:
            return
        lines = live_lines(seen, self._clock(), size.width, size.height, self._look)
        self.query_one("#main", Still).say(Text("\n").join(lines))
        self.query_one("#title", Still).say(f" {title(seen.view)}")

    def say(self, text: str) -> None:
        """Write the status line."""
        self.query_one("#status", Still).say(Text(text, "bold"))

    @on(Click, "#footer")
    async def ask_to_stop(self) -> None:
        """A click on the keys is as good as the key."""
        await self.app.run_action("quit")
