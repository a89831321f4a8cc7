"""`twin` on a real terminal, left while two runs are compared: it is heard between two reads."""

from pathlib import Path

from tests.tui.test_live_tmux import twin, wait_until_none_is_left

SLOW = """
import sys, time
from bisect_debugger import cli
from bisect_debugger.driver import twins
from bisect_debugger.runs.columns import Columns

judge, read = twins._judge, Columns.read

def slow(self, *arguments):
    time.sleep(1.0)
    return read(self, *arguments)

def judging(*arguments):
    Columns.read = slow
    return judge(*arguments)

twins._judge = judging
sys.exit(cli.main())
"""
"""As if the recordings lay on a slow disk: the comparison takes minutes, and a read one second."""


def test_leaving_while_runs_are_compared_is_heard_at_the_next_read(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    with twin(tmp_path, 4, "slow.py") as terminal:
        terminal.wait_for("Live: comparing all steps of the runs")
        terminal.keys("q")
        terminal.wait_for("Stop the comparison? What was recorded so far is kept.")
        terminal.keys("n")
        terminal.wait_for("q stop (asks first)")
        terminal.keys("Escape")
        terminal.wait_for("Stop the comparison?")
        terminal.keys("y")
        terminal.wait_for("code 130")
        text = " ".join(terminal.scrollback().split())
        a, b = (f".bisect-debugger/twins/1/{side}.h5" for side in "ab")
        told = f"interrupted; kept: {a}, {b}; see them with: bisect-debugger open {a} {b}"
        assert told in text
        assert "Traceback" not in text
    assert sorted(path.name for path in (tmp_path / ".bisect-debugger/twins/1").iterdir()) == [
        "a.h5",
        "b.h5",
    ]
    wait_until_none_is_left(tmp_path)
