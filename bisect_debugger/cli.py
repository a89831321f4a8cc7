"""The command line: finds the command, turns errors into one sentence and an exit code.

stdout is data, stderr is narration. A command's module is imported when it is chosen, so that
`compare` and `--help` start without Textual, and nothing here ever imports torch.
"""

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from bisect_debugger import __version__
from bisect_debugger.errors import BisectError

COMMANDS = {
    "compare": "find the first divergence between runs or checkpoints",
    "open": "browse the divergence in the terminal",
    "note": "write the divergence down as a markdown note",
    "info": "show what is in a run",
    "tree": "print the decision tree",
    "demo": "run the shipped example from end to end",
}
"""Command -> one line of help; each is a module of `bisect_debugger.commands`."""


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
        0 equal, 1 diverged, 2 usage, 3 a file cannot be read or compared, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except BisectError as error:
        print(f"bisect-debugger: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("bisect-debugger: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output went away, which is its right: silence the final flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        return _without_command(arguments)
    command = cast("Command", importlib.import_module(f"bisect_debugger.commands.{name}"))
    parser = argparse.ArgumentParser(
        prog=f"bisect-debugger {name}", description=f"{COMMANDS[name].capitalize()}."
    )
    command.configure(parser)
    try:
        parsed = parser.parse_args(arguments[1:])
    except SystemExit as stop:
        return int(stop.code or 0)
    code = command.run(parsed)
    sys.stdout.flush()
    return code


def _without_command(arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        close = difflib.get_close_matches(arguments[0], COMMANDS, 1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        known = ", ".join(COMMANDS)
        print(
            f"bisect-debugger: there is no command {arguments[0]!r}{hint} Commands: {known}.",
            file=sys.stderr,
        )
        return 2
    listed = "\n".join(f"  {name:<10} {line}" for name, line in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="bisect-debugger",
        usage="bisect-debugger COMMAND ...",
        description="Find the first divergence between training runs that should be the same.",
        epilog=f"commands:\n{listed}\n\n`bisect-debugger COMMAND --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
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


if __name__ == "__main__":
    sys.exit(main())
