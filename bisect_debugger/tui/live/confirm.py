"""The question before a training, or what else runs, is stopped."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Static


class Confirm(ModalScreen[bool]):
    """Asks whether what runs is to be stopped; a click on an answer answers too.

    | key | does |
    |---|---|
    | y, ctrl+c | stop |
    | n, escape, q | go on |
    """

    DEFAULT_CSS = """
    Confirm { align: left bottom; background: transparent; }
    Confirm #question { height: 1; width: 100%; text-style: bold; background: $surface; }
    Confirm Horizontal { height: 1; width: 100%; background: $surface; }
    Confirm .answer { height: 1; width: auto; padding-right: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,ctrl+c", "answer(True)", "stop", show=False, priority=True),
        Binding("n,escape,q,ctrl+q", "answer(False)", "go on", show=False, priority=True),
    ]

    def __init__(self, what: str) -> None:
        """Ask.

        Args:
            what: what is stopped, e.g. ``the training``.
        """
        super().__init__()
        self._what = what

    def compose(self) -> ComposeResult:
        """The question, and below it the answers."""
        question = f"Stop {self._what}? What was recorded so far is kept."
        yield Static(question, id="question", markup=False)
        with Horizontal():
            yield Static("y: stop it", id="stop", classes="answer", markup=False)
            yield Static("n: let it go on", id="go-on", classes="answer", markup=False)

    def action_answer(self, stop: bool) -> None:
        """Answer."""
        self.dismiss(stop)

    @on(Click, "#stop")
    def stop(self) -> None:
        """The first answer was clicked."""
        self.dismiss(True)

    @on(Click, "#go-on")
    def go_on(self) -> None:
        """The second answer was clicked."""
        self.dismiss(False)
