"""Out of the UI: the note beside the run, what was copied in a file, the editor."""

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


def editor_command(path: Path) -> list[str]:
    """The user's editor with a file to open; `vi` where none is set."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    return [*shlex.split(editor), str(path)]


def edit(path: Path) -> int:
    """Open a file in the user's editor and wait; returns its exit code."""
    return subprocess.run(editor_command(path), check=False).returncode
