"""What every screen has: a title, a body, a status line and a footer of keys."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeAlias, cast

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker

from bisect_debugger.errors import BisectError
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.session import Session
from bisect_debugger.tui.widgets.keybar import KeyBar
from bisect_debugger.tui.widgets.still import Still
from bisect_debugger.tui.widgets.table import VirtualTable

if TYPE_CHECKING:
    from bisect_debugger.tui.app import BisectApp

P = ParamSpec("P")
Work: TypeAlias = Callable[P, Coroutine[Any, Any, None]]

WIDE = 120
"""Columns from which a second pane stands beside the first."""

LOW = 20
"""Rows below which nothing is spent on air."""


class BaseScreen(Screen[None]):
    """A screen of the debugger; subclasses say what the panes are and what to load."""

    HELP: ClassVar[str] = ""
    """What the screen shows and what the keys do here, for the help."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "go in", show=False)]
    """Enter in a pane of text goes into what the list beside it is on."""

    DEFAULT_CSS = """
    BaseScreen #title { height: 1; text-style: bold reverse; }
    BaseScreen #status { height: 1; }
    BaseScreen #status.long { height: auto; max-height: 4; text-wrap: wrap; }
    BaseScreen .line, BaseScreen > Static { text-wrap: nowrap; text-overflow: ellipsis; }
    BaseScreen #panes { height: 1fr; }
    BaseScreen #main { width: 1fr; }
    BaseScreen #side { width: 1fr; padding-left: 1; border-left: solid $primary; display: none; }
    BaseScreen.wide #side { display: block; }
    BaseScreen.maximised #side { display: none; }
    """

    def __init__(self) -> None:
        """Nothing is said yet."""
        super().__init__()
        self._title = ""
        self._status: tuple[str, ...] = ()
        self._message = ""
        self._busy = ""

    def compose(self) -> ComposeResult:
        """Title, panes, status, footer."""
        yield Still(id="title")
        with Horizontal(id="panes"):
            yield self.main_pane()
            side = self.side_pane()
            if side is not None:
                yield side
        yield Still(id="status")
        yield KeyBar()

    def main_pane(self) -> Widget:
        """The pane that is always there; its id is ``main``."""
        raise NotImplementedError

    def side_pane(self) -> Widget | None:
        """The pane that stands beside it from `WIDE` columns on; its id is ``side``."""
        return None

    async def load(self) -> None:
        """Ask the session for what is shown; called once, and again for another pair."""

    def repaint(self) -> None:
        """Paint again what was loaded: the theme, the symbols or the size are others."""

    def on_mount(self) -> None:
        """Load; the screen stays alive meanwhile."""
        self.begin()

    def begin(self) -> None:
        """Load from the session that is open now."""
        self.read("load", self.load)

    def read(self, group: str, work: Work[P], *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
        """Do what waits for the reader; a newer one of the same group takes its place."""

        async def begun() -> None:
            await self._guarded(partial(work, *args, **kwargs))

        return self.run_worker(begun, group=group, exclusive=True)

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except BisectError as error:
            self.fail(str(error))

    def fail(self, sentence: str) -> None:
        """Tell what could not be read; the other screens go on."""
        self.say(sentence)

    @property
    def is_built(self) -> bool:
        """Its widgets are there; a screen is mounted before it has any."""
        return self.is_mounted and bool(self.query(KeyBar))

    @property
    def debugger(self) -> "BisectApp":
        """The app."""
        return cast("BisectApp", self.app)

    @property
    def session(self) -> Session:
        """The open runs."""
        return self.debugger.session

    @property
    def look(self) -> Look:
        """How statuses are painted."""
        return self.debugger.look

    def set_title(self, text: str) -> None:
        """Write the title line."""
        self._title = text
        self._paint_title()

    def set_busy(self, words: str) -> None:
        """Say in the title what is being read; empty when it is done."""
        if words != self._busy:
            self._busy = words
            self._paint_title()

    def _paint_title(self) -> None:
        if not self.is_built:
            return
        text = Text(f" {self._title}")
        if self._busy:
            gap = self.app.size.width - text.cell_len - len(self._busy) - 1
            text.append(f"{' ' * max(2, gap)}{self._busy}")
        self.query_one("#title", Still).say(text)

    def set_status(self, *parts: str) -> None:
        """Write what the status line says as long as there is no message.

        Args:
            parts: the most important first; where there is no room the last ones are left out.
        """
        self._status = parts
        self._paint_status()

    def say(self, text: str) -> None:
        """Answer what was asked for, in the status line, until the next key or click."""
        self._message = text
        self._paint_status()

    def on_key(self) -> None:
        """The message was read."""
        self.say("")

    def on_mouse_down(self) -> None:
        """The message was read."""
        self.say("")

    def _paint_status(self) -> None:
        if not self.is_built:
            return
        parts = list(self._status)
        while len(parts) > 1 and cell_len("  ".join(parts)) > self.app.size.width:
            parts.pop()
        shown = Text(self._message or "  ".join(parts))
        if self._message:
            shown.stylize("bold")
        status = self.query_one("#status", Still)
        # A sentence that somebody has to act on is never cut.
        long, was_long = shown.cell_len > self.app.size.width, status.has_class("long")
        status.set_class(long, "long")
        status.say(shown, layout=long or was_long)

    def on_resize(self) -> None:
        """Panes side by side where there is room, and as many keys as fit."""
        if not self.is_built:
            return
        self.set_class(self.app.size.width >= WIDE, "wide")
        self.set_class(self.app.size.height < LOW, "low")
        self.query_one(KeyBar).show(self.app.size.width)
        self._paint_title()
        self._paint_status()
        self.repaint()

    @on(VirtualTable.Moved)
    def follow_cursor(self, message: VirtualTable.Moved) -> None:
        """Paint the cursor in the frame in which a screen says what it is on."""
        message.table.follow()

    @on(KeyBar.Clicked)
    async def do_clicked(self, message: KeyBar.Clicked) -> None:
        """Do what was clicked in the footer."""
        await self.app.run_action(message.action)

    def action_choose(self) -> None:
        """Go into what the cursor of the list is on."""
        for table in self.query(VirtualTable):
            table.action_choose()
            return

    def toggle_maximised(self) -> None:
        """Give the main pane the whole width, or undo it."""
        if not (self.has_class("wide") and self.query("#side")):
            self.say("+: no second pane stands beside this one")
            return
        self.toggle_class("maximised")
        self.repaint()

    def toggle_equal(self) -> None:
        """Show or hide what the screen leaves out; most leave out nothing."""
        self.say("u: nothing is hidden here")

    def sort(self) -> None:
        """Sort by the next order; most screens have one alone."""
        self.say("s: there is one order here; buffers (4) have more")

    @property
    def main_width(self) -> int:
        """Columns of the main pane, also before it is laid out."""
        beside = self.has_class("wide") and not self.has_class("maximised")
        return self.app.size.width // 2 if beside and self.query("#side") else self.app.size.width

    def copied_text(self) -> str:
        """What `copy` takes from this screen."""
        return ""
