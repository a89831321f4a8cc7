"""The app: the registry's actions, and nothing that reads or decides.

What reads files, and the screens that know what is in them, is imported behind the first paint:
whoever opens two runs sees within half a second that they are being opened.
"""

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, ParamSpec

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import ModalScreen

from bisect_debugger.errors import BisectError, UiFailed
from bisect_debugger.tui.actions import SUSPEND, bindings
from bisect_debugger.tui.ascii_filter import AsciiFilter
from bisect_debugger.tui.failure import failure_words
from bisect_debugger.tui.reader import Reader
from bisect_debugger.tui.screens.start import StartScreen
from bisect_debugger.tui.themes import DARK, LIGHT, THEMES

if TYPE_CHECKING:
    from bisect_debugger.format.groups import Group
    from bisect_debugger.tui.look import Look
    from bisect_debugger.tui.navigation import Navigator
    from bisect_debugger.tui.outputs import Outputs
    from bisect_debugger.tui.pairs import Pairs
    from bisect_debugger.tui.screens.base import Work
    from bisect_debugger.tui.session import Session
    from bisect_debugger.twins import Row
    from bisect_debugger.views.pairs import PairLine

P = ParamSpec("P")


class BisectApp(App[BisectError | None]):
    """The terminal UI over one pair of runs at a time; it returns why it could not go on."""

    TITLE = "bisect-debugger"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(), SUSPEND]
    # Ours lists every action, and Textual's is no part of our stack of screens.
    ENABLE_COMMAND_PALETTE = False
    greets: ClassVar[bool] = True
    """Somebody who is here for the first time is told how to go on."""

    look: "Look"
    session: "Session"
    navigator: "Navigator"
    outputs: "Outputs"
    pairs: "Pairs"

    def __init__(
        self,
        session: "Session | None" = None,
        *,
        paths: Sequence[str | Path] = (),
        ascii_only: bool = False,
        light: bool = False,
    ) -> None:
        """Show a session, or open runs behind the first paint.

        Args:
            session: open runs.
            paths: runs to open, where there is no session; every pair of one rank can be shown.
            ascii_only: plain ASCII alone leaves for the terminal.
            light: begin with the light theme.
        """
        super().__init__()
        self.ascii_only = ascii_only
        self.animation_level = "none"
        self._given = session
        self._paths = [str(path) for path in (session.paths if session else paths)]
        self._reader = Reader()
        self._opened = False
        # Textual keeps what a filter made by its identity.
        self._ascii, self._no_colour = AsciiFilter(), NoColor()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = LIGHT.name if light else DARK.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every painted line goes through; without colour the terminal's own are left."""
        filters = super().get_line_filters()
        if self.no_color:
            # Behind all others, which blend colours anew; Textual's own makes them grey.
            kept = (each for each in filters if not isinstance(each, Monochrome))
            filters = [*kept, self._no_colour]
        return [*filters, self._ascii] if self.ascii_only else filters

    @property
    def failed_of(self) -> BaseException | None:
        """The error of its own that ended it."""
        return self._exception

    def _fatal_error(self) -> None:
        """End; Textual's own way prints every frame with its locals, hundreds of lines."""
        self._close_messages_no_wait()

    def on_mount(self) -> None:
        """Begin."""
        self.begin()

    def begin(self) -> None:
        """Paint which runs are opened, then open them."""
        self.push_screen(StartScreen(self._paths))
        self.call_after_refresh(lambda: self.run_worker(self._open(), group="open"))

    async def _open(self) -> None:
        try:
            lines, session = await self._reader.ask(self._open_runs)
        except BisectError as error:
            self.exit(error)
        else:
            self.open_session(session, lines)

    def open_session(self, session: "Session", lines: "Sequence[PairLine]" = ()) -> None:
        """Show open runs, with the verdict first.

        Args:
            session: the pair that is shown first.
            lines: all pairs that can be shown.
        """
        from bisect_debugger.tui.look import Look
        from bisect_debugger.tui.navigation import Navigator
        from bisect_debugger.tui.outputs import Outputs
        from bisect_debugger.tui.pairs import Pairs

        self.look = Look(self.ascii_only, self.current_theme.dark)
        self.session, self.pairs = session, Pairs(self, lines, session)
        self.navigator, self.outputs = Navigator(self), Outputs(self)
        self._opened = True
        # What is there now stays until the end: walking over all of it again and again to find what
        # could be freed is a pause of a tenth of a second, in which no key is heard.
        gc.freeze()
        self.navigator.later(self.navigator.go, "verdict")

    def _open_runs(self) -> "tuple[Sequence[PairLine], Session]":
        """In the reader's thread: what reads is imported there as well."""
        from bisect_debugger.tui.pairs import pairs_of
        from bisect_debugger.tui.session import Session

        if self._given is not None:
            return (), self._given
        lines = pairs_of(self._paths)
        return lines, Session.open(lines[0].a, lines[0].b, self._reader)

    def on_unmount(self) -> None:
        """Close the runs after the last read."""
        if self._opened:
            gc.unfreeze()
            self.session.close()
        self._reader.close(lambda: None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is asked for, or the runs are opened, only that has keys."""
        if action == "quit":
            return True
        listens = self._opened and not isinstance(self.screen, ModalScreen)
        return listens or action not in _OURS

    def on_key(self, event: events.Key) -> None:
        """Hand a key that nobody took to the prompt: an input takes its own before."""
        if not self._opened:
            return
        from bisect_debugger.tui.screens.typed import TypedScreen

        if isinstance(self.screen, TypedScreen):
            self.screen.take(event)

    # --- for the screens

    def show_step(self, common_row: int, name: str = "", group: "Group | None" = None) -> None:
        """Show the events of a common step."""
        self._later(self.navigator.show_step, common_row, name, group)

    def show_row(self, row: "Row") -> None:
        """Show the numbers of one event."""
        self._later(self.navigator.show_row, row)

    def go_to_event(self, step: int, name: str, *, values: bool = False) -> None:
        """Go to a buffer in a step, and into its values if asked for."""
        self._later(self.navigator.go_to_event, step, name, values=values)

    def switch_pair(self, number: int) -> None:
        """Show another pair of the runs that were opened."""
        self._later(self.pairs.switch, number)

    def say(self, text: str) -> None:
        """Answer in the status line of the screen that a person looks at."""
        self.navigator.say(text)

    def _later(self, work: "Work[P]", *args: P.args, **kwargs: P.kwargs) -> None:
        self.navigator.later(work, *args, **kwargs)

    # --- actions of the registry: going to screens

    def action_show_verdict(self) -> None:
        """Show the verdict."""
        self._later(self.navigator.go, "verdict")

    def action_show_trail(self) -> None:
        """Show the trail."""
        self._later(self.navigator.go, "trail")

    def action_show_timeline(self) -> None:
        """Show the timeline."""
        self._later(self.navigator.go, "timeline")

    def action_show_buffers(self) -> None:
        """Show the events of the step that was shown last, of the onset at first."""
        if self.navigator.buffers.loaded:
            self._later(self.navigator.go, "buffers")
        else:
            self.action_first()

    def action_show_buffer(self) -> None:
        """Show the numbers of the buffer under the cursor, or looked at last."""
        self._later(self.navigator.show_values)

    def action_show_note(self) -> None:
        """Show the note."""
        self._later(self.navigator.go, "note")

    def action_show_growth(self) -> None:
        """Show how the difference of the buffer that is looked at grows."""
        self._later(self.navigator.follow)

    def action_show_reach(self) -> None:
        """Show what the origins contaminated."""
        self._later(self.navigator.go, "reach")

    def action_show_experiments(self) -> None:
        """Show the experiments."""
        self._later(self.navigator.go, "experiments")

    def action_show_runs(self) -> None:
        """Show the facts of the runs."""
        self._later(self.navigator.go, "runs")

    def action_help(self) -> None:
        """Explain the screen that is looked at."""
        self._later(self.navigator.explain)

    def action_help_quit(self) -> None:
        """What ctrl+c does: say how to leave, where answers stand."""
        if self._opened:
            self.say("q: leave")

    async def action_back(self) -> None:
        """Clear the filter where one hides events; else go back to where we came from."""
        self._later(self.navigator.back)

    def action_palette(self) -> None:
        """List everything that can be done."""
        from bisect_debugger.tui.screens.palette import Palette

        self.push_screen(Palette(), self._do)

    def _do(self, name: str | None) -> None:
        if name is not None:
            # Only when the palette is off the stack do the actions listen again.
            self.call_later(self.run_action, name)

    # --- actions of the registry: moving

    def action_first(self) -> None:
        """Go to the first divergence."""
        self._later(self.navigator.first)

    def action_next(self) -> None:
        """Go to the next divergence."""
        self._later(self.navigator.next_divergence, forward=True)

    def action_previous(self) -> None:
        """Go to the previous divergence."""
        self._later(self.navigator.next_divergence, forward=False)

    def action_filter(self) -> None:
        """Ask for a filter of the events."""
        self.ask_filter(self.navigator.buffers.names.text)

    def ask_filter(self, text: str, problem: str = "") -> None:
        """Ask for a filter.

        Args:
            text: what stands in the prompt at first.
            problem: why that was not taken, or empty.
        """
        from bisect_debugger.tui.screens.prompt import Prompt

        elsewhere = self.navigator.current != "buffers"
        hint = "text, !text or re:pattern, any case  " + (
            "enter: to the buffers (4)  esc: stay here"
            if elsewhere
            else "enter: apply, empty for all  esc: as before"
        )
        self.push_screen(
            Prompt("filter of buffers", f"{problem}  esc: as before" if problem else hint, text),
            lambda found: None if found is None else self._later(self.navigator.filter, found),
        )

    def action_go_to(self) -> None:
        """Ask where to go."""
        from bisect_debugger.tui.screens.prompt import Prompt

        known = self.session.diagnosis
        last = known.compared.last_step if known is not None else -1
        steps = f"{last}, step {last}" if last >= 0 else "a step"
        hint = f"{steps}, init, part of a name, or first  enter: go  esc: stay"
        self.push_screen(
            Prompt("go to", hint),
            lambda text: self._later(self.navigator.go_to, text) if text else None,
        )

    def action_toggle_equal(self) -> None:
        """Show or hide what the screen leaves out."""
        if self.navigator.screen is not None:
            self.navigator.screen.toggle_equal()

    def action_sort(self) -> None:
        """Sort by the next order."""
        if self.navigator.screen is not None:
            self.navigator.screen.sort()

    def action_zoom_in(self) -> None:
        """Fewer steps a cell."""
        self._later(self.navigator.zoom, -1)

    def action_zoom_out(self) -> None:
        """More steps a cell."""
        self._later(self.navigator.zoom, 1)

    def action_next_pair(self) -> None:
        """Show the next pair of runs."""
        self._later(self.pairs.move, 1)

    def action_previous_pair(self) -> None:
        """Show the pair of runs before."""
        self._later(self.pairs.move, -1)

    def action_maximise(self) -> None:
        """Give the main pane the whole width, or undo it."""
        if self.navigator.screen is not None:
            self.navigator.screen.toggle_maximised()

    def action_toggle_theme(self) -> None:
        """Change between dark and light."""
        from bisect_debugger.tui.look import Look

        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
        self.look = Look(self.ascii_only, self.current_theme.dark)
        for screen in self.navigator.screens.values():
            if screen.is_built:
                screen.repaint()

    # --- actions of the registry: out of the UI

    def action_copy(self) -> None:
        """Copy what is in view, and write it to a file, which always works."""
        self.outputs.copy()

    def action_export(self) -> None:
        """Write the note beside the first run."""
        self._later(self.outputs.export)

    def action_edit(self) -> None:
        """Write the note and open it in the editor."""
        self._later(self.outputs.edit)


_OURS = frozenset(binding.action for binding in bindings())


def show(
    *paths: str | Path,
    session: "Session | None" = None,
    ascii_only: bool = False,
    light: bool = False,
) -> None:
    """Open the UI on two or more runs and return when it is left.

    Raises:
        BisectError: the runs cannot be read or compared.
        UiFailed: the UI itself failed.
    """
    app = BisectApp(session, paths=paths, ascii_only=ascii_only, light=light)
    problem = app.run()
    if problem is not None:
        raise problem
    if app.return_code:
        raise UiFailed(failure_words(app.failed_of))
