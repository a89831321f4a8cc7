"""Which terminals the UI is opened on, and which of them get plain ASCII."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.commands.terminal import is_ascii_only, opens_ui
from tests.runs import plain_steps, write_run


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252", "no-such-encoding"])
def test_what_has_no_signs_gets_ascii(encoding: str) -> None:
    class Named:
        """A stream with the encoding of a locale."""

    stream = Named()
    stream.encoding = encoding  # type: ignore[attr-defined]
    assert is_ascii_only(stream)  # type: ignore[arg-type]


def test_utf_8_has_the_signs() -> None:
    assert not is_ascii_only(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert is_ascii_only(None)


def test_a_terminal_that_only_prints_lines_gets_no_ui(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert opens_ui(_Terminal())
    assert not opens_ui(_Terminal(), None)
    monkeypatch.setenv("TERM", "dumb")
    assert not opens_ui(_Terminal())


def test_open_with_a_closed_stdout_is_one_sentence(tmp_path: Path) -> None:
    paths = [str(write_run(tmp_path / f"{name}.h5", plain_steps())) for name in "ab"]
    script = 'exec "$0" -m bisect_debugger.cli open "$@" >&-'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, *paths], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "needs a terminal" in done.stderr) == (2, True)
    assert "unexpected" not in done.stderr
