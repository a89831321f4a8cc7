"""The session of a recorded command: settings in one JSON file, status lines in another.

The processes below the command find the settings through one environment variable. Each appends
what it has to tell, a line of JSON at a time, to the status file beside.
"""

import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from bisect_debugger.errors import UsageError

VARIABLE = "BISECT_DEBUGGER_SESSION"
"""Name of the environment variable that holds the path of the settings."""

_TRAVELLING = ("probes", "bisect_debugger", "h5py", "xxhash", "numpy")
"""What the recorder consists of and needs beside torch."""

_PURE = ("probes", "bisect_debugger")


_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")

KNOB_VARIABLES: dict[str, dict[str, str]] = {
    "hashseed": {"PYTHONHASHSEED": "0"},
    # In which order sets of strings are worked through decides where what comes later lies.
    "addresses": {"PYTHONHASHSEED": "0"},
    "threads": dict.fromkeys(_ONE_THREAD, "1"),
    "deterministic": {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
}
"""Environment variables of the knobs that are, or need, one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a recorded process is asked to do.

    Attributes:
        out: file to write; of several processes the later ones get a suffix.
        level: how much is kept of an event.
        steps: window of steps as ``A:B``, or None for all.
        groups: labels of the groups to record, or None for all.
        include: globs of buffer names to record.
        exclude: globs of buffer names to leave out.
        payload: first step and one past the last of which contents are kept, or None for all.
        max_steps: steps after which the process ends, or None.
        reference: finished run that each step is compared with, or None.
        stop_after: steps after the first difference at which the process ends.
        names: what tells the processes of the first run apart, and the suffix of each one's file.
        mode: ``record``, or ``witness`` for a bare run.
        witness: also tell the final parameters.
        fsync: each flush of the recording waits until the disk has it.
        knobs: conditions that are changed, by the names of `KNOB_VARIABLES` and of the recorder.
        zoom: steps of which single operators are recorded.
        isolate: the module call, or the operator, that a script is written for, or None.
    """

    out: Path
    level: str = "digest"
    steps: str | None = None
    groups: tuple[str, ...] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    payload: tuple[int, int] | None = None
    max_steps: int | None = None
    reference: Path | None = None
    stop_after: int = 2
    names: tuple[tuple[str, str], ...] = ()
    mode: str = "record"
    witness: bool = False
    fsync: bool = False
    knobs: tuple[str, ...] = ()
    zoom: tuple[int, ...] = ()
    isolate: Mapping[str, object] | None = None


@dataclass(slots=True)
class Session:
    """A session while its command runs.

    Attributes:
        path: the settings file.
        variables: environment variables that the knobs set.
        notes: status lines that were read so far.
    """

    path: Path
    variables: dict[str, str] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    _read: int = 0

    def environment(self) -> dict[str, str]:
        """The environment of the command: this process's, with the bootstrap first on its path."""
        bootstrap = str(_home_of("probes") / "probes" / "bootstrap")
        path = os.environ.get("PYTHONPATH")
        return {
            **os.environ,
            **self.variables,
            VARIABLE: str(self.path),
            "PYTHONPATH": f"{bootstrap}{os.pathsep}{path}" if path else bootstrap,
        }

    def news(self) -> list[dict[str, Any]]:
        """Status lines since the last call; whole ones only."""
        try:
            with Path(f"{self.path}.status").open("rb") as stream:
                stream.seek(self._read)
                raw = stream.read()
        except FileNotFoundError:
            return []
        end = raw.rfind(b"\n") + 1
        self._read += end
        fresh = [note for line in raw[:end].splitlines() if (note := _parsed(line)) is not None]
        self.notes += fresh
        return fresh

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The status lines of one kind, in order."""
        return [note for note in self.notes if note["kind"] == kind]

    def witnesses(self) -> dict[int, list[tuple[str, str, str]]]:
        """Final tensors by rank, as (name, layout, digest)."""
        found: dict[int, list[list[tuple[str, str, str]]]] = {}
        for path in self.path.parent.glob(f"{self.path.name}.witness.*"):
            told = json.loads(path.read_text(encoding="utf-8"))
            tensors = [tuple(entry) for entry in told["tensors"]]
            found.setdefault(int(told["rank"]), []).append(tensors)
        # Several processes may have one rank; which of them came first is chance.
        return {rank: list(chain.from_iterable(sorted(several))) for rank, several in found.items()}


@contextmanager
def session(settings: Settings) -> Iterator[Session]:
    """Write the settings down for as long as the command runs."""
    with temporary_folder() as folder:
        path = folder / "session.json"
        values = {
            name: str(value) if isinstance(value, Path) else value
            for name in Settings.__dataclass_fields__
            if (value := getattr(settings, name)) is not None
        }
        values["packages"] = _packages()
        path.write_text(json.dumps(values), encoding="utf-8")
        variables: dict[str, str] = {}
        for knob in settings.knobs:
            variables |= KNOB_VARIABLES.get(knob, {})
        yield Session(path, variables)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; its path holds wherever a trainer goes.

    Raises:
        UsageError: no folder for temporary files can be written to.
    """
    try:
        # A trainer may still be writing there, or have cleared it away.
        made = tempfile.TemporaryDirectory(prefix="bisect-debugger-", ignore_cleanup_errors=True)
        Path(made.name, "room").write_bytes(bytes(4096))
    except OSError as error:
        raise UsageError(
            f"There is no folder for temporary files that can be written to ({error.strerror}); "
            "set TMPDIR to one."
        ) from error
    with made as folder:
        yield Path(folder).absolute()


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        note = json.loads(line)
    except ValueError:
        return None
    return note if isinstance(note, dict) and isinstance(note.get("kind"), str) else None


def _packages() -> dict[str, object]:
    """Where the recorder is found by a Python that does not have it."""
    homes = {name: str(_home_of(name)) for name in _TRAVELLING}
    return {
        "cache_tag": sys.implementation.cache_tag,
        "all": homes,
        "pure": {name: homes[name] for name in _PURE},
    }


def _home_of(name: str) -> Path:
    """The folder that a package is imported from; it is found without being imported."""
    if name in _PURE:
        # They are shipped together; the current directory may hold another package of that name.
        return Path(__file__).resolve().parents[2]
    spec = importlib.util.find_spec(name)
    assert spec is not None, f"{name} is a dependency"
    assert spec.origin is not None, f"{name} is a regular package"
    return Path(spec.origin).resolve().parent.parent
