"""The palette: every action by its name, found by typing, done by enter or a click."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from bisect_debugger.tui.actions import ACTIONS, Action
from bisect_debugger.tui.screens.typed import TypedScreen
from bisect_debugger.tui.widgets.table import VirtualTable


class Palette(TypedScreen):
    """Lists the actions; answers with the name of one, or None.

    | key | does |
    |---|---|
    | letters | list the actions that have them in their name or sentence |
    | up down, page up, page down | move the cursor |
    | enter | do the action under the cursor |
    | escape | close |
    """

    DEFAULT_CSS = """
    Palette { align: center top; background: transparent; }
    Palette #box { width: 100%; max-width: 90; height: auto; max-height: 100%; }
    Palette #box { background: $surface; border-bottom: solid $primary; }
    Palette Input, Palette Input:focus { height: 1; width: 1fr; border: none; padding: 0; }
    Palette VirtualTable { height: auto; max-height: 100%; background: $surface; }
    Palette #none { height: 1; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "cancel", "close", show=False),
        Binding("up", "move(-1)", "up", show=False, priority=True),
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("pageup", "page(-1)", "page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "page down", show=False, priority=True),
    ]

    def __init__(self) -> None:
        """List everything."""
        super().__init__()
        self._found: Sequence[Action] = ACTIONS

    def compose(self) -> ComposeResult:
        """What is typed, and what matches."""
        with Vertical(id="box"):
            yield Input(placeholder="type to find, enter to do, esc to close", compact=True)
            yield VirtualTable(self._line, self.choose, id="found")
            yield Static("nothing is called so", id="none", markup=False)

    def on_mount(self) -> None:
        """Everything is listed; what is typed goes into the input."""
        self._list()
        for line in self.query(Input):
            line.focus()
        self.take_early()

    def on_resize(self) -> None:
        """The list is as high as there is room for."""
        self._list()

    def _line(self, index: int, width: int) -> Text:
        action = self._found[index]
        return Text.assemble((f" {action.shown:<5}", "bold"), f"{action.label:<14}{action.help}")

    @on(Input.Changed)
    def find(self, event: Input.Changed) -> None:
        """List the actions in which every word that was typed occurs."""
        typed = event.value.strip().lower()
        found = [
            action
            for action in ACTIONS
            if all(
                word in f"{action.shown} {action.label} {action.help}".lower()
                for word in typed.split()
            )
        ]
        # The name that was typed comes before sentences that happen to hold it.
        names = sorted(found, key=lambda x: (x.label != typed, not x.label.startswith(typed)))
        self._found = names if typed else found
        self._list()

    def _list(self) -> None:
        if not self.query("#none"):
            # Whoever types fast may have closed the palette before it was built.
            return
        table = self.query_one(VirtualTable)
        room = max(1, self.app.size.height - 3)
        table.styles.height = max(1, min(room, len(self._found)))
        table.display = bool(self._found)
        self.query_one("#none").display = not self._found
        table.show(len(self._found), 0)

    def entered(self, value: str) -> None:
        """Do what the cursor is on, if anything was found."""
        self.do()

    @on(Input.Submitted)
    def do(self) -> None:
        """Do what the cursor is on."""
        if self._found and self.query(VirtualTable):
            self.dismiss(self._found[self.query_one(VirtualTable).cursor].name)

    def choose(self, index: int) -> None:
        """Do what was clicked."""
        self.dismiss(self._found[index].name)

    @on(VirtualTable.Moved)
    def stay(self, message: VirtualTable.Moved) -> None:
        """Keep the moves of this list from the screen below."""
        message.stop()
        message.table.follow()

    def on_click(self, event: events.Click) -> None:
        """A click beside the list closes it."""
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Move the cursor while the input keeps the letters."""
        self.query_one(VirtualTable).action_move(by)

    def action_page(self, by: int) -> None:
        """Move it by pages."""
        self.query_one(VirtualTable).action_page(by)

    def action_cancel(self) -> None:
        """Answer None."""
        self.dismiss(None)
