"""The editor and the clipboard in a real terminal: lent, given back, and taken."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tui.screens import SAMPLES
from tests.tui.terminal import Terminal

EDITOR = """#!/bin/sh
trap 'echo it had ctrl+c' INT
for last; do :; done
printf 'an editor with %s arguments has the terminal\\n' $#
stty -a | grep -o '.icanon'
until read -r line; do :; done
printf '%s\\n' "$line" >> "$last"
"""


@contextmanager
def opened(folder: Path, editor: str) -> Iterator[Terminal]:
    for name in ("a.h5", "b.h5"):
        shutil.copy(SAMPLES / "two_origins" / name, folder)
    command = (
        f"cd '{folder}' && unset VISUAL && export EDITOR={shlex.quote(editor)} && "
        f"export XDG_CACHE_HOME='{folder}' && "
        f"'{sys.executable}' -m bisect_debugger.cli open a.h5 b.h5; "
        "echo \"code $?\"; stty -a | grep -o '.icanon'; sleep 60"
    )
    terminal = Terminal(folder / "tmux", 80, 24, command)
    try:
        yield terminal
    finally:
        terminal.close()


def test_an_editor_has_the_terminal_with_its_ctrl_c_and_gives_it_back(tmp_path: Path) -> None:
    script = tmp_path / "my editor"
    script.write_text(EDITOR)
    script.chmod(0o755)
    with opened(tmp_path, f"{shlex.quote(str(script))} --wait 'two words'") as terminal:
        terminal.wait_for("Verdict: diverged")
        terminal.wait_for("agent.outcome_head")
        terminal.keys("E")
        shown = terminal.wait_for("an editor with 3 arguments has the terminal")
        assert "Verdict" not in shown
        assert "-icanon" not in terminal.wait_for("icanon")
        terminal.keys("C-c")
        terminal.wait_for("it had ctrl+c")
        terminal.keys("seen and signed", "Enter")
        back = terminal.wait_for("Verdict: diverged")
        assert "an editor with" not in back
        assert "the note is in note.md" in terminal.wait_for("the note is in")
        # The UI draws and listens as before.
        terminal.keys("3")
        terminal.wait_for("Timeline: 5 steps")
        terminal.keys("q")
        terminal.wait_for("code 0")
        assert "-icanon" not in terminal.wait_for("icanon")
    note = (tmp_path / "note.md").read_text()
    assert note.startswith("# Comparison of twins of `train.py`: diverged")
    assert note.endswith("seen and signed\n")


def test_what_is_copied_reaches_the_terminal_and_the_file(tmp_path: Path) -> None:
    with opened(tmp_path, "true") as terminal:
        terminal.take_clipboard()
        terminal.wait_for("agent.outcome_head")
        terminal.keys("y")
        terminal.wait_for("sent to the clipboard; also written to ")
        copied = (tmp_path / "bisect-debugger" / "copied.txt").read_text()
        assert copied.startswith("Diverged. 2 independent origins: ")
        assert terminal.clipboard() == copied
