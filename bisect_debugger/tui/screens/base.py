"""What every screen has: a title, a body, a status line and a footer of keys."""

from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from bisect_debugger.tui.actions import footer_text
from bisect_debugger.tui.session import Session

if TYPE_CHECKING:
    from bisect_debugger.tui.app import BisectApp

WIDE = 120
"""Columns from which a second pane stands beside the first."""

LOW = 20
"""Rows below which nothing is spent on air."""


class BaseScreen(Screen[None]):
    """A screen of the debugger; subclasses say what the panes are."""

    DEFAULT_CSS = """
    BaseScreen #title { height: 1; text-style: bold reverse; }
    BaseScreen #status { height: 1; }
    BaseScreen #footer { height: 1; color: $text-muted; }
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
        self._status = ""
        self._message = ""

    def compose(self) -> ComposeResult:
        """Title, panes, status, footer."""
        yield Static(id="title", markup=False)
        with Horizontal(id="panes"):
            yield self.main_pane()
            side = self.side_pane()
            if side is not None:
                yield side
        yield Static(id="status", markup=False)
        yield Static(id="footer", markup=False)

    def main_pane(self) -> Widget:
        """The pane that is always there; its id is ``main``."""
        raise NotImplementedError

    def side_pane(self) -> Widget | None:
        """The pane that stands beside it from `WIDE` columns on; its id is ``side``."""
        return None

    @property
    def debugger(self) -> "BisectApp":
        """The app."""
        return cast("BisectApp", self.app)

    @property
    def session(self) -> Session:
        """The open runs."""
        return self.debugger.session

    @property
    def ascii_only(self) -> bool:
        """Symbols are plain ASCII."""
        return self.debugger.ascii_only

    def set_title(self, text: str) -> None:
        """Write the title line."""
        self.query_one("#title", Static).update(Text(f" {text}"))

    def set_status(self, text: str) -> None:
        """Write what the status line says as long as there is no message."""
        self._status = text
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
        shown = Text(self._message or self._status)
        if self._message:
            shown.stylize("bold")
        self.query_one("#status", Static).update(shown)

    def on_resize(self) -> None:
        """Panes side by side where there is room, and as many keys as fit."""
        self.set_class(self.app.size.width >= WIDE, "wide")
        self.set_class(self.app.size.height < LOW, "low")
        self.query_one("#footer", Static).update(footer_text(self.app.size.width))

    def toggle_maximised(self) -> None:
        """Give the main pane the whole width, or undo it."""
        self.toggle_class("maximised")

    def copied_text(self) -> str:
        """What `copy` takes from this screen."""
        return ""
