"""`record -o RUN -- CMD`: one run of an unmodified command."""

import argparse
from pathlib import Path

from bisect_debugger.commands.command_line import add_command, add_recording, settings_of
from bisect_debugger.driver.narration import narrate
from bisect_debugger.driver.record import record
from bisect_debugger.errors import printable

TAKES_A_COMMAND = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("-o", "--out", required=True, metavar="RUN", help="file to write")
    add_recording(parser)
    add_command(parser)
    parser.usage = f"{parser.prog} -o RUN [OPTION ...] -- CMD"


def run(arguments: argparse.Namespace) -> int:
    """Run the command under the recorder.

    Returns:
        0 when it was recorded; the trainer's own failure is exit code 4.
    """
    recorded = record(arguments.command, settings_of(arguments, Path(arguments.out)))
    files = ", ".join(printable(str(path)) for path in recorded.files)
    ending = f"; {recorded.stopped}" if recorded.stopped else ""
    reached = f"up to step {recorded.last_step}" if recorded.last_step >= 0 else "without a step"
    narrate(f"bisect-debugger: recorded {files}, {reached}{ending}\n")
    return 0
