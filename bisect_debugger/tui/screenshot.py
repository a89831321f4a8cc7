"""A screen as SVG or plain text, without a terminal: for documents and for CI."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot

from bisect_debugger.errors import BisectError, UiFailed, UsageError, printable
from bisect_debugger.tui.actions import ACTIONS
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.failure import failure_words

DEFAULT_SIZE = (80, 24)

_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
_FONT = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'

_QUIET = 3
"""Times in a row that nothing is being read: what was read may ask for more."""

_BEFORE: Mapping[str, tuple[str, ...]] = {
    "buffers": ("first",),
    "buffer": ("first", "show_buffer"),
    "growth": ("first", "show_growth"),
    "palette": ("palette",),
    "help": ("help",),
}
"""Actions that lead to a screen, where its own key shows nothing yet."""


def screen_names() -> tuple[str, ...]:
    """Names of the screens, in the order of their keys."""
    shown = [action.name.removeprefix("show_") for action in ACTIONS if "show_" in action.name]
    return (*shown, "help", "palette")


def check_screen(name: str) -> None:
    """Refuse a screen that does not exist.

    Raises:
        UsageError: it names those that do.
    """
    if name not in screen_names():
        known = ", ".join(screen_names())
        raise UsageError(f"There is no screen {printable(name, 40)}; the screens are {known}.")


def screenshot(
    paths: tuple[str | Path, ...],
    screen: str,
    size: tuple[int, int] = DEFAULT_SIZE,
    *,
    as_text: bool = False,
    ascii_only: bool = False,
    light: bool = False,
) -> str:
    """Paint a screen, and give it as SVG or text.

    Args:
        paths: recorded runs.
        screen: one of `screen_names`.
        size: columns and lines.
        as_text: plain lines without trailing blanks, instead of SVG.
        ascii_only: plain ASCII symbols.
        light: the light theme.

    Raises:
        UsageError: there is no such screen.
        BisectError: the runs cannot be read or compared.
        UiFailed: the UI itself failed.
    """
    check_screen(screen)
    app = _Painted(paths=paths, ascii_only=ascii_only, light=light)
    steps = _BEFORE.get(screen, (f"show_{screen}",))
    render = text_of if as_text else svg_of
    return painted(app, size, steps, lambda: render(app), lambda: app.shows_runs)


class _Painted(BisectApp):
    """An app that nobody sits in front of."""

    greets = False

    @property
    def shows_runs(self) -> bool:
        """The runs are open, and a screen of theirs is there."""
        return hasattr(self, "navigator") and self.navigator.screen is not None


def painted(
    app: App[BisectError | None],
    size: tuple[int, int],
    actions: tuple[str, ...],
    render: Callable[[], str],
    ready: Callable[[], bool] = lambda: True,
) -> str:
    """Run an app without a terminal, do some actions, and render what it shows then.

    Args:
        app: what is painted.
        size: columns and lines.
        actions: names of actions of the app.
        render: makes the picture.
        ready: the actions can begin.

    Raises:
        BisectError: the app ended with it.
        UiFailed: it failed.
    """
    found: list[str] = []

    async def pilot_it(pilot: Pilot[object]) -> None:
        while app.return_value is None and not ready():
            await settled(pilot)
        if app.return_value is not None:
            return
        await settled(pilot)
        for action in actions:
            await app.run_action(action)
            await settled(pilot)
        found.append(render())
        app.exit()

    problem = app.run(headless=True, size=size, auto_pilot=pilot_it)
    if problem is not None:
        raise problem
    if not found:
        raise UiFailed(failure_words(app._exception))
    return found[0]


async def settled(pilot: Pilot[object]) -> None:
    """Wait until nothing is read and everything is painted."""
    quiet = 0
    while quiet < _QUIET:
        await pilot.pause()
        busy = [worker for worker in pilot.app.workers if not worker.is_finished]
        quiet = 0 if busy else quiet + 1
        await pilot.app.workers.wait_for_complete(busy)
    await pilot.pause()


def text_of(app: App[BisectError | None]) -> str:
    """What the app shows, a line a row."""
    visible_screen_stack.set(app._background_screens)
    lines = (strip.text.rstrip() for strip in app.screen._compositor.render_strips())
    return "\n".join(lines) + "\n"


def svg_of(app: App[BisectError | None]) -> str:
    """What the app shows, as one SVG that needs nothing beside it.

    Rich draws it with a font from another host; the reader's own monospace font will do, because
    every stretch of text says how wide it is.
    """
    drawn = _FONT_FACE.sub("", app.export_screenshot(simplify=True))
    drawn = drawn.replace("Fira Code, monospace", _FONT).replace("arial", "sans-serif")
    lines = (line.strip() for line in drawn.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("<!--"))
