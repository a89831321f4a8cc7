"""The first thing on the screen, while the runs are opened: painted before anything is read."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from bisect_debugger.errors import printable
from bisect_debugger.tui.actions import footer_actions


class StartScreen(Screen[None]):
    """Which runs are being opened."""

    DEFAULT_CSS = """
    StartScreen #title { height: 1; text-style: bold reverse; }
    StartScreen #body { height: 1fr; padding: 1 0; }
    StartScreen #footer { height: 1; color: $text-muted; text-wrap: nowrap; }
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Name these files."""
        super().__init__()
        self._paths = paths

    def compose(self) -> ComposeResult:
        """Title, files, keys."""
        yield Static(" Verdict", id="title", markup=False)
        names = "\n".join(f"  {printable(path)}" for path in self._paths)
        yield Static(f"Opening the runs ...\n\n{names}", id="body", markup=False)
        keys = "  ".join(f"{x.shown} {x.label}" for x in footer_actions(self.app.size.width))
        yield Static(keys, id="footer", markup=False)
