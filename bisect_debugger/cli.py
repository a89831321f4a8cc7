"""The command line: finds the command, turns errors into one sentence and an exit code.

stdout is data, stderr is narration. A command's module is imported when it is chosen, so that
`compare` and `--help` start without Textual, and nothing here ever imports torch.
"""

import argparse
import contextlib
import difflib
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

from bisect_debugger import __version__
from bisect_debugger.commands.output import in_columns, say
from bisect_debugger.errors import BisectError, UsageError, printable, told_in_a_line
from bisect_debugger.guard import ReaderLost, guarded

COMMANDS = {
    "twin": "run a command twice and find where the runs diverge",
    "record": "record one run of a command",
    "check-probe": "prove that recording does not change a run",
    "compare": "find the first divergence between runs or checkpoints",
    "open": "browse the divergence in the terminal",
    "note": "write the divergence down as a markdown note",
    "info": "show what is in a run",
    "history": "keep what was cleared, found and fixed in an investigation",
    "tree": "print the decision tree",
    "demo": "run the shipped example from end to end",
}
"""Command -> one line of help; each is a module of `bisect_debugger.commands`."""

READING = frozenset(("compare", "open", "note", "info"))
"""Commands that read files which others made."""

_CODES = "Exit codes: 0 equal, 1 diverged, 2 usage, 3 unreadable, 4 the trainer failed."

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

READER_GONE = 141
"""128 + SIGPIPE: the verdict was not read to its end, so it must not look like "equal"."""

UNEXPECTED = 3
"""An error of our own. Python's default would be 1, which says "diverged"."""

TRACEBACK_VARIABLE = "BISECT_DEBUGGER_TRACEBACK"
"""Set in the environment, an error of our own is shown with its traceback."""


class Command(Protocol):
    """What a command's module offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; those of the process by default.

    Returns:
        0 equal, 1 diverged, 2 usage, 3 a file cannot be read or compared, 130 interrupted,
        141 the reader of stdout went away.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None and arguments and arguments[0] in READING:
        try:
            return guarded(lambda: _main(arguments), interrupts=arguments[0] != "open")
        except ReaderLost as lost:
            return _fail(_lost(arguments, lost), UNEXPECTED)
    return _main(arguments)


def _main(arguments: list[str]) -> int:
    _print_anything()
    try:
        code = _dispatch(arguments)
        _flush()
        return code
    except BisectError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _abandon_stdout()
        return _fail("interrupted.", INTERRUPTED)
    except BrokenPipeError:
        _abandon_stdout()
        return READER_GONE
    except Exception as error:  # noqa: BLE001 - the last line before a user would see a traceback
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        return _fail(_unexpected(error), UNEXPECTED)


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        return _without_command(arguments)
    module = importlib.import_module(f"bisect_debugger.commands.{name.replace('-', '_')}")
    command = cast("Command", module)
    parser = argparse.ArgumentParser(
        prog=f"bisect-debugger {name}",
        description=f"{COMMANDS[name].capitalize()}.",
        allow_abbrev=False,
    )
    command.configure(parser)
    own, trainer = arguments[1:], []
    if getattr(module, "TAKES_A_COMMAND", False) and "--" in own:
        # Behind the first -- nothing is ours, whatever it looks like.
        own, trainer = own[: own.index("--")], own[own.index("--") + 1 :]
    if getattr(module, "TAKES_A_COMMAND", False) and not trainer:
        _hint_at_dashes(name, own)
    try:
        parsed = parser.parse_args(own)
    except SystemExit as stop:
        return int(stop.code or 0)
    parsed.command = trainer
    return command.run(parsed)


def _hint_at_dashes(name: str, arguments: list[str]) -> None:
    """A command without -- in front of it would be taken for options of ours.

    Raises:
        UsageError: that seems to be so.
    """
    if arguments and not arguments[0].startswith("-"):
        shown = printable(" ".join(arguments))
        raise UsageError(
            f"The trainer's command stands behind --: bisect-debugger {name} -- {shown}"
        )


def _without_command(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        name = printable(arguments[0], 40)
        close = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise UsageError(f"there is no command '{name}'{hint} Commands: {', '.join(COMMANDS)}.")
    listed = "\n".join(f"  {name:<12} {line}" for name, line in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="bisect-debugger",
        usage="bisect-debugger COMMAND ...",
        description="Find the first divergence between training runs that should be the same.",
        epilog=f"commands:\n{listed}\n\n`bisect-debugger COMMAND --help` tells more.\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"bisect-debugger {__version__}")
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    try:
        parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    return 2


def _print_anything() -> None:
    """Let names be printed that the terminal's encoding lacks, escaped instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Write out what is left of stdout while an error can still be told."""
    say("", end="")


def _fail(sentence: str, code: int) -> int:
    """One sentence on stderr. What was printed before still comes first, if it can be written."""
    try:
        _flush()
    except (BisectError, BrokenPipeError):
        _abandon_stdout()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # Where stderr takes nothing, the exit code still tells.
        words = in_columns(f"bisect-debugger: {sentence}", sys.stderr)
        print(words, file=sys.stderr, flush=True)
    return code


def _lost(arguments: list[str], lost: ReaderLost) -> str:
    """A file that the library does not survive, in one sentence."""
    files = [printable(text) for text in arguments[1:] if Path(text).is_file()]
    return (
        f"{' or '.join(files) or 'a file'}: the file is damaged ({lost}); copy it again or record "
        "again."
    )


def _abandon_stdout() -> None:
    """Let the interpreter's last flush go nowhere, so that it neither fails nor waits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception) -> str:
    """An error that nobody foresaw, in one sentence with its place."""
    return (
        f"unexpected {told_in_a_line(error)}; nothing can be said about the runs. Please report it "
        f"with what {TRACEBACK_VARIABLE}=1 shows."
    )


if __name__ == "__main__":
    sys.exit(main())
