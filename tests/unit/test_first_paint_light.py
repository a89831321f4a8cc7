"""What stands before the first paint of the UI imports nothing that reads runs."""

import subprocess
import sys

_IMPORTED = """
import sys
import bisect_debugger.cli, bisect_debugger.commands.open, bisect_debugger.tui
print(*sys.modules)
"""


def test_the_first_paint_waits_for_neither_numpy_nor_the_analysis() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True, timeout=60
    )
    imported = set(done.stdout.split())
    assert "bisect_debugger.tui.app" in imported
    heavy = {"numpy", "h5py", "torch", "bisect_debugger.twins", "bisect_debugger.diagnosis"}
    assert not imported & heavy
