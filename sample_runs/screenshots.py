"""Paints the screens that docs/tui.md shows, from the sample run.

    python -m sample_runs.screenshots            # docs/images/tui-*.svg

A picture is what the tool itself paints, the same bytes each time. The live screen has no recorded
run to show; it is painted from fixed events of a `twin`.
"""

from contextlib import chdir
from pathlib import Path

from textual.app import App

from bisect_debugger.errors import BisectError
from bisect_debugger.progress import (
    Event,
    Phase,
    RunAdvanced,
    RunBegan,
    RunEnded,
    TrainerSaid,
    TwinsBegan,
    Watched,
)
from bisect_debugger.tui.live.screen import LiveScreen
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.screenshot import DEFAULT_SIZE, painted, screen_names, screenshot, svg_of

HERE = Path(__file__).resolve().parent
IMAGES = HERE.parent / "docs" / "images"

# As somebody would type them at the top of a checkout: no path of a machine is in a picture.
TWINS = (Path("sample_runs/two_origins/a.h5"), Path("sample_runs/two_origins/b.h5"))

LIVE_EVENTS: tuple[Event, ...] = (
    TwinsBegan(("python", "train.py", "--seed", "42"), Path(".bisect-debugger/twins/1"), 2),
    RunBegan("run 1 of 2", Phase.RECORDED, None, 0.0),
    RunAdvanced(399, 9_600_000, 64_400, 0, 34.0),
    RunEnded("run 1 of 2", Phase.RECORDED, "steps 0 to 399", 36.0, 399),
    RunBegan("run 2 of 2", Phase.COMPARED, 400, 36.0),
    RunAdvanced(0, 10_000, 161, 0, 40.0),
    RunAdvanced(240, 5_800_000, 38_801, 1_928, 60.0),
    TrainerSaid(b"".join(b"step %d loss 0.5%03d\n" % (n, n * n % 997) for n in range(230, 242))),
)
"""Two runs of 400 steps, the second of them under way."""


class _LiveApp(App[BisectError | None]):
    """Nothing but the live screen."""

    TITLE = "bisect-debugger"

    def on_mount(self) -> None:
        """Show what was heard."""
        watched = Watched()
        for event in LIVE_EVENTS:
            watched(event)
        self.push_screen(LiveScreen(watched.look, Look(), lambda: 60.0))


def picture(name: str) -> str:
    """The SVG of a screen, ``live`` among them."""
    if name == "live":
        app = _LiveApp()
        return painted(app, DEFAULT_SIZE, (), lambda: svg_of(app))
    with chdir(HERE.parent):
        return screenshot(TWINS, name)


def names() -> tuple[str, ...]:
    """All screens."""
    return ("live", *screen_names())


def file_of(name: str) -> Path:
    """Where the picture of a screen is."""
    return IMAGES / f"tui-{name}.svg"


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for name in names():
        file_of(name).write_text(picture(name), encoding="utf-8")
        print(f"{file_of(name).relative_to(HERE.parent)} painted")


if __name__ == "__main__":
    main()
