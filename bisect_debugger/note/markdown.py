"""The note: a diagnosis as GitHub-flavoured Markdown, reviewable without the runs."""

import json
import shlex

from bisect_debugger.diagnosis.cases import environment_differences
from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.metrics import describe
from bisect_debugger.note.escape import block, code, text
from bisect_debugger.note.flowchart import render_flowchart
from bisect_debugger.report.grid import GridCell, GroupGrid
from bisect_debugger.report.text import dormancy_words, trail_lines
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins import Pair

_SHOWN_FACTS = (
    "python",
    "torch",
    "numpy",
    "cuda",
    "devices",
    "cpu_count",
    "torch_num_threads",
    "deterministic_algorithms",
    "git_commit",
    "git_dirty",
)


def render_note(diagnosis: Diagnosis, pair: Pair) -> str:
    """The note.

    Args:
        diagnosis: what was found.
        pair: the runs, for the table of groups and the environment.
    """
    sections = [
        f"# Divergence note: {diagnosis.verdict.value}",
        text(diagnosis.sentence, 2000),
        _grid(GroupGrid.around(pair, diagnosis)),
        *[_origin(number, origin) for number, origin in enumerate(diagnosis.origins, 1)],
        _dormant_streams(diagnosis),
        _trail(diagnosis),
        _compared(diagnosis),
        _environment(pair.a.facts, pair.b.facts),
        _reproduce(pair),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _grid(grid: GroupGrid) -> str:
    header = "| group | " + " | ".join(step_words(step) for step in grid.steps) + " |"
    rule = "|---|" + "---|" * len(grid.steps)
    rows = []
    for group, cells in zip(grid.groups, grid.cells, strict=True):
        letter = f"{group.letter} " if group.letter else ""
        rows.append(
            f"| {letter}{code(group.label)} | " + " | ".join(_cell(cell) for cell in cells) + " |"
        )
    return "\n".join(["## Groups by step", "", header, rule, *rows])


def _cell(cell: GridCell) -> str:
    if not cell.differing:
        return cell.words
    size = "" if cell.max_abs is None else f", max {cell.max_abs:.2g}"
    every = "ALL " if cell.differing == cell.events and cell.events > 1 else ""
    return f"**{every}DIVERGE** {cell.differing}/{cell.events}: {code(cell.worst, 60)}{size}"


def _origin(number: int, origin: Origin) -> str:
    where = f", code at {code(origin.source)}" if origin.source else ""
    lines = [
        f"## Origin {number}: {code(origin.component)}, {origin.cause.value}",
        "",
        f"{code(origin.buffer)} differs in {step_words(origin.step)} (group "
        f"{code(origin.group.label)}{where}), although everything it was computed from is equal.",
        "",
        f"- {text(dormancy_words(origin), 600)}",
    ]
    if origin.first_gradient is not None:
        gradient = origin.first_gradient
        lines.append(
            f"- first gradient of another component: {code(gradient.buffer)} in "
            f"{step_words(gradient.step)}"
        )
    if origin.contaminated:
        reached = ", ".join(code(component) for component in origin.contaminated[:12])
        lines.append(f"- reached {len(origin.contaminated)} component(s): {reached}")
    if origin.difference is not None:
        lines += [f"- {text(line, 400)}" for line in describe(origin.difference)]
    lines += ["", "Evidence:", "", *(f"- {text(line, 600)}" for line in origin.evidence)]
    lines += ["", "What to change:", ""]
    lines += [f"{rank}. {text(line, 600)}" for rank, line in enumerate(origin.advice, 1)]
    lines += ["", f"What would confirm it: {text(origin.confirm, 600)}"]
    return "\n".join(lines)


def _dormant_streams(diagnosis: Diagnosis) -> str:
    if not diagnosis.dormant_streams:
        return ""
    lines = [
        f"- {code(stream.component)} differs since {step_words(stream.step)} and was not seen to "
        "reach the training"
        for stream in diagnosis.dormant_streams
    ]
    return "\n".join(["## Outside the training", "", *lines])


def _trail(diagnosis: Diagnosis) -> str:
    if not diagnosis.trail:
        return ""
    lines = enumerate(trail_lines(diagnosis.trail), 1)
    steps = [f"{number}. {text(line, 600)}" for number, line in lines]
    return "\n".join(["## Trail", "", render_flowchart(diagnosis.trail), "", *steps])


def _compared(diagnosis: Diagnosis) -> str:
    compared = diagnosis.compared
    lines = [
        "## What was compared",
        "",
        f"{compared.events} events, {step_words(compared.first_step)} to "
        f"{step_words(compared.last_step)}. Nothing is said about later steps.",
    ]
    remarks = [f"- {text(remark, 600)}" for remark in diagnosis.remarks]
    remarks += [f"- not covered: {text(what, 300)}" for what in compared.uncovered]
    if len(diagnosis.pairs) > 1:
        remarks += [
            f"- {code(pair.a)} and {code(pair.b)}: {pair.verdict.value}"
            + ("" if pair.onset_step is None else f", {step_words(pair.onset_step)}")
            for pair in diagnosis.pairs
        ]
    return "\n".join([*lines, *(["", *remarks] if remarks else [])])


def _environment(a: RunFacts, b: RunFacts) -> str:
    differing = environment_differences(a, b)
    lines = ["## Environment", ""]
    if differing:
        lines += ["| differs | first run | second run |", "|---|---|---|"]
        lines += [
            f"| {code(name)} | {code(left)} | {code(right)} |"
            for name, (left, right) in differing.items()
        ]
    else:
        lines.append("The recorded environments are the same.")
    lines += ["", "| fact | value |", "|---|---|"]
    lines += [
        f"| {code(name)} | {code(a.environment[name])} |"
        for name in _SHOWN_FACTS
        if name in a.environment and name not in differing
    ]
    if a.seeding:
        lines += ["", "Seeding calls in the first run:", ""]
        lines += [
            f"- {code(f'{call.call}({call.argument})')} at {code(call.location)}, "
            f"{step_words(call.step)}"
            for call in a.seeding[:20]
        ]
    return "\n".join(lines)


def _reproduce(pair: Pair) -> str:
    lines = [_command(facts) for facts in (pair.a.facts, pair.b.facts)]
    names = (shlex.quote(pair.a.path.name), shlex.quote(pair.b.path.name))
    lines.append(f"bisect-debugger compare {names[0]} {names[1]}")
    return "\n".join(["## How to reproduce", "", block("\n".join(lines))])


def _command(facts: RunFacts) -> str:
    try:
        argv = json.loads(facts.environment.get("argv", "[]"))
    except ValueError:
        argv = []
    if not isinstance(argv, list) or not argv:
        return f"# the command of {facts.path.name} was not recorded"
    return shlex.join(str(argument) for argument in argv)
