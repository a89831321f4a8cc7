"""Reads files that it is told of, one after the other, in bounds of memory; to be run as a process.

A line on stdin names a file and a sound one to compare it with; a line of JSON on stdout tells how
each command ended.
"""

import contextlib
import io
import json
import resource
import sys
import traceback
from pathlib import Path
from typing import Any

from bisect_debugger import cli

BASELINE = 192 << 20
"""Address space that reading may take beside twice the file: caches, chunks, tables of names."""


def address_space() -> int:
    """Bytes of address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def outcome(arguments: list[str]) -> dict[str, Any]:
    """How a command ends: exit code, and what it says on stderr."""
    said, shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        try:
            code: object = cli.main(arguments)
        except BaseException:
            code = traceback.format_exc()
    return {"command": arguments[0], "code": code, "stderr": said.getvalue()}


def read(path: Path, sound: Path) -> list[dict[str, Any]]:
    """Have everything of a file read, with no more memory than a reader should take."""
    limit = address_space() + 2 * path.stat().st_size + BASELINE
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        return [
            outcome(["info", str(path)]),
            outcome(["compare", "-v", str(sound), str(path)]),
        ]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def main() -> None:
    """Serve until stdin ends."""
    channel = sys.stdout
    for line in sys.stdin:
        path, sound = json.loads(line)
        channel.write(json.dumps(read(Path(path), Path(sound))) + "\n")
        channel.flush()


if __name__ == "__main__":
    main()
