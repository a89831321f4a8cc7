"""A guard over commands that read files which nobody vouches for.

HDF5 checks every block of a file against a checksum, so that accidents are found out. A file that
was forged, with checksums that agree, can still make it crash or run for ever, and no Python code
in the same process outlives that. So the command runs in a forked child, and the parent, which has
loaded nothing yet and costs a millisecond, turns such an end into a sentence.
"""

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

BEAT_SECONDS = 1.0
PATIENCE_SECONDS = 60.0
"""A library that neither returns nor lets any other thread run for so long does not end at all:
every read is of a bounded block."""

INTERRUPT_SECONDS = 0.3
"""How long a child has to act upon an interrupt of its own."""

CRASHES = frozenset(
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL", "SIGSYS")
    if hasattr(signal, name)
)

_HANDED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_OUT_OF_FULL_SCREEN = "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l"


class ReaderLost(Exception):
    """The child crashed or did not end; the message says which, as a clause."""


def guarded(work: Callable[[], int], interrupts: bool = True) -> int:
    """Do the work in a child of this process.

    Args:
        work: returns an exit code. It is called in the child, where this function returns too.
        interrupts: an interrupt that only this process was sent reaches the child. Not for a
            full-screen child, which decides about those of the terminal by itself.

    Raises:
        ReaderLost: the child crashed, or hung in a library.
    """
    if not hasattr(os, "fork"):
        return work()
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt_once)
        threading.Thread(target=_beat, args=(told,), name="heartbeat", daemon=True).start()
        return work()
    os.close(told)
    with _terminal_kept(), _handing_on(child, interrupts):
        hung = _listen(heard, child)
        _, status = os.waitpid(child, 0)
    os.close(heard)
    if hung:
        raise ReaderLost("the HDF5 library did not come to an end over it")
    code = os.waitstatus_to_exitcode(status)
    if -code in CRASHES:
        raise ReaderLost("the HDF5 library crashed over it")
    if code < 0:
        # Whoever ended the child meant the command.
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """One is enough: the command is on its way out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _beat(told: int) -> None:
    """Say once a second that threads still run; end where nobody listens any more."""
    quiet = threading.Event()
    while True:
        try:
            os.write(told, b".")
        except OSError:
            os._exit(128 + signal.SIGPIPE)
        quiet.wait(BEAT_SECONDS)


def _listen(heard: int, child: int) -> bool:
    """Wait until the child is done; True where it hung and was killed."""
    silences = 0
    # Twice half the time: one silence may be that of both processes being stopped.
    while silences < 2:
        if not select.select([heard], [], [], PATIENCE_SECONDS / 2)[0]:
            silences += 1
        elif not os.read(heard, 4096):
            return False
        else:
            silences = 0
    os.kill(child, signal.SIGKILL)
    return True


def _stop_with(child: int) -> None:
    """Stop where the child did: a shell waits for this process, and gets the terminal back then."""
    with contextlib.suppress(ChildProcessError):
        if os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG) is not None:
            os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(child, signal.SIGCONT)


@contextlib.contextmanager
def _handing_on(child: int, interrupts: bool) -> Iterator[None]:
    """Let the child decide what an interrupt means, and pass on what only the parent is sent."""
    later: list[threading.Timer] = []

    def hand_on(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    def hand_on_later(number: int, frame: FrameType | None) -> None:
        # A terminal sends it to both, `kill` to one; a child that had its own is gone by then, or
        # has set out to end and heeds no other.
        if not later:
            later.append(threading.Timer(INTERRUPT_SECONDS, hand_on, (number, frame)))
            later[0].daemon = True
            later[0].start()

    before = {number: signal.signal(number, hand_on) for number in _HANDED_ON}
    if not interrupts:
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: _stop_with(child))
    on_interrupt = hand_on_later if interrupts else signal.SIG_IGN
    before[signal.SIGINT] = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        for timer in later:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """Leave the terminal as it was, also where a full-screen child could not."""
    kept = None
    if sys.stdin is not None and sys.stdin.isatty():
        import termios

        with contextlib.suppress(termios.error):
            kept = termios.tcgetattr(sys.stdin.fileno())
    yield
    if kept is not None:
        with contextlib.suppress(OSError, ValueError, termios.error):
            if termios.tcgetattr(sys.stdin.fileno()) != kept:
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, kept)
                sys.stderr.write(_OUT_OF_FULL_SCREEN)
