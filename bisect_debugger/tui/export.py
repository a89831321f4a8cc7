"""Out of the UI: the note beside the run, what was copied in the cache folder, the editor."""

import os
import shlex
import signal
import stat
import subprocess
from pathlib import Path

from bisect_debugger.errors import printable


def write_numbered(folder: Path, stem: str, suffix: str, content: str) -> Path:
    """Write a file under a name that did not exist: ``note.md``, ``note-2.md``, ...

    One that holds just this already is as good as a new one.

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
            if not _holds(path, content.encode()):
                number += 1
                continue
        return path


def _holds(path: Path, content: bytes) -> bool:
    """The file is an ordinary one with just this content; another is not even opened."""
    try:
        found = path.stat()
        alike = stat.S_ISREG(found.st_mode) and found.st_size == len(content)
        return alike and path.read_bytes() == content
    except OSError:
        return False


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


def has_editor() -> bool:
    """An editor is set. None is guessed: not everybody knows how to leave vi."""
    return bool(_editor().strip())


def edit(path: Path) -> str:
    """Open a file in the user's editor and wait until it is left.

    ``$VISUAL`` or ``$EDITOR`` may have arguments, quoted as a shell takes them.

    Returns:
        What went wrong, a clause, or nothing. No error is raised: the terminal is lent to the
        editor meanwhile, and has to be taken back.
    """
    try:
        # An absolute path is never taken for an option.
        command = [*shlex.split(_editor()), str(path.absolute())]
        code = _run_in_front(command)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return f"the editor did not start ({why}); see $EDITOR: {printable(_editor(), 60)}"
    return f"the editor ended with exit code {code}; the note is in {path}" if code else ""


def _editor() -> str:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""


def _run_in_front(command: list[str]) -> int:
    """Run a program that has the terminal; ctrl+c typed into it is its own.

    As system(3) does: the terminal sends the signal to both, and it is meant for the program. A
    handler, unlike ignoring, does not outlast the start of the program.
    """
    typed = (signal.SIGINT, signal.SIGQUIT)
    before = {number: signal.signal(number, lambda *_: None) for number in typed}
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
