"""Narration on stderr: one line that is drawn over on a terminal, plain lines elsewhere."""

import shutil
import threading

from bisect_debugger.driver.narration import narrate, on_a_terminal, pass_on
from bisect_debugger.progress import (
    Event,
    RunAdvanced,
    RunBegan,
    RunEnded,
    RunView,
    StillRunning,
    TrainerSaid,
)
from bisect_debugger.progress.words import narrated

_PLAIN_SECONDS = 10.0
_DRAWN_SECONDS = 0.3


class Narrator:
    """Shows the steps of each run, and lets the trainer's own output through.

    Of experiments, and of the culprit executed alone, only the results are told.
    """

    def __init__(self) -> None:
        """Say nothing yet."""
        self._lock = threading.Lock()
        self._terminal = on_a_terminal()
        self._run: RunView | None = None
        self._shown_at = 0.0
        self._drawn = False
        self._line_open = False

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        with self._lock:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        if isinstance(event, RunBegan):
            self._run = RunView(event) if event.phase.is_narrated else None
            self._shown_at = event.at
        elif isinstance(event, TrainerSaid):
            if self._run is not None:
                self._pass_on(event.piece)
            return
        elif self._run is not None:
            self._run = self._run.after(event)
        if isinstance(event, RunAdvanced | StillRunning):
            self._advanced(event.at)
        line = narrated(event)
        if line:
            self._say(line)
        if isinstance(event, RunEnded):
            self._run = None

    def _advanced(self, now: float) -> None:
        wait = _DRAWN_SECONDS if self._terminal else _PLAIN_SECONDS
        if self._run is None or now - self._shown_at < wait:
            return
        self._shown_at = now
        text = f"bisect-debugger: {self._run.began.title}: {self._run.words(now)}"
        if not self._terminal:
            narrate(f"{text}\n")
        elif not self._line_open:
            width = shutil.get_terminal_size().columns - 1
            narrate(f"\r\x1b[K{text[:width]}")
            self._drawn = True

    def _pass_on(self, piece: bytes) -> None:
        self._erase()
        pass_on(piece)
        self._line_open = not piece.endswith(b"\n")

    def _say(self, line: str) -> None:
        self._erase()
        if self._line_open:
            narrate("\n")
            self._line_open = False
        narrate(f"{line}\n")

    def _erase(self) -> None:
        if self._drawn:
            narrate("\r\x1b[K")
            self._drawn = False
