"""`info RUN`: what is in a run, in text or JSON."""

import argparse
import json
from collections import Counter

from bisect_debugger.errors import printable
from bisect_debugger.runs import Run, open_run


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a recorded run")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what the run says about itself."""
    with open_run(arguments.run) as recorded:
        facts = _facts(recorded)
    if arguments.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(facts)))
    return 0


def _facts(recorded: Run) -> dict[str, object]:
    facts = recorded.facts
    groups = Counter(buffer.group.label for buffer in recorded.buffers)
    return {
        "path": str(facts.path),
        "created": facts.created,
        "level": facts.level,
        "window": facts.window or "all steps",
        "rank": facts.rank,
        "world_size": facts.world_size,
        "complete": facts.complete,
        "end_reason": facts.end_reason,
        "last_step": recorded.last_step,
        "rows": recorded.step_count,
        "events": recorded.event_count,
        "buffers": dict(groups),
        "seeding": [
            f"{call.call}({call.argument}) at {call.location}, step {call.step}"
            for call in facts.seeding
        ],
        "uncovered": list(facts.uncovered),
        "environment": facts.environment,
    }


def _lines(facts: dict[str, object]) -> list[str]:
    lines = []
    for name, value in facts.items():
        if isinstance(value, dict):
            lines.append(f"{name}:")
            lines += [f"  {printable(str(key))}: {printable(str(v))}" for key, v in value.items()]
        elif isinstance(value, list):
            lines.append(f"{name}: {len(value)}")
            lines += [f"  {printable(str(item))}" for item in value]
        else:
            lines.append(f"{name}: {printable(str(value))}")
    return lines
