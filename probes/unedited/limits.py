"""When a run ends early, and the live comparison with the first run.

After each step its group digests are held against those of the run before, which lie finished on
disk. Some steps after the first difference nothing more is to be learned, so the process ends.
"""

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from probes.unedited.leaving import remove_temporary_folders
from probes.unedited.output import OutputFile, identity
from probes.writer import GroupDigests

_EFFECTS = (
    Group.SIMULATOR,
    Group.REPLAY,
    Group.DATA,
    Group.FORWARD,
    Group.LOSS,
    Group.GRAD_OUT,
    Group.GRAD_SCRATCH,
    Group.GRAD,
)
"""Groups in which a difference counts as arrived. A generator may differ and never be drawn from,
a parameter may differ from init on and sleep."""

_ROWS_AT_ONCE = 256
_NOTE_SECONDS = 0.5


class Limits:
    """Watches every closed step."""

    def __init__(self, recording: Any, settings: Any, output: OutputFile) -> None:
        """Take the limits from the settings.

        Args:
            recording: closed before the process ends.
            settings: of the session.
            output: gets its name at the first step.
        """
        values = settings.values
        self._recording, self._settings, self._output = recording, settings, output
        self._max_steps: int | None = values.get("max_steps")
        self._stop_after: int = values.get("stop_after", 2)
        self._reference = _Reference(values["reference"]) if values.get("reference") else None
        self._onset: int | None = None
        self._noted_at = 0.0
        self.last = -1
        """The last step that was closed."""

    def step_closed(self, step: int, digests: GroupDigests | None) -> None:
        """Name the file, tell the command, compare, and end the process where it is time."""
        if step < 0:
            return
        self.last = step
        if not self._output.is_named and digests is not None:
            writer = self._recording.recorder.writer
            self._output.name(writer, self._recording.rank, self._recording.world_size)
            self._settings.note(
                "named",
                path=str(self._output.path),
                process=identity(),
                suffix=self._output.suffix,
            )
        self._tell(step)
        if self._onset is None and self._differs(step, digests):
            self._onset = step
            self._settings.note("onset", step=step)
        if self._onset is not None and step >= self._onset + self._stop_after:
            self._stop(f"stopped {self._stop_after} steps after the first difference, as asked")
        elif self._max_steps is not None and step + 1 >= self._max_steps:
            self._stop(f"stopped after {self._max_steps} steps, as asked")

    def _differs(self, step: int, digests: GroupDigests | None) -> bool:
        if self._reference is None or digests is None:
            return False
        groups = digests()
        if groups is None:
            return False
        return self._reference.differs(step, groups, self._output.suffix)

    def _tell(self, step: int) -> None:
        now = time.monotonic()
        if now - self._noted_at >= _NOTE_SECONDS:
            self._noted_at = now
            self.tell_last()

    def tell_last(self) -> None:
        """Tell the command how far the run is."""
        size = 0
        with contextlib.suppress(OSError):
            size = self._output.path.stat().st_size
        self._settings.note(
            "step",
            step=self.last,
            bytes=size,
            events=self._recording.recorder.writer.event_count,
            compared=self._reference.compared if self._reference else 0,
        )

    def _stop(self, reason: str) -> None:
        """End the process as a whole: what follows is not wanted, whoever catches exceptions."""
        self._recording.close(reason)
        self._settings.note("stopped", step=self.last, reason=reason)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        if "multiprocessing.process" in sys.modules:
            for child in sys.modules["multiprocessing.process"].active_children():
                child.terminate()
        remove_temporary_folders()
        self._recording.exit_now(0)
        os.abort()


class _Reference:
    """Group digests of the finished first run, read in blocks."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file: h5py.File | None = None
        self._failed = False
        self._first = 0
        self._digests: npt.NDArray[np.uint64] = np.empty((0, 0), dtype=np.uint64)
        self._columns = [int(group) for group in _EFFECTS]
        self.compared = 0
        """Digests of groups that were held against the first run's."""

    def differs(self, step: int, digests: npt.NDArray[np.uint64], suffix: str) -> bool:
        """The first run has this step with other digests."""
        row = self._row(step + 1, suffix)
        if row is None:
            return False
        self.compared += len(self._columns)
        return bool((row[self._columns] != digests[self._columns]).any())

    def _row(self, row: int, suffix: str) -> npt.NDArray[np.uint64] | None:
        """Digests at a row of the steps table; the row of step s is s + 1, after init."""
        if self._failed:
            return None
        if not self._first <= row < self._first + len(self._digests):
            try:
                if self._file is None:
                    path = OutputFile.beside(self._path, suffix)
                    self._file = h5py.File(path, "r", locking=False)
                self._digests = self._file["steps/group_digest"][row : row + _ROWS_AT_ONCE]
                self._first = row
            except (OSError, KeyError, ValueError):
                self._failed = True
                return None
        place = row - self._first
        return self._digests[place] if place < len(self._digests) else None
