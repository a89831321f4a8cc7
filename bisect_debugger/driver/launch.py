"""Running a command as a child process: output passed through, interrupts forwarded."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from bisect_debugger.errors import UsageError, printable

LAST_LINES = 20
"""Lines of a failed trainer's output that are kept to be shown."""

_LINE_BYTES = 4096
_PATIENCE_SECONDS = 10.0
"""How long an interrupted trainer may take to end by itself."""

_DRAIN_SECONDS = 2.0
"""How long output is awaited from processes that outlive the command."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: its exit code; negative for a signal, as subprocess counts.
        last_lines: the end of its output, printable.
    """

    code: int
    last_lines: tuple[str, ...]

    @property
    def words(self) -> str:
        """The exit code or signal in words."""
        if self.code >= 0:
            return f"exit code {self.code}"
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-self.code).name}"
        return f"signal {-self.code}"


def check_command(command: Sequence[str]) -> None:
    """Refuse a command that cannot be started.

    Raises:
        UsageError: it is missing or not found; the message says what to write instead.
    """
    if not command:
        raise UsageError(
            "There is no command; write it behind --, e.g. bisect-debugger twin -- python train.py."
        )
    if shutil.which(command[0]) is not None:
        return
    name = printable(command[0])
    if command[0].endswith(".py"):
        raise UsageError(f"{name} is a script and no command; write python {name}.")
    raise UsageError(
        f"The command {name} was not found; check its spelling, or name it with its path."
    )


def run_command(
    command: Sequence[str],
    environment: Mapping[str, str],
    output: Callable[[bytes], None] | None,
    tick: Callable[[], None],
) -> Ended:
    """Run a command to its end.

    Args:
        command: program and arguments.
        environment: of the process.
        output: takes its output piece by piece, stdout and stderr alike, and its input is
            empty; None lets it use the streams of this process.
        tick: called several times a second while it runs.

    Raises:
        UsageError: it cannot be started.
        KeyboardInterrupt: it was interrupted; it has ended.
    """
    quiet = output is not None
    try:
        process = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL if quiet else None,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            # Of its own group, so that Ctrl-C reaches it once, from here.
            process_group=0 if quiet else None,
        )
    except OSError as error:
        raise UsageError(
            f"{printable(command[0])} cannot be started ({error.strerror or error}); check that "
            "it is a program that you may run."
        ) from error
    tail = _Tail()
    reader = threading.Thread(target=_read, args=(process, tail, output), daemon=True)
    if quiet:
        reader.start()
    with _forwarding(process, own_group=quiet) as interrupts:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
                break
            tick()
    if quiet:
        reader.join(_DRAIN_SECONDS)
    tick()
    if interrupts:
        raise KeyboardInterrupt
    return Ended(process.returncode, tail.lines())


class _Tail:
    """The last lines of a stream of bytes."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=LAST_LINES)
        self._open = b""

    def take(self, piece: bytes) -> None:
        *lines, self._open = (self._open + piece).split(b"\n")
        self._lines.extend(line[-_LINE_BYTES:] for line in lines)
        self._open = self._open[-_LINE_BYTES:]

    def lines(self) -> tuple[str, ...]:
        kept = [*self._lines, self._open] if self._open.strip() else [*self._lines]
        # What a progress bar wrote over is not shown again.
        shown = (line.rstrip(b"\r").rpartition(b"\r")[2] for line in kept[-LAST_LINES:])
        return tuple(printable(line.decode("utf-8", "backslashreplace"), 500) for line in shown)


def _read(
    process: subprocess.Popen[bytes], tail: _Tail, output: Callable[[bytes], None] | None
) -> None:
    assert process.stdout is not None, "opened as a pipe"
    with process.stdout as stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            tail.take(piece)
            if output is not None:
                output(piece)


@contextlib.contextmanager
def _forwarding(process: subprocess.Popen[bytes], *, own_group: bool) -> Iterator[list[int]]:
    """Hand SIGINT and SIGTERM on to the process; yields the signals that came."""
    came: list[int] = []
    patience: list[threading.Timer] = []

    def send(number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if own_group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)

    def forward(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            send(signal.SIGKILL)
            return
        # In the foreground of a terminal, a process of the same group has had Ctrl-C itself.
        if own_group or number != signal.SIGINT or not _in_foreground():
            send(number)
        timer = threading.Timer(_PATIENCE_SECONDS, send, (signal.SIGKILL,))
        timer.daemon = True
        timer.start()
        patience.append(timer)

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = {number: signal.signal(number, forward) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in patience:
            timer.cancel()


def _in_foreground() -> bool:
    for descriptor in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(descriptor) == os.getpgrp()
    return False
