"""`history add` and `history show`: what was cleared, found and fixed, and what comes next."""

import argparse
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bisect_debugger.commands.output import say
from bisect_debugger.errors import UnreadableRun, UsageError, printable
from bisect_debugger.history.entries import (
    MOST_BYTES,
    PATH,
    Entry,
    append,
    from_diagnosis,
    read,
)
from bisect_debugger.history.table import damage_words, render_table
from bisect_debugger.note.history import render_history


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="add|show")
    add = kinds.add_parser("add", help="append an entry", allow_abbrev=False)
    add.add_argument("--from", dest="source", metavar="F", help="a diagnosis that --json wrote")
    for name, words in (
        ("cleared", "a group or component that is not it"),
        ("found", "what was found"),
    ):
        add.add_argument(
            f"--{name}", action="append", default=[], metavar="TEXT", help=f"{words}; repeatable"
        )
    add.add_argument("--fixed", default="", metavar="TEXT", help="what was changed, or a commit")
    add.add_argument("--next", default="", metavar="TEXT", help="what is looked at next")
    show = kinds.add_parser("show", help="print the history", allow_abbrev=False)
    show.add_argument("--markdown", action="store_true", help="as a table for a note")
    for kind in (add, show):
        kind.add_argument("--file", default=str(PATH), metavar="F", help=f"default: {PATH}")


def run(arguments: argparse.Namespace) -> int:
    """Add an entry, or show all; returns 0."""
    path = Path(arguments.file)
    if arguments.what == "add":
        entry = _entry(arguments)
        append(path, entry)
        say(f"added to {printable(str(path))}")
        return 0
    history = read(path)
    say(render_history(history) if arguments.markdown else render_table(history))
    if history.damaged and not arguments.markdown:
        say(damage_words(history))
    return 0


def _entry(arguments: argparse.Namespace) -> Entry:
    entry = _diagnosis(Path(arguments.source)) if arguments.source else Entry("")
    entry = replace(
        entry,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        cleared=(*entry.cleared, *arguments.cleared),
        found=(*entry.found, *arguments.found),
        fixed=arguments.fixed,
        next=arguments.next,
    )
    if not any((arguments.source, entry.cleared, entry.found, entry.fixed, entry.next)):
        raise UsageError(
            "There is nothing to add; name a diagnosis with --from, or say what was --cleared, "
            "--found or --fixed, or is --next."
        )
    return entry


def _diagnosis(path: Path) -> Entry:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableRun(path, "it is too large for a diagnosis", "name what --json wrote")
        return from_diagnosis(json.loads(path.read_bytes()))
    except OSError as error:
        raise UnreadableRun(path, str(error.strerror), "name what --json wrote") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableRun(path, "it is no diagnosis", "name what --json wrote") from error
