"""A trainer must not outlive the command that started it, even where that is killed.

A process of its own waits for a line or the end of a pipe whose other end this process holds. The
kernel closes it however this process ends; then the trainer's group is asked to end, and made to.
"""

import contextlib
import subprocess
from collections.abc import Iterator

_KEEP = """
read -r line && exit 0
kill -TERM "-$1" 2>/dev/null
tries=0
while kill -0 "-$1" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.2; tries=$((tries + 1)); done
kill -KILL "-$1" 2>/dev/null
"""


@contextlib.contextmanager
def keeping(group: int | None) -> Iterator[None]:
    """End a process group should this process die.

    Args:
        group: its number, or None for a command that shares this process's group.
    """
    keeper = None
    if group is not None:
        # Without a shell the runs go on all the same; only this safety is missing.
        with contextlib.suppress(OSError):
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEP, "sh", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # What a terminal sends to the group of this process does not reach it.
                start_new_session=True,
            )
    try:
        yield
    finally:
        if keeper is not None:
            with contextlib.suppress(OSError):
                keeper.communicate(b"done\n", timeout=5)
