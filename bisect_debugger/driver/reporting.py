"""Telling listeners about one run: status lines and output become events."""

import time
from dataclasses import dataclass, field
from typing import Any

from bisect_debugger.progress import (
    Listener,
    OnsetSeen,
    Phase,
    RunAdvanced,
    RunBegan,
    RunEnded,
    StillRunning,
    Stop,
    TrainerSaid,
)


@dataclass(frozen=True, slots=True)
class Watch:
    """Who hears what a driver does, and may ask it to end.

    Attributes:
        listener: takes every event.
        stop: asked from another thread; nobody asks by default.
    """

    listener: Listener
    stop: Stop = field(default_factory=Stop)


class RunReport:
    """Tells about one run from its beginning to its end."""

    def __init__(self, watch: Watch, title: str, phase: Phase, expected: int | None = None) -> None:
        """Tell that it begins.

        Args:
            watch: who hears it.
            title: what runs, e.g. ``run 1 of 2``.
            phase: what it is there for.
            expected: steps that it will take, where that is known.
        """
        self._tell = watch.listener
        self.stop = watch.stop
        self._title, self._phase = title, phase
        self._names: dict[object, str] = {}
        self._began_at = time.monotonic()
        self._tell(RunBegan(title, phase, expected, self._began_at))

    def take(self, notes: list[dict[str, Any]]) -> None:
        """Take news of the run: lines of its status file."""
        now = time.monotonic()
        advanced = False
        for note in notes:
            process = self._names.get(note.get("pid"), "")
            if note["kind"] == "named":
                # The suffix of its file: ``.rank1``, or ``.2`` for a second process.
                suffix = str(note.get("suffix", "")).strip(".").replace("rank", "rank ")
                name = f"process {suffix}" if suffix.isdecimal() else suffix.replace(".", ", ")
                self._names[note.get("pid")] = name
            elif note["kind"] == "step":
                advanced = True
                size, digests, compared = (
                    int(note.get(name, 0)) for name in ("bytes", "events", "compared")
                )
                step = int(note["step"])
                self._tell(RunAdvanced(step, size, digests, compared, now, process))
            elif note["kind"] == "onset":
                self._tell(OnsetSeen(int(note["step"]), process))
        if not advanced:
            self._tell(StillRunning(now))

    def output(self, piece: bytes) -> None:
        """Take what the trainer wrote."""
        self._tell(TrainerSaid(piece))

    def end(self, words: str, last_step: int | None = None) -> None:
        """Tell how it ended."""
        seconds = time.monotonic() - self._began_at
        self._tell(RunEnded(self._title, self._phase, words, seconds, last_step))
