"""The app: screens, actions, and nothing that reads or decides."""

from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.tui.actions import ACTIONS, bindings
from bisect_debugger.tui.export import edit, editor_command, write_copied, write_numbered
from bisect_debugger.tui.look import elide
from bisect_debugger.tui.screens.base import BaseScreen
from bisect_debugger.tui.screens.buffer import BufferScreen
from bisect_debugger.tui.screens.buffers import BuffersScreen
from bisect_debugger.tui.screens.help import HelpScreen
from bisect_debugger.tui.screens.note import NoteScreen
from bisect_debugger.tui.screens.prompt import Prompt
from bisect_debugger.tui.screens.timeline import TimelineScreen
from bisect_debugger.tui.screens.trail import TrailScreen
from bisect_debugger.tui.screens.verdict import VerdictScreen
from bisect_debugger.tui.session import Session
from bisect_debugger.twins import Row, open_pair


class BisectApp(App[None]):
    """The terminal UI over one pair of runs."""

    TITLE = "bisect-debugger"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, session: Session | None, *, ascii_only: bool = False) -> None:
        """Show a session.

        Args:
            session: the open runs, or None where `open_session` brings them later.
            ascii_only: plain ASCII symbols.
        """
        super().__init__()
        self._session = session
        self.ascii_only = ascii_only
        self.animation_level = "none"
        self._screens: dict[str, BaseScreen] = {}
        self._came_from: list[str] = []

    @property
    def session(self) -> Session:
        """The open runs."""
        assert self._session is not None, "screens are made when there is a session"
        return self._session

    def on_mount(self) -> None:
        """Begin."""
        self.begin()

    def begin(self) -> None:
        """Show the runs that are open from the start."""
        self.open_session(self.session)

    def open_session(self, session: Session) -> None:
        """Begin with the verdict; the timeline and buffers keep their state while hidden."""
        self._session = session
        makers: dict[str, type[BaseScreen]] = {
            "verdict": VerdictScreen,
            "trail": TrailScreen,
            "timeline": TimelineScreen,
            "buffers": BuffersScreen,
            "buffer": BufferScreen,
            "note": NoteScreen,
            "help": HelpScreen,
        }
        for name, maker in makers.items():
            self._screens[name] = maker()
            self.install_screen(self._screens[name], name)
        self.push_screen("verdict")

    def on_unmount(self) -> None:
        """Close the runs after the last read."""
        if self._session is not None:
            self._session.close()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action of the registry, in the palette."""
        for action in ACTIONS:
            yield SystemCommand(
                action.label,
                f"{action.help} ({action.shown})",
                lambda name=action.name: self.run_worker(self.run_action(name)),
            )

    def on_key(self, event: events.Key) -> None:
        """Hand a key that nobody took to the prompt: an input takes its own before."""
        if isinstance(self.screen, Prompt):
            self.screen.take(event)

    # --- going from screen to screen

    async def go(self, name: str) -> None:
        """Show a screen; `esc` leads back to the one before."""
        current = self._current_name()
        if name == current:
            return
        if current:
            self._came_from.append(current)
        await self.switch_screen(name)

    def _current_name(self) -> str:
        for name, screen in self._screens.items():
            if screen is self.screen:
                return name
        return ""

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        self.run_worker(work, exclusive=True, group="navigation")

    def show_step(self, common_row: int, name: str = "") -> None:
        """Show the events of a common step."""
        self._later(self._show_step(common_row, name))

    async def _show_step(self, common_row: int, name: str) -> None:
        await self.go("buffers")
        await self._buffers.show_step(common_row, name)

    def show_row(self, row: Row) -> None:
        """Show the numbers of one event."""
        self._later(self._show_row(row))

    async def _show_row(self, row: Row) -> None:
        await self.go("buffer")
        screen = self._screens["buffer"]
        assert isinstance(screen, BufferScreen)
        await screen.show_row(row)

    def go_to_event(self, step: int, name: str, *, values: bool = False) -> None:
        """Go to a buffer in a step, and into its values if asked for."""
        self._later(self._go_to_event(step, name, values))

    async def _go_to_event(self, step: int, name: str, values: bool) -> None:
        common_row = await self.session.row_of_step(step)
        if common_row is None:
            self.say(await self._no_such_step(step))
            return
        await self._show_step(common_row, name)
        chosen = self._buffers.chosen
        if values and chosen is not None and chosen.name == name:
            await self._show_row(chosen)

    async def _no_such_step(self, step: int) -> str:
        first = step_words(await self.session.step_number(0))
        last = step_words(await self.session.step_number(self.session.step_count - 1))
        return f"{step_words(step)} is not in both runs: they share {first} to {last}"

    def say(self, text: str) -> None:
        """Answer in the status line of the screen that a person looks at."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, BaseScreen):
                screen.say(text)
                return

    @property
    def _buffers(self) -> BuffersScreen:
        screen = self._screens["buffers"]
        assert isinstance(screen, BuffersScreen)
        return screen

    # --- actions of the registry

    async def action_show_verdict(self) -> None:
        """Show the verdict."""
        await self.go("verdict")

    async def action_show_trail(self) -> None:
        """Show the trail."""
        await self.go("trail")

    async def action_show_timeline(self) -> None:
        """Show the timeline."""
        await self.go("timeline")

    def action_show_buffers(self) -> None:
        """Show the events of the step that was shown last, of the onset at first."""
        if self._buffers.loaded:
            self._later(self.go("buffers"))
        else:
            self.action_first()

    async def action_show_buffer(self) -> None:
        """Show the numbers of the buffer under the cursor."""
        chosen = self._buffers.chosen if self.screen is self._buffers else None
        if chosen is not None:
            await self._show_row(chosen)
        else:
            await self.go("buffer")

    async def action_show_note(self) -> None:
        """Show the note."""
        await self.go("note")

    async def action_help(self) -> None:
        """Show all keys."""
        await self.go("help")

    async def action_back(self) -> None:
        """Clear the filter where one hides events; else go back to where we came from."""
        if self.screen is self._buffers and self._buffers.filter_text:
            self._buffers.set_filter("")
        elif self._came_from:
            await self.switch_screen(self._came_from.pop())

    def action_first(self) -> None:
        """Go to the first divergence."""
        self._later(self._first())

    async def _first(self) -> None:
        diagnosis = await self.session.diagnose()
        if diagnosis.onset is None:
            await self._show_step(0, "")
            self.say("nothing diverged in training: these are the first events  (u: all)")
        else:
            await self._go_to_event(diagnosis.onset.step, diagnosis.onset.buffer, values=False)

    def action_next(self) -> None:
        """Go to the next divergence."""
        self._divergence(forward=True)

    def action_previous(self) -> None:
        """Go to the previous divergence."""
        self._divergence(forward=False)

    def _divergence(self, *, forward: bool) -> None:
        screen = self.screen
        if isinstance(screen, (BuffersScreen, TimelineScreen)):
            self._later(screen.next_divergence(forward))
        else:
            self.action_first()

    def action_filter(self) -> None:
        """Ask for a filter of the events."""
        self.push_screen(
            Prompt(
                "filter names",
                "text, !text or re:pattern  enter: apply, empty for all  esc: as before",
                self._buffers.filter_text,
            ),
            lambda answer: None if answer is None else self._later(self._filter(answer)),
        )

    async def _filter(self, answer: str) -> None:
        if not self._buffers.loaded:
            await self._first()
        await self.go("buffers")
        self._buffers.set_filter(answer)

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.push_screen(
            Prompt("go to", "412, step 412, init, part of a name, or first  enter: go  esc: stay"),
            lambda answer: self._later(self._go_to(answer)) if answer else None,
        )

    async def _go_to(self, answer: str) -> None:
        word = answer.strip().removeprefix("step ").strip()
        if word == "first":
            await self._first()
        elif word.removeprefix("-").isdigit() or word == "init":
            await self._go_to_event(-1 if word == "init" else int(word), "", values=False)
        else:
            await self._go_to_name(word)

    async def _go_to_name(self, word: str) -> None:
        if not self._buffers.loaded:
            await self._first()
        await self.go("buffers")
        self.say(self._buffers.go_to_name(word))

    def action_toggle_equal(self) -> None:
        """Show or hide equal events."""
        if self._buffers.loaded:
            self._buffers.toggle_equal()

    def action_sort(self) -> None:
        """Sort the events by the next order."""
        if self._buffers.loaded:
            self._buffers.sort()

    def action_maximise(self) -> None:
        """Give the main pane the whole width, or undo it."""
        if isinstance(self.screen, BaseScreen):
            self.screen.toggle_maximised()

    # --- out of the UI

    def action_copy(self) -> None:
        """Copy what is in view to the clipboard, and write it to a file, which always works."""
        screen = self.screen
        text = screen.copied_text() if isinstance(screen, BaseScreen) else ""
        if not text:
            self.say("there is nothing to copy here")
            return
        self.copy_to_clipboard(text)
        try:
            path = write_copied(text)
        except (OSError, RuntimeError) as error:
            # Without a home folder there is no cache folder, which is a RuntimeError.
            self.say(f"copied; the cache folder cannot be written to: {elide(str(error), 60)}")
        else:
            self._say_path("copied; also written to", path)

    def action_export(self) -> None:
        """Write the note beside the first run."""
        self._later(self._export())

    async def _export(self) -> None:
        self._write_note(await self.session.note())

    def action_edit(self) -> None:
        """Write the note and open it in the editor."""
        self._later(self._edit())

    async def _edit(self) -> None:
        path = self._write_note(await self.session.note())
        if path is None:
            return
        problem = ""
        with self.suspend():
            # Nothing may leave this block by an error: the terminal would not be taken back.
            try:
                edit(editor_command(path))
            except (OSError, ValueError) as error:
                problem = elide(str(error), 50)
        if problem:
            self.say(f"the editor did not start: {problem}; see $EDITOR")

    def _write_note(self, content: str) -> Path | None:
        folder = self.session.paths[0].parent
        try:
            path = write_numbered(folder, "note", ".md", content)
        except OSError as error:
            self.say(f"{elide(str(folder), 50)} cannot be written to: {error.strerror}")
            return None
        self._say_path("the note is in", path)
        return path

    def _say_path(self, words: str, path: Path) -> None:
        self.say(f"{words} {elide(str(path), max(20, self.size.width - len(words) - 1))}")


def show(a: str | Path, b: str | Path, *, ascii_only: bool = False) -> None:
    """Open the UI on two runs and return when it is left.

    Raises:
        BisectError: a run cannot be read, before the screen is touched.
    """
    BisectApp(Session(open_pair(a, b)), ascii_only=ascii_only).run()
