"""`info RUN`: what is in a run, in text or JSON."""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from bisect_debugger.commands.output import say
from bisect_debugger.diagnosis.as_json import to_json
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.runs import Run, open_run
from bisect_debugger.runs.within import cross_checks


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a recorded run")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what the run says about itself."""
    with open_run(arguments.run) as recorded:
        facts = _facts(recorded)
    if arguments.json:
        say(to_json(facts))
    else:
        say("\n".join(_lines(facts)))
    return 0


def _facts(recorded: Run) -> dict[str, object]:
    facts = recorded.facts
    groups = Counter(buffer.group for buffer in recorded.buffers)
    rows = recorded.step_count
    seconds = float(recorded.steps(rows - 1, rows).elapsed_seconds[0]) if rows else 0.0
    return {
        "path": str(facts.path),
        "bytes": facts.path.stat().st_size,
        "created": facts.created,
        "level": facts.level,
        "window": facts.window or "all steps",
        "rank": facts.rank,
        "world_size": facts.world_size,
        "complete": facts.complete,
        "end_reason": facts.end_reason or None,
        "last_step": recorded.last_step,
        "rows": rows,
        "events": recorded.event_count,
        "seconds": round(seconds, 3),
        "buffers": {group.label: groups[group] for group in sorted(groups)},
        "seeding": [asdict(call) for call in facts.seeding],
        "loads": [asdict(call) for call in facts.loads],
        "cross_checks": list(cross_checks(recorded)),
        "uncovered": list(facts.uncovered),
        "environment": dict(sorted(facts.environment.items())),
    }


def _lines(facts: dict[str, object]) -> Iterator[str]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield f"{name}:"
            yield from (f"  {_text(key)}: {_text(item)}" for key, item in value.items())
        elif isinstance(value, list):
            yield f"{name}: {len(value)}"
            yield from (f"  {_item(item)}" for item in value)
        elif value is not None:
            yield f"{name}: {_text(value)}"


def _item(item: object) -> str:
    if not isinstance(item, dict):
        return _text(item)
    when = step_words(int(item["step"]))
    return _text(f"{item['call']}({item['argument']}) at {item['location']}, {when}")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value), 1000)
