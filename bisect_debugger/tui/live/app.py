"""The app of `twin`: the live screen while the driver works, then the screens of the verdict."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from bisect_debugger.errors import BisectError
from bisect_debugger.progress import Listener, Stop
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.failure import failure_words
from bisect_debugger.tui.live.confirm import Confirm
from bisect_debugger.tui.live.screen import LiveScreen
from bisect_debugger.tui.live.view import what_runs
from bisect_debugger.tui.live.work import Found, Left, Work
from bisect_debugger.tui.look import Look

_PATIENCE_SECONDS = 5.0
"""How long the UI may take to give the terminal back, once the driver has ended."""

_INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals by which somebody ends a command."""


class LiveApp(BisectApp):
    """Shows a driver at work, and what it found.

    | key | does |
    |---|---|
    | q, escape, ctrl+c | ask whether to stop the training |
    | ctrl+z | suspend; the trainer goes on |
    """

    def __init__(self, work: Work, *, ascii_only: bool = False, light: bool = False) -> None:
        """Show work that begins when the screen is there.

        Args:
            work: the driver.
            ascii_only: plain ASCII symbols.
            light: begin with the light theme.
        """
        super().__init__(ascii_only=ascii_only, light=light)
        self._work = work
        self._live = True
        self._told_to_end = False

    def begin(self) -> None:
        """Begin with the live screen."""
        look = Look(self.ascii_only, self.current_theme.dark)
        self.push_screen(LiveScreen(self._work.look, look))
        self._work.start()
        self.set_interval(0.2, self._see_whether_it_is_over)

    def _see_whether_it_is_over(self) -> None:
        if self._told_to_end and self._work.over:
            self.exit()
        if not self._live or not self._work.over:
            return
        self._live = False
        session = self._work.session
        if session is None or self._work.stop.asked:
            self.exit()
            return
        while isinstance(self.screen, Confirm | LiveScreen):
            self.pop_screen()
        self.open_session(session, self._work.pairs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While there is no verdict, of the registry only what leaves has keys."""
        if self._live and action in ("quit", "back"):
            return True
        return super().check_action(action, parameters)

    async def action_quit(self) -> None:
        """Leave; a training is stopped only after a question."""
        if self._live:
            self._ask()
        else:
            await super().action_quit()

    async def action_back(self) -> None:
        """Go back; from the live screen this is leaving."""
        if self._live:
            self._ask()
        else:
            await super().action_back()

    def action_help_quit(self) -> None:
        """What ctrl+c does: ask, and asked again insist."""
        if self._live:
            self._ask()
        else:
            super().action_help_quit()

    def _ask(self) -> None:
        if self._work.stop.asked:
            # It was confirmed before; whoever asks again will not wait.
            self._stop(True)
        else:
            self.push_screen(Confirm(what_runs(self._work.look().view)), self._stop)

    def _stop(self, confirmed: bool | None) -> None:
        if confirmed and self._live:
            self._work.stop.ask()
            self._say_that_it_stops()

    def _say_that_it_stops(self) -> None:
        if not isinstance(self.screen, LiveScreen):
            return
        view = self._work.look().view
        if view.judging:
            self.screen.say("stopping the comparison; the recordings are kept")
        else:
            what = what_runs(view)
            self.screen.say(f"stopping: {what} has 10 s to end; q again ends it at once")

    def hear_signal(self) -> None:
        """Somebody wants this process to end: no question, and the training ends with it.

        Called from a signal handler: whoever waits is not woken by it, and looks by itself.
        """
        self._told_to_end = True
        self._work.stop.ask()

    def end_work(self) -> None:
        """Wait until the driver has ended, and insist."""
        self._work.finish()


class LiveUiFailed(BisectError):
    """The live UI ended by an error of its own."""

    def __init__(self, what: str) -> None:
        """Say what became of the training.

        Args:
            what: the error and where its traceback is, a clause, or empty.
        """
        super().__init__(
            f"The terminal UI failed{f' ({what})' if what else ''}; a training that still went on "
            "was ended with it. --no-tui does the same without the UI. Please report it."
        )


@contextlib.contextmanager
def _signals_end(app: LiveApp) -> Iterator[None]:
    """Signals end the training in order, where they would end this process and leave it behind."""
    ended = threading.Event()

    def leave_anyway() -> None:
        app.end_work()
        # Where the terminal is gone, what draws on it waits for it for ever.
        if not ended.wait(_PATIENCE_SECONDS):
            os._exit(_INTERRUPTED)

    def take(number: int, frame: FrameType | None) -> None:
        app.hear_signal()
        threading.Thread(target=leave_anyway, daemon=True).start()

    # What is ignored stays so, as below nohup.
    wanted = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, take) for number in wanted}
    try:
        yield
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def watch(
    drive: Callable[[Listener, Stop], Found], *, ascii_only: bool = False, light: bool = False
) -> Left:
    """Show a driver at work until it is done and the verdict was looked at.

    The trainer never outlives the UI, however that ends.

    Args:
        drive: does the work, in a thread of its own.
        ascii_only: plain ASCII symbols.
        light: begin with the light theme.
    """
    work = Work(drive)
    app = LiveApp(work, ascii_only=ascii_only, light=light)
    error: BaseException | None = None
    with _signals_end(app):
        try:
            app.run()
            if app.return_code:
                error = LiveUiFailed(failure_words(app.failed_of))
        finally:
            work.finish()
    return work.left(error)
