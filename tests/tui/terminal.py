"""A real terminal: tmux draws it, keys are typed, the screen is read back."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from rich.cells import cell_len

PATIENCE = 30.0
"""Longest wait for a screen, in seconds: a limit against hanging, not a claim about speed."""


class Terminal:
    """One tmux session of its own server."""

    def __init__(self, socket: Path, width: int, height: int, command: str) -> None:
        tmux = shutil.which("tmux")
        assert tmux is not None, "these tests need tmux: install it (apt-get install tmux)"
        self._tmux = [tmux, "-S", str(socket), "-f", "/dev/null"]
        self.height = height
        self._run("new-session", "-d", "-x", str(width), "-y", str(height), command)

    def _run(self, *arguments: str) -> str:
        # readline, where anything imported it, puts LINES and COLUMNS behind Python's back into
        # what a child inherits, and a program that finds them there hears of no new size.
        environment = {k: v for k, v in os.environ.items() if k not in ("LINES", "COLUMNS")}
        done = subprocess.run(
            [*self._tmux, *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
            env=environment,
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def click(self, column: int, row: int) -> None:
        """Press and release the left button on a cell, both counted from 0.

        The bytes are those that a terminal sends in the SGR encoding of xterm.
        """
        for end in "Mm":
            code = f"\x1b[<0;{column + 1};{row + 1}{end}"
            self._run("send-keys", "-H", *(f"{byte:02x}" for byte in code.encode()))

    def click_on(self, words: str) -> None:
        """Click on the first place where these words stand, or will stand."""
        for row, line in enumerate(self.wait_for(words).splitlines()):
            if words in line:
                self.click(cell_len(line[: line.index(words)]), row)
                return
        raise AssertionError(f"{words!r} stands in no single line")

    def resize(self, width: int, height: int) -> None:
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def text(self) -> str:
        return self._run("capture-pane", "-p")

    def scrollback(self) -> str:
        """All lines, also those that left the screen; wrapped ones joined."""
        return self._run("capture-pane", "-p", "-J", "-S", "-")

    def take_clipboard(self) -> None:
        """Take what programs send to the clipboard, as most terminals do."""
        self._run("set-option", "-s", "set-clipboard", "on")

    def clipboard(self) -> str:
        return self._run("show-buffer")

    def wait_for(self, words: str, patience: float = PATIENCE) -> str:
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            text = self.text()
            if words in text:
                return text
            time.sleep(0.1)
        raise AssertionError(f"{words!r} never appeared; the screen shows:\n{self.text()}")

    def ended(self) -> bool:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            done = subprocess.run([*self._tmux, "has-session"], capture_output=True, check=False)
            if done.returncode:
                return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)
