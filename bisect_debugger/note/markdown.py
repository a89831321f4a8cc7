"""The note: a diagnosis as GitHub-flavoured Markdown, reviewable without the runs."""

from bisect_debugger.diagnosis.model import Diagnosis
from bisect_debugger.format.words import step_words
from bisect_debugger.note.conditions import render_environment, render_reproduce
from bisect_debugger.note.escape import code, text
from bisect_debugger.note.origin import render_origins
from bisect_debugger.note.table import render_table
from bisect_debugger.note.trail import render_trail
from bisect_debugger.report.grid import GroupGrid
from bisect_debugger.report.text import compared_words, experiment_rows
from bisect_debugger.report.zoom import isolation_words
from bisect_debugger.twins import Pair


def render_note(diagnosis: Diagnosis, pair: Pair) -> str:
    """The note.

    Args:
        diagnosis: what was found.
        pair: the runs, for the table of groups and the environment.
    """
    sections = [
        f"# {_title(pair)}: {diagnosis.verdict.value}",
        text(diagnosis.sentence, 2000),
        _firsts(diagnosis),
        *render_origins(diagnosis.origins),
        _experiments(diagnosis),
        _isolation(diagnosis),
        "## Groups by step",
        render_table(GroupGrid.around(pair, diagnosis)),
        _dormant_streams(diagnosis),
        render_trail(diagnosis),
        _compared(diagnosis),
        render_environment(pair.a.facts, pair.b.facts),
        render_reproduce(pair),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _title(pair: Pair) -> str:
    programs = [run.facts.environment.get("program", "") for run in (pair.a, pair.b)]
    if programs[0] and programs[0] == programs[1]:
        return f"Comparison of twins of {code(programs[0])}"
    return "Comparison of twins"


def _firsts(diagnosis: Diagnosis) -> str:
    lines = []
    if diagnosis.onset is not None and diagnosis.onset.buffer:
        onset = diagnosis.onset
        lines.append(
            f"- onset, the first difference at all: {code(onset.buffer)} in "
            f"{step_words(onset.step)}, group {code(onset.group.label)}"
        )
    if diagnosis.first_visible is not None:
        visible = diagnosis.first_visible
        lines.append(
            f"- first visible in a loss or logged scalar: {code(visible.buffer)} in "
            f"{step_words(visible.step)}"
        )
    return "\n".join(lines)


def _experiments(diagnosis: Diagnosis) -> str:
    rows = experiment_rows(diagnosis)
    if not rows:
        return ""
    lines = ["## Experiments", "", "| changed | pairs | diverged |", "|---|---|---|"]
    lines += [f"| {code(knobs)} | {equal} | {where} |" for knobs, equal, where in rows]
    return "\n".join(lines)


def _isolation(diagnosis: Diagnosis) -> str:
    isolation = diagnosis.isolation
    if isolation is None:
        return ""
    lines = ["## Isolation", "", text(isolation_words(isolation), 1000)]
    if isolation.script:
        lines += ["", f"The script that executes it: {code(isolation.script, 1000)}"]
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


def _compared(diagnosis: Diagnosis) -> str:
    lines = [
        "## What was compared",
        "",
        compared_words(diagnosis),
        "",
        "| run | rank | steps | events | recorded to its end |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {code(run.path)} | {run.rank} | {run.steps} | {run.events} | "
        f"{'yes' if run.complete else 'no'} |"
        for run in diagnosis.runs
    ]
    if len(diagnosis.pairs) > 1:
        lines += ["", "| first run | second run | verdict | onset |", "|---|---|---|---|"]
        lines += [
            f"| {code(pair.a)} | {code(pair.b)} | {pair.verdict.value} | "
            + ("" if pair.onset_step is None else step_words(pair.onset_step))
            + " |"
            for pair in diagnosis.pairs
        ]
    remarks = [f"- {text(remark, 1000)}" for remark in diagnosis.remarks]
    remarks += [f"- not covered: {text(what, 300)}" for what in diagnosis.compared.uncovered]
    return "\n".join([*lines, *(["", *remarks] if remarks else [])])
