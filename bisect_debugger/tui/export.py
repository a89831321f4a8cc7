"""Out of the UI: the note beside the run, what was copied in the cache folder, the editor."""

import os
import shlex
import subprocess
from pathlib import Path


def write_numbered(folder: Path, stem: str, suffix: str, content: str) -> Path:
    """Write a file under a name that did not exist: ``note.md``, ``note-2.md``, ...

    Raises:
        OSError: the folder cannot be written to.
    """
    number = 1
    while True:
        name = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
        path = folder / name
        try:
            with path.open("x", encoding="utf-8") as stream:
                stream.write(content)
        except FileExistsError:
            number += 1
            continue
        return path


def write_copied(content: str) -> Path:
    """Write what was copied last into the user's cache folder, in place of what stood there.

    Not beside the run: somebody who copies wants no new file among the recordings.

    Raises:
        OSError: the folder cannot be written to.
    """
    path = cache_folder() / "copied.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def is_first_time() -> bool:
    """Nobody has used the UI here before; from now on somebody has.

    Where that cannot be written down it is never the first time: a hint that comes back each time
    is in the way.
    """
    try:
        mark = cache_folder() / "seen"
        if mark.exists():
            return False
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except (OSError, RuntimeError):
        return False
    return True


def cache_folder() -> Path:
    """The user's cache folder of this program, by the XDG base directory specification."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The specification has a relative path ignored.
    base = Path(named) if named.startswith("/") else Path("~/.cache").expanduser()
    return base / "bisect-debugger"


def editor_command(path: Path) -> list[str]:
    """The user's editor with a file to open; `vi` where none is set.

    Raises:
        ValueError: the quotes in the setting do not close.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    return [*shlex.split(editor), str(path)]


def edit(command: list[str]) -> int:
    """Start the user's editor and wait; returns its exit code.

    Raises:
        OSError: there is no such program.
    """
    return subprocess.run(command, check=False).returncode
