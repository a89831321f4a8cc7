"""`check-probe -- CMD`: bare against recorded, bit for bit."""

import argparse

from bisect_debugger.commands.command_line import add_command, positive
from bisect_debugger.commands.output import say
from bisect_debugger.driver.check import check_probe

TAKES_A_COMMAND = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "-n",
        "--repeats",
        type=positive,
        default=2,
        metavar="N",
        help="runs of each kind (default: 2)",
    )
    parser.add_argument("--level", choices=("coarse", "digest", "stats", "full"), default="digest")
    add_command(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check and say what was found.

    Returns:
        0 the probe changed nothing, 1 it changed something, 3 inconclusive.
    """
    found = check_probe(arguments.command, arguments.repeats, arguments.level)
    say(found.sentence)
    return found.exit_code
