"""Help: every key, made from the registry of actions; every symbol and group."""

from rich.text import Text
from textual.widget import Widget

from bisect_debugger.tui.actions import ACTIONS, MOVES
from bisect_debugger.tui.look import groups_legend, symbols_legend
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose


class HelpScreen(BaseScreen):
    """All keys, symbols and groups."""

    def main_pane(self) -> Widget:
        """The list."""
        return Prose(id="main")

    def on_mount(self) -> None:
        """Fill the list."""
        self.set_title("Help")
        self.set_status("esc: back")
        text = Text("Keys\n", "bold")
        for action in ACTIONS:
            text.append(f"  {action.shown:<8} {action.help}\n")
        for keys, does in MOVES:
            text.append(f"  {keys:<20} {does}\n")
        text.append("\n")
        text.append_text(symbols_legend(ascii_only=self.ascii_only))
        text.append("\n")
        text.append_text(groups_legend())
        self.query_one("#main", Prose).show(text)
        self.query_one("#main", Prose).focus()
