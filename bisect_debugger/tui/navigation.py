"""Going from screen to screen: one place that changes Textual's stack of screens.

The stack is always Textual's own screen, one of ours, and at most a modal one above it. Everything
that moves goes through `Navigator`, one move at a time.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen
from textual.worker import Worker

from bisect_debugger.diagnosis import Verdict
from bisect_debugger.errors import BisectError
from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.tui.filters import BadFilter, NameFilter
from bisect_debugger.tui.screens.base import BaseScreen, P, Work
from bisect_debugger.tui.screens.buffer import BufferScreen
from bisect_debugger.tui.screens.buffers import BuffersScreen
from bisect_debugger.tui.screens.experiments import ExperimentsScreen
from bisect_debugger.tui.screens.growth import GrowthScreen
from bisect_debugger.tui.screens.help import HelpScreen
from bisect_debugger.tui.screens.note import NoteScreen
from bisect_debugger.tui.screens.reach import ReachScreen
from bisect_debugger.tui.screens.runs import RunsScreen
from bisect_debugger.tui.screens.timeline import TimelineScreen
from bisect_debugger.tui.screens.trail import TrailScreen
from bisect_debugger.tui.screens.verdict import VerdictScreen
from bisect_debugger.tui.targets import Target, read_target
from bisect_debugger.twins import Row
from bisect_debugger.views.names import elide

if TYPE_CHECKING:
    from bisect_debugger.tui.app import BisectApp

_MOST_BACK = 64


class Navigator:
    """Knows the screens, and the way back."""

    def __init__(self, app: "BisectApp") -> None:
        """Make the screens; each is built when it is first shown."""
        self._app = app
        self.verdict, self.trail, self.timeline = VerdictScreen(), TrailScreen(), TimelineScreen()
        self.buffers, self.buffer, self.note = BuffersScreen(), BufferScreen(), NoteScreen()
        self.growth, self.reach, self.runs = GrowthScreen(), ReachScreen(), RunsScreen()
        self.experiments, self.help = ExperimentsScreen(), HelpScreen()
        self.screens: dict[str, BaseScreen] = {
            "verdict": self.verdict,
            "trail": self.trail,
            "timeline": self.timeline,
            "buffers": self.buffers,
            "buffer": self.buffer,
            "note": self.note,
            "growth": self.growth,
            "reach": self.reach,
            "experiments": self.experiments,
            "runs": self.runs,
            "help": self.help,
        }
        for name, screen in self.screens.items():
            app.install_screen(screen, name)
        self.current = ""
        self._came_from: list[str] = []
        self._moving = asyncio.Lock()

    def later(self, work: Work[P], *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
        """Do something that reads and moves; a newer one takes its place."""

        async def begun() -> None:
            await self._guarded(partial(work, *args, **kwargs))

        return self._app.run_worker(begun, group="navigation", exclusive=True)

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async with self._moving:
            # A move that was begun by what this takes the place of is finished first.
            pass
        try:
            await work()
        except (BisectError, BadFilter) as error:
            self.say(str(error))

    def say(self, text: str) -> None:
        """Answer in the status line."""
        screen = self.screen or self._app.screen
        if isinstance(screen, BaseScreen):
            screen.say(text)

    @property
    def screen(self) -> BaseScreen | None:
        """Our screen that is on top, or below a modal one."""
        return self.screens.get(self.current)

    # --- moves

    async def go(self, name: str) -> None:
        """Show a screen; `back` leads to the one before."""
        if name == self.current:
            return
        if self.current:
            self._came_from.append(self.current)
            del self._came_from[:-_MOST_BACK]
        await self._show(name)

    async def back(self) -> None:
        """Clear the filter where one hides events; else go back to where we came from."""
        if self.current == "buffers" and self.buffers.names.text:
            await self.buffers.set_filter("")
        elif self._came_from:
            await self._show(self._came_from.pop())

    async def _show(self, name: str) -> None:
        # A move that has begun is finished, even if the work that wanted it is given up.
        await asyncio.shield(asyncio.ensure_future(self._move(name)))

    async def _move(self, name: str) -> None:
        async with self._moving:
            app = self._app
            while isinstance(app.screen, ModalScreen):
                await app.pop_screen()
            if not app.is_running or name == self.current:
                return
            if len(app.screen_stack) == 1:
                # Textual's own screen, which nothing may take away.
                await app.push_screen(self.screens[name])
            else:
                await app.switch_screen(self.screens[name])
            # Only now it is built, and may be asked.
            self.current = name

    async def show_step(self, common_row: int, name: str = "", group: Group | None = None) -> None:
        """Show the events of a common step."""
        await self.go("buffers")
        await self.buffers.show_step(common_row, name, group)

    async def show_row(self, row: Row) -> None:
        """Show the numbers of one event."""
        await self.go("buffer")
        await self.buffer.show_row(row)

    async def show_values(self) -> None:
        """Show the numbers of what the cursor is on, of what was shown last, or differed first."""
        chosen = self.buffers.chosen if self.current == "buffers" else None
        known = self._app.session.diagnosis
        onset = known.onset if known is not None else None
        if chosen is not None:
            await self.show_row(chosen)
        elif self.buffer.row is None and onset is not None and onset.buffer:
            await self.go_to_event(onset.step, onset.buffer, values=True)
        else:
            await self.go("buffer")

    async def go_to_event(self, step: int, name: str, *, values: bool = False) -> None:
        """Go to a buffer in a step, and into its values if asked for."""
        session = self._app.session
        common_row = await session.row_of_step(step)
        if common_row is None:
            first = step_words(await session.step_number(0))
            last = step_words(await session.step_number(session.step_count - 1))
            self.say(f"{step_words(step)} is not in both runs: they share {first} to {last}")
            return
        await self.show_step(common_row, name)
        chosen = self.buffers.chosen
        if values and chosen is not None and chosen.name == name:
            await self.show_row(chosen)

    async def first(self) -> None:
        """Go to the first divergence."""
        diagnosis = await self._app.session.diagnose()
        if diagnosis.onset is None:
            await self.show_step(0)
            equal = diagnosis.verdict is Verdict.BIT_EQUAL
            what = "nothing diverged in training" if equal else "no first divergence is known"
            self.say(f"{what}; this is the first step  (u: show equal events)")
        else:
            await self.go_to_event(diagnosis.onset.step, diagnosis.onset.buffer)

    async def next_divergence(self, *, forward: bool) -> None:
        """Go to the next or previous divergence of what is looked at."""
        screen = self.screen
        unloaded = isinstance(screen, BuffersScreen) and not screen.loaded
        if isinstance(screen, (BuffersScreen, TimelineScreen, BufferScreen)) and not unloaded:
            await screen.next_divergence(forward)
        else:
            await self.first()

    async def filter(self, text: str) -> None:
        """Show only events with such names; what cannot be understood is asked for again."""
        try:
            # Before anything moves: whoever mistyped stays where they were.
            await NameFilter(text).learn(())
            if not self.buffers.loaded:
                await self.first()
            await self.go("buffers")
            await self.buffers.set_filter(text)
        except BadFilter as error:
            self._app.ask_filter(text, str(error))

    async def go_to(self, typed: str) -> None:
        """Go where somebody typed to go to."""
        target: Target | str = read_target(typed)
        if isinstance(target, str):
            self.say(target)
        elif target.first:
            await self.first()
        elif target.step is not None:
            await self._go_to_step(target.step)
        else:
            await self._go_to_name(target.name)

    async def _go_to_step(self, step: int) -> None:
        row = await self._app.session.row_of_step(step)
        if self.current == "timeline" and row is not None:
            self.timeline.go_to_row(row)
        else:
            await self.go_to_event(step, "")

    async def _go_to_name(self, word: str) -> None:
        if not self.buffers.loaded:
            await self.first()
        answer = self.buffers.go_to_name(word)
        if answer is None:
            found = await self._app.session.first_step_of_name(word)
            if found is None:
                self.say(f"no buffer of these runs has {elide(word, 40)} in its name")
                return
            await self.go_to_event(*found)
            answer = self.buffers.go_to_name(word) or (
                f"not in the step before: {step_words(found[0])} is the first with it"
            )
        await self.go("buffers")
        self.say(answer)

    async def follow(self) -> None:
        """Show the growth of the buffer that is looked at, of the onset's where none is."""
        row = None
        if self.current == "buffers":
            row = self.buffers.chosen
        elif self.current == "buffer":
            row = self.buffer.row
        await self.go("growth")
        if row is not None:
            self.growth.follow(row.key)

    async def zoom(self, by: int) -> None:
        """Fewer (-1) or more (1) steps a cell of the timeline."""
        await self.go("timeline")
        self.timeline.zoom(by)

    async def explain(self) -> None:
        """Explain the screen that is looked at, and all keys."""
        if self.screen is not None and self.current != "help":
            self.help.explain(self.current, self.screen.HELP)
        await self.go("help")

    def forget(self) -> None:
        """Another pair: every screen that was built loads again."""
        for screen in self.screens.values():
            if screen.is_built:
                screen.begin()
