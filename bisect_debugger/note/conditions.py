"""Under which conditions the runs were made, and how to make them again."""

import json

from bisect_debugger.diagnosis.cases import environment_differences
from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.note.escape import block, code, shell
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins import Pair

_SHOWN_FACTS = (
    "python",
    "torch",
    "numpy",
    "cuda",
    "devices",
    "cpu",
    "cpu_count",
    "torch_num_threads",
    "deterministic_algorithms",
    "git_commit",
    "git_dirty",
)
"""What is the same in both runs is shown only where it decides how numbers come out."""

_VALUE_CHARACTERS = 120
_SEEDING_SHOWN = 20


def render_environment(a: RunFacts, b: RunFacts) -> str:
    """The section: what differs between the runs first, then what they share."""
    differing = environment_differences(a, b)
    lines = ["## Environment", ""]
    if differing:
        lines += ["| differs | first run | second run |", "|---|---|---|"]
        lines += [
            f"| {code(name)} | {_value(left)} | {_value(right)} |"
            for name, (left, right) in differing.items()
        ]
    else:
        lines.append("No recorded fact of the environment differs between the runs.")
    shared = [name for name in _SHOWN_FACTS if name in a.environment and name not in differing]
    if shared:
        lines += ["", "| the same in both | value |", "|---|---|"]
        lines += [f"| {code(name)} | {_value(a.environment[name])} |" for name in shared]
    return "\n".join([*lines, *_seeding(a)])


def _value(raw: str) -> str:
    return code(raw, _VALUE_CHARACTERS)


def _seeding(facts: RunFacts) -> list[str]:
    if not facts.seeding:
        return []
    lines = [
        f"- {code(f'{call.call}({call.argument})')} at {code(call.location)}, "
        f"{step_words(call.step)}"
        for call in facts.seeding[:_SEEDING_SHOWN]
    ]
    left = len(facts.seeding) - _SEEDING_SHOWN
    more = [f"- and {left} more"] if left > 0 else []
    return ["", "Seeding calls in the first run:", "", *lines, *more]


def render_reproduce(pair: Pair) -> str:
    """The section: the recorded commands, and the comparison."""
    commands = [_command(facts) for facts in (pair.a.facts, pair.b.facts)]
    names = [pair.a.path.name, pair.b.path.name]
    if names[0] == names[1]:
        names = [str(pair.a.path), str(pair.b.path)]
    compare = shell(["bisect-debugger", "compare", *names])
    return "\n".join(["## How to reproduce", "", block([*commands, compare], "sh")])


def _command(facts: RunFacts) -> str:
    try:
        argv = json.loads(facts.environment.get("argv", ""))
    except (ValueError, RecursionError):
        argv = None
    if not isinstance(argv, list) or not argv:
        return f"# the command of the run {shell([facts.path.name])} was not recorded"
    return shell([str(argument) for argument in argv])
