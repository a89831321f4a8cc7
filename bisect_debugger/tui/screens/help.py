"""Help: what the screen that was looked at shows, every key, every symbol and group."""

from typing import ClassVar

from rich.text import Text
from textual.widget import Widget

from bisect_debugger.causality.causes import REMEDIES
from bisect_debugger.tui.actions import ACTIONS, MOVES
from bisect_debugger.tui.look import groups_legend
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.widgets.prose import Prose


class HelpScreen(BaseScreen):
    """The screen before in a few sentences, the causes found, then all keys, symbols and groups."""

    HELP: ClassVar[str] = (
        "1 is the verdict, 2 says why, 3 shows when, 4 and 5 show what differs; 6 is the note to "
        "take away. enter goes in, esc comes back."
    )

    def __init__(self) -> None:
        """Explain no screen yet."""
        super().__init__()
        self._about = ("", "")

    def main_pane(self) -> Widget:
        """The list."""
        return Prose(id="main")

    def explain(self, name: str, sentences: str) -> None:
        """Explain a screen first."""
        self._about = (name, sentences)
        if self.is_built:
            self._show()

    async def load(self) -> None:
        """Fill the list."""
        self.set_title("Help")
        self.set_status("esc: back", "down: all keys, symbols and groups")
        self._show()
        self.query_one("#main", Prose).focus()

    def repaint(self) -> None:
        """Symbols and colours as they are now."""
        self._show()

    def _show(self) -> None:
        name, sentences = self._about
        text = Text()
        if sentences:
            text.append(f"This screen: {name}\n", "bold")
            text.append(f"{sentences}\n\n")
        text.append_text(self._causes())
        text.append("Keys\n", "bold")
        for action in ACTIONS:
            text.append(f"  {action.shown:<4} {action.help}\n")
        for keys, does in MOVES:
            text.append(f"  {keys}: {does}\n")
        text.append("\n")
        text.append_text(self.look.legend())
        text.append("\n")
        text.append_text(groups_legend())
        self.query_one("#main", Prose).show(text)

    def _causes(self) -> Text:
        """Every kind of fault that this diagnosis names, in a sentence."""
        found = self.session.diagnosis
        named = (*found.origins, *found.dormant_streams) if found is not None else ()
        text = Text()
        for cause in dict.fromkeys(origin.cause for origin in named):
            text.append(f"{cause.value}: ", "bold").append(f"{REMEDIES[cause].meaning}\n")
        return Text.assemble(("Causes named here\n", "bold"), text, "\n") if text else text

    def copied_text(self) -> str:
        """What every key does."""
        return "\n".join(f"{action.shown}\t{action.help}" for action in ACTIONS)
