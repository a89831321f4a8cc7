"""Running a command as a child process: output passed through, interrupts forwarded."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from bisect_debugger.driver.keeper import keeping
from bisect_debugger.errors import UsageError, printable
from bisect_debugger.progress import Stop, Tail

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
    stop: Stop | None = None,
) -> Ended:
    """Run a command to its end.

    Args:
        command: program and arguments.
        environment: of the process.
        output: takes its output piece by piece, stdout and stderr alike, and its input is
            empty; None lets it use the streams of this process.
        tick: called several times a second while it runs.
        stop: asks from another thread to end it, as ctrl+c does.

    Raises:
        UsageError: it cannot be started.
        KeyboardInterrupt: it was interrupted; it has ended.
    """
    if stop is not None and stop.asked:
        raise KeyboardInterrupt
    quiet = output is not None
    tail = Tail()
    # Before there is a process, so that no interrupt finds it with nobody to hand it on.
    with _forwarding(own_group=quiet) as forwarded:
        process = _start(command, environment, quiet=quiet)
        forwarded.to(process)
        reader = threading.Thread(target=_read, args=(process, tail, output), daemon=True)
        if quiet:
            reader.start()
        try:
            with keeping(process.pid if quiet else None):
                while not _has_ended(process):
                    forwarded.hear(stop)
                    tick()
        except BaseException:
            forwarded.end()
            raise
    if quiet:
        reader.join(_DRAIN_SECONDS)
    tick()
    if forwarded.came:
        raise KeyboardInterrupt
    return Ended(process.returncode, tail.lines())


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Wait a moment for it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.2)
        return True
    return False


def _start(
    command: Sequence[str], environment: Mapping[str, str], *, quiet: bool
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
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


def _read(
    process: subprocess.Popen[bytes], tail: Tail, output: Callable[[bytes], None] | None
) -> None:
    assert process.stdout is not None, "opened as a pipe"
    with process.stdout as stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            tail.take(piece)
            try:
                if output is not None:
                    output(piece)
            except Exception:  # noqa: BLE001 - a trainer never waits for a pipe that nobody reads
                output = None


_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that a terminal or a person sends to end a command."""


class _Forwarding:
    """Hands signals on to a process.

    Attributes:
        came: the signals that came.
    """

    def __init__(self, *, own_group: bool) -> None:
        self.came: list[int] = []
        self._own_group = own_group
        self._heard = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._patience: list[threading.Timer] = []

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Hand on to this process, also what came before it was there."""
        self._process = process
        for number in tuple(self.came[:1]):
            self._hand_on(number)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Hand a signal on; a second one ends the process at once. A signal handler."""
        self.came.append(number)
        if len(self.came) > 1:
            self._send(signal.SIGKILL)
        else:
            self._hand_on(number)

    def hear(self, stop: Stop | None) -> None:
        """Take what was asked for in another thread as if it were a signal."""
        while stop is not None and self._heard < stop.asked:
            self._heard += 1
            self.take(signal.SIGINT, None)

    def end(self) -> None:
        """End the process because nobody is left to wait for it."""
        assert self._process is not None, "it was started"
        self._send(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_SECONDS)
        # Also where it has ended: a shell does at once, and what it started may not want to.
        self._send(signal.SIGKILL)

    def close(self) -> None:
        """The process has ended."""
        for timer in self._patience:
            timer.cancel()

    def _hand_on(self, number: int) -> None:
        if self._process is None:
            return
        # In the foreground of a terminal, a process of the same group has had Ctrl-C itself.
        typed = number in (signal.SIGINT, signal.SIGQUIT)
        if self._own_group or not typed or not _in_foreground():
            self._send(number)
        timer = threading.Timer(_PATIENCE_SECONDS, self._send, (signal.SIGKILL,))
        timer.daemon = True
        timer.start()
        self._patience.append(timer)

    def _send(self, number: int) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._own_group:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)


@contextlib.contextmanager
def _forwarding(*, own_group: bool) -> Iterator[_Forwarding]:
    """Take the signals that end a command, and hand them on."""
    forwarding = _Forwarding(own_group=own_group)
    before = {}
    if threading.current_thread() is threading.main_thread():
        # What is ignored stays so, as below nohup: the trainer ignores it too.
        wanted = [number for number in _HANDED_ON if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, forwarding.take) for number in wanted}
    try:
        yield forwarding
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        forwarding.close()


def _in_foreground() -> bool:
    for descriptor in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(descriptor) == os.getpgrp()
    return False
