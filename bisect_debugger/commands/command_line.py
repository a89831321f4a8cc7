"""Arguments that the commands share which start a trainer."""

import argparse
import re
from pathlib import Path

from bisect_debugger.driver.session import Settings


def add_command(parser: argparse.ArgumentParser, what: str = "the command that trains") -> None:
    """Say in the help that the trainer's command stands behind ``--``."""
    parser.usage = f"{parser.prog} [OPTION ...] -- CMD"
    parser.epilog = f"CMD is {what}, e.g.: {parser.prog} -- python train.py --seed 42"


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add what decides how much is recorded."""
    parser.add_argument(
        "--level",
        choices=("coarse", "digest", "stats", "full"),
        default="digest",
        help="what is kept of each event (default: digest)",
    )
    parser.add_argument("--steps", type=window, metavar="A:B", help="record steps A to B - 1 only")
    parser.add_argument(
        "--max-steps", type=positive, metavar="N", help="end the trainer after N optimizer steps"
    )
    parser.add_argument(
        "--fsync",
        action="store_true",
        help="have each flush on the disk before going on, for when the power may fail",
    )
    for name, words in (("include", "record"), ("exclude", "leave out")):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="GLOB",
            help=f"{words} buffers with such names; may be given again",
        )


def settings_of(arguments: argparse.Namespace, out: Path) -> Settings:
    """What was asked for, for one run."""
    return Settings(
        out=out,
        level=arguments.level,
        steps=arguments.steps,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        max_steps=arguments.max_steps,
        fsync=arguments.fsync,
    )


def window(text: str) -> str:
    """A window of steps ``A:B``, as it was written.

    Raises:
        ArgumentTypeError: it is none, or no step is in it.
    """
    found = re.fullmatch(r"([0-9]*):([0-9]*)", text, re.ASCII)
    if found is None or (found[2] and int(found[2]) <= int(found[1] or 0)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a window of steps; write A:B with 0 <= A < B for the steps A to B - "
            "1, and leave either out for an open end"
        )
    return text


def positive(text: str) -> int:
    """A whole number of at least 1.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def duration(text: str) -> float:
    """Seconds of a time such as ``90``, ``90s``, ``5m`` or ``1h``.

    Raises:
        ArgumentTypeError: it is none.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 90s, 5m or 1h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]
