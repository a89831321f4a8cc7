"""Progress of a run: one line that is drawn over on a terminal, plain lines elsewhere."""

import shutil
import threading
import time
from typing import Any

from bisect_debugger.driver.narration import narrate, on_a_terminal, pass_on

_PLAIN_SECONDS = 10.0
_DRAWN_SECONDS = 0.3


class Progress:
    """Shows the steps of one run on stderr, and lets the trainer's own output through."""

    def __init__(self, title: str, expected: int | None) -> None:
        """Begin.

        Args:
            title: what runs, e.g. ``run 1 of 2``.
            expected: steps that it will take, where that is known.
        """
        self._title, self._expected = title, expected
        self._lock = threading.Lock()
        self._terminal = on_a_terminal()
        self._started_at = time.monotonic()
        self._shown_at = self._started_at
        self._drawn = False
        self._line_open = False
        self._last: tuple[float, int, int] | None = None
        self._first: tuple[float, int] | None = None

    def take(self, notes: list[dict[str, Any]]) -> None:
        """Take news of the run, and show how far it is where it is time."""
        now = time.monotonic()
        for note in notes:
            if note["kind"] == "step":
                step = int(note["step"])
                self._first = self._first or (now, step)
                self._last = (now, step, int(note.get("bytes", 0)))
        wait = _DRAWN_SECONDS if self._terminal else _PLAIN_SECONDS
        if now - self._shown_at >= wait:
            self._shown_at = now
            with self._lock:
                self._show(now)

    def output(self, piece: bytes) -> None:
        """Write what the trainer wrote."""
        with self._lock:
            self._erase()
            pass_on(piece)
            self._line_open = not piece.endswith(b"\n")

    def end(self, words: str) -> None:
        """Say how it ended."""
        with self._lock:
            self._erase()
            if self._line_open:
                narrate("\n")
            seconds = time.monotonic() - self._started_at
            narrate(f"bisect-debugger: {self._title}: {words} ({seconds:.0f} s)\n")

    def _show(self, now: float) -> None:
        text = f"bisect-debugger: {self._title}: {self._words(now)}"
        if not self._terminal:
            narrate(f"{text}\n")
        elif not self._line_open:
            width = shutil.get_terminal_size().columns - 1
            narrate(f"\r\x1b[K{text[:width]}")
            self._drawn = True

    def _words(self, now: float) -> str:
        if self._last is None or self._first is None:
            return f"starting ({now - self._started_at:.0f} s)"
        at, step, size = self._last
        words = f"step {step}"
        passed, done = at - self._first[0], step - self._first[1]
        rate = done / passed if passed > 0 and done > 0 else 0.0
        if rate:
            words += f", {rate:.3g} steps/s"
        words += f", {size / 1e6:.1f} MB"
        if rate and self._expected:
            words += f", {max(self._expected - 1 - step, 0) / rate:.0f} s left"
        return words

    def _erase(self) -> None:
        if self._drawn:
            narrate("\r\x1b[K")
            self._drawn = False


class Silent(Progress):
    """Shows nothing, and keeps the trainer's own output to itself."""

    def __init__(self) -> None:
        """Show nothing."""
        super().__init__("", None)

    def take(self, notes: list[dict[str, Any]]) -> None:
        """Take news and keep silent."""

    def output(self, piece: bytes) -> None:
        """Drop what the trainer wrote."""
