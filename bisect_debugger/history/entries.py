"""Entries of a history, and the file that they stand in."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bisect_debugger.errors import UnreadableRun, UsageError, printable
from bisect_debugger.format.words import step_words

VERSION = 1
PATH = Path(".bisect-debugger/history.jsonl")
MOST_BYTES = 64 << 20
_LONGEST_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """One diagnosis, or one thing that was done about one.

    Attributes:
        at: when it was added, as ``2026-01-31T12:00:00Z``.
        verdict: of the diagnosis, or empty.
        cleared: groups that were compared and are equal in every step.
        found: each origin as ``component: cause, step``.
        fixed: what was changed, in a person's words or as a commit.
        next: what is looked at next.
    """

    at: str
    verdict: str = ""
    cleared: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    fixed: str = ""
    next: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What a history holds.

    Attributes:
        entries: in the order in which they were added.
        damaged: numbers of the lines that could not be read.
    """

    entries: tuple[Entry, ...]
    damaged: tuple[int, ...]


def append(path: Path, entry: Entry) -> None:
    """Add an entry behind all others.

    Raises:
        UsageError: the file cannot be written.
    """
    line = json.dumps({"version": VERSION, **asdict(entry)}) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            # A line that was cut off stays as it is, and this one does not become a part of it.
            whole = not stream.tell() or _ends_a_line(path)
            os.write(stream.fileno(), (line if whole else f"\n{line}").encode())
    except OSError as error:
        raise UsageError(
            f"{printable(str(path))} cannot be written ({error.strerror}); name a file in a folder "
            "that you can write to with --file."
        ) from error


def read(path: Path) -> History:
    """All entries; a damaged line is named and skipped.

    Raises:
        UsageError: there is no such file.
        UnreadableRun: it cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableRun(path, "it is too large for a history", "name another with --file")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"{printable(str(path))} is not there; add to it first: bisect-debugger history add."
        ) from None
    except OSError as error:
        raise UnreadableRun(path, str(error.strerror), "name another with --file") from error
    entries, damaged = [], []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entries.append(_entry(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            damaged.append(number)
    return History(tuple(entries), tuple(damaged))


def from_diagnosis(diagnosis: Mapping[str, Any]) -> Entry:
    """What a diagnosis in JSON tells a history; time, fix and next step are left empty.

    Raises:
        KeyError: it is no diagnosis.
        TypeError: likewise.
        ValueError: likewise.
    """
    found = []
    for origin in diagnosis["origins"]:
        step = origin["step"]
        proven = ", proven" if origin["proven"] else ""
        where = f"{step_words(int(step))}{proven}"
        found.append(f"{origin['component']}: {origin['cause']} ({where})")
    cleared = diagnosis["compared"].get("cleared") or ()
    return Entry("", str(diagnosis["verdict"]), tuple(map(_text, cleared)), tuple(found))


def _entry(value: dict[str, Any]) -> Entry:
    if value["version"] != VERSION:
        raise ValueError("another version")
    return Entry(
        at=_text(value["at"]),
        verdict=_text(value["verdict"]),
        cleared=tuple(map(_text, _list(value["cleared"]))),
        found=tuple(map(_text, _list(value["found"]))),
        fixed=_text(value["fixed"]),
        next=_text(value["next"]),
    )


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value[:_LONGEST_TEXT]


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"
