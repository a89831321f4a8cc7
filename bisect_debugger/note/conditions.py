"""Under which conditions the runs were made, and how to make them again."""

import json
from pathlib import PurePath

from bisect_debugger.diagnosis.cases import environment_differences
from bisect_debugger.format.words import step_words
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

_FOLDER = "again"
"""Variable of the shell that holds the folder of the new recordings."""


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
    """The section: the recorded commands with new files to record into, and the comparison.

    A recording never overwrites, so a command as it was would fail where its run still lies. The
    new files lie in a fresh folder, which lets the block run any number of times.
    """
    runs = (pair.a.facts, pair.b.facts)
    commands = [_argv(facts) for facts in runs]
    unedited = all(facts.environment.get("recorded_by") == "command" for facts in runs)
    if unedited and commands[0] and commands[0] == commands[1]:
        line = f"bisect-debugger twin -- {shell(commands[0])}"
        return "\n".join(["## How to reproduce", "", block([line], "sh")])
    names = [facts.path.name for facts in runs]
    if names[0] == names[1]:
        names = [f"{number}-{name}" for number, name in enumerate(names, 1)]
    lines = [f"{_FOLDER}=$(mktemp -d)"]
    for facts, name in zip(runs, names, strict=True):
        lines += _command(facts, _fresh(name))
    lines.append(f"bisect-debugger compare {' '.join(map(_fresh, names))}")
    return "\n".join(["## How to reproduce", "", block(lines, "sh")])


def _fresh(name: str) -> str:
    """A file in the fresh folder, as a word of a shell."""
    return f'"${_FOLDER}"/{shell([name])}'


def _command(facts: RunFacts, fresh: str) -> list[str]:
    argv = _argv(facts)
    name = shell([facts.path.name])
    if not argv:
        return [f"# the command of the run {name} was not recorded; record it again as {fresh}"]
    for place in reversed(range(len(argv))):
        option, value = _option(argv[place])
        # The name alone: a run may have been moved, and its path may have been shortened.
        if PurePath(value).name == facts.path.name:
            written = f"{shell([option]) if option else ''}{fresh}"
            return [" ".join([*map(_word, argv[:place]), written, *map(_word, argv[place + 1 :])])]
    note = f"# this command does not name the file {name}; let it record into {fresh}"
    return [note, shell(argv)]


def _word(argument: str) -> str:
    return shell([argument])


def _option(argument: str) -> tuple[str, str]:
    """What stands before the value in ``--out=a.h5``, and the value."""
    option, equals, value = argument.partition("=")
    return (option + equals, value) if equals else ("", argument)


def _argv(facts: RunFacts) -> list[str]:
    try:
        argv = json.loads(facts.environment.get("argv", ""))
    except (ValueError, RecursionError):
        return []
    return [str(argument) for argument in argv] if isinstance(argv, list) else []
