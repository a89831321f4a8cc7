"""What the terminal UI costs on long runs: first paint, a page, a verdict, memory.

    python benchmarks/bench_tui.py [--steps 10000,100000,1000000] [--level coarse] [--events 6]
    python benchmarks/bench_tui.py --large

The command is started in a pseudo-terminal on real recordings, keys are typed, and what arrives at
the terminal is timed. First paint is counted from the start of the process, less what the
interpreter needs to start and do nothing. A page ends with the last byte before a silence.

`--large` is two recordings of 20,000,000 events at level digest: 20,000 steps of 1,000 events, for
which about 1.2 GB of room is needed. There the events of a step are paged through as well.
"""

import argparse
import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from probes.writer import Header, RunWriter

SILENCE_SECONDS = 0.15
"""After so long without a byte a page counts as painted; not part of the time. Longer than the UI
waits for a page before it paints what it knows."""

PAGES = 12
_GROUPS = (Group.DATA, Group.FORWARD, Group.LOSS, Group.GRAD, Group.OPTIM, Group.PARAM)
_LAYOUT = Layout("float32", (8,))


def write_run(path: Path, steps: int, events: int, level: str, onset: int | None) -> None:
    """A run whose second half of each step differs from the onset on."""
    writer = RunWriter(
        path, Header(level=level, environment={"torch": "2.13.0"}), flush_seconds=60.0
    )
    contents = (np.full(8, n, dtype=np.float32).view(np.uint8) for n in range(512))
    digests = [content_digest(content, _LAYOUT) for content in contents]
    buffers = [
        writer.buffer(_GROUPS[n * len(_GROUPS) // events], f"net.{n}.out", f"net.{n}", "out")
        for n in range(events)
    ]
    for step in range(-1, steps):
        for number, buffer in enumerate(buffers):
            other = onset is not None and step >= onset and number >= events // 2
            digest = digests[(step * 7 + number) % 256 + (256 if other else 0)]
            writer.event(buffer, _LAYOUT, digest, 0, content=None)
        writer.close_step(step)
    writer.finish(END_COMPLETE, "")


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, and MB; no pages of events where none were recorded."""

    first_paint: float
    verdict: float
    pages: list[float]
    event_pages: list[float]
    overview: float
    memory: float


class Screen:
    """The command in a pseudo-terminal of 120x40."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.monotonic()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            environment = {**os.environ, "TERM": "xterm-256color"}
            # Compiled once, as it is where the package was installed.
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            os.execve(command[0], command, environment)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def wait_for(self, words: bytes, limit: float = 120.0) -> float:
        """Seconds from the start until these bytes came."""
        seen = b""
        while words not in seen:
            ready, _, _ = select.select([self._terminal], [], [], limit)
            if not ready:
                raise SystemExit(f"{words!r} never came; the end of what came: {seen[-2000:]!r}")
            seen = seen[-4096:] + os.read(self._terminal, 65536)
        return time.monotonic() - self.started

    def type(self, keys: bytes) -> float:
        """Seconds from typing until the last byte before a silence."""
        began = last = time.monotonic()
        os.write(self._terminal, keys)
        while select.select([self._terminal], [], [], SILENCE_SECONDS)[0]:
            os.read(self._terminal, 65536)
            last = time.monotonic()
        return last - began

    def memory(self) -> float:
        """Greatest memory so far in MB, of the command and of the child that reads for it."""
        there = psutil.Process(self.pid)
        return sum(greatest_memory(x.pid) for x in (there, *there.children(recursive=True)))

    def leave(self) -> None:
        """Press q and wait."""
        os.write(self._terminal, b"q")
        os.waitpid(self.pid, 0)


def greatest_memory(pid: int) -> float:
    """Greatest resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1e3
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def measure(a: Path, b: Path, level: str) -> Measured:
    """Open two runs, page through steps and events, look at the whole, leave."""
    command = [sys.executable, "-m", "bisect_debugger.cli", "open", str(a), str(b)]
    screen = Screen(command)
    first = screen.wait_for(b"Opening") - interpreter_start()
    verdict = screen.wait_for(b"Verdict: ") - interpreter_start()
    screen.type(b"3")
    pages = page_through(screen)
    overview = sum(screen.type(b"Z") for _ in range(14))
    event_pages = []
    if level != "coarse":
        screen.type(b"f")
        screen.type(b"u")
        event_pages = page_through(screen)
    memory = screen.memory()
    screen.leave()
    return Measured(first, verdict, pages, event_pages, overview, memory)


def page_through(screen: Screen) -> list[float]:
    """Seconds of each page from the beginning on, and of a leap to the end."""
    screen.type(b"g")
    return [screen.type(b"\x1b[6~") for _ in range(PAGES)] + [screen.type(b"G")]


def page_words(pages: list[float]) -> str:
    """Median and slowest in ms."""
    if not pages:
        return f"{'none recorded':>17}"
    return f"{1e3 * statistics.median(pages):>6.0f} ms {1e3 * max(pages):>5.0f} ms"


def interpreter_start() -> float:
    """Seconds that the interpreter takes to do nothing, the best of five."""
    times = []
    for _ in range(5):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(time.monotonic() - began)
    return min(times)


def main() -> None:
    """Write the runs, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", default="10000,100000,1000000")
    parser.add_argument("--level", default="coarse")
    parser.add_argument("--events", type=int, default=6, help="events a step")
    parser.add_argument("--folder", type=Path, help="keep the runs here, and use what is here")
    parser.add_argument("--large", action="store_true", help="20,000,000 events at level digest")
    chosen = parser.parse_args()
    if chosen.large:
        chosen.steps, chosen.events, chosen.level = "20000", 1000, "digest"
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        print("           first              page of steps      page of events     zoomed")
        print("steps      paint    verdict   median   slowest   median   slowest   out      memory")
        for steps in map(int, chosen.steps.split(",")):
            pair = [folder / f"{side}-{steps}.h5" for side in "ab"]
            for path, onset in zip(pair, (None, steps * 6 // 10), strict=True):
                if not path.exists():
                    write_run(path, steps, chosen.events, chosen.level, onset)
            # Once before, so that the files are in the system's cache.
            measure(pair[0], pair[1], chosen.level)
            found = measure(pair[0], pair[1], chosen.level)
            print(
                f"{steps:<9}{found.first_paint:>6.2f} s {found.verdict:>7.2f} s "
                f"{page_words(found.pages)}  {page_words(found.event_pages)} "
                f"{found.overview:>7.2f} s {found.memory:>6.0f} MB"
            )


if __name__ == "__main__":
    main()
