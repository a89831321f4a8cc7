"""Everything that the UI shows of a pair, as plain text: for a log, and for who hears a screen.

The verdict with origins, trail and advice is `report.render_diagnosis`; here stands what the other
screens show, a section each.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bisect_debugger.diagnosis.findings import experimented_on
from bisect_debugger.diagnosis.model import Diagnosis, Origin
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.grid import GroupGrid
from bisect_debugger.report.rows import render_rows
from bisect_debugger.report.table import render_grid
from bisect_debugger.twins import Pair, Row, Status
from bisect_debugger.twins.bands import bands as bands_of
from bisect_debugger.views.buffer import (
    BufferView,
    buffer_view,
    histogram_lines,
    map_lines,
    why_no_numbers,
)
from bisect_debugger.views.chart import log_chart
from bisect_debugger.views.digits import Marked, SideBySide
from bisect_debugger.views.experiments import experiment_lines
from bisect_debugger.views.facts import fact_rows
from bisect_debugger.views.growth import Growth, growth_points, growth_words, rows_to_look_at
from bisect_debugger.views.names import elide
from bisect_debugger.views.reach import reach_lines, reaches
from bisect_debugger.views.ribbon import recorded_groups
from bisect_debugger.views.source import code_at
from bisect_debugger.views.states import compared_lines, compared_of, hint_lines

WIDTH = 78
"""Columns of pictures; names are as long as they are."""

RIBBON_COLUMNS = 60
ORIGINS_SHOWN = 5
GROWTH_STEPS = 60
_CHART_LINES = 12

Section = tuple[str, list[str]]
"""A heading and the lines below it."""


def render_everything(pair: Pair, diagnosis: Diagnosis) -> str:
    """All sections with their headings.

    Args:
        pair: the twins.
        diagnosis: what was found in them.
    """
    lines: list[str] = []
    for heading, body in _sections(pair, diagnosis):
        lines += ["", heading, *(f"  {line}".rstrip() for line in body)]
    return "\n".join(lines)


def _sections(pair: Pair, diagnosis: Diagnosis) -> Iterator[Section]:
    yield "What was compared", [*compared_lines(compared_of(pair)), *hint_lines(diagnosis)]
    yield "All steps by groups", ribbon_lines(pair, diagnosis)
    grid = render_grid(GroupGrid.around(pair, diagnosis))
    yield "Groups by step", [line.removeprefix("  ") for line in grid.splitlines()]
    found = reaches(diagnosis)
    if found:
        yield "Components that each origin (>) reached, time to the right", reach_lines(found)
    for step in _steps_of_interest(diagnosis):
        row = pair.row_of_step(step)
        if row is not None:
            events = render_rows(pair, row).splitlines()
            yield f"Events of {step_words(step)}", [line.removeprefix("  ") for line in events]
    for number, origin in enumerate(diagnosis.origins[:ORIGINS_SHOWN], 1):
        yield from _of_origin(pair, number, origin)
    yield "Experiments", experiment_lines(diagnosis, experimented_on(pair))
    yield "Facts of the runs, first against second", _fact_lines(pair)


def _steps_of_interest(diagnosis: Diagnosis) -> list[int]:
    """The onset's step, then those in which origins began."""
    onset = [diagnosis.onset.step] if diagnosis.onset is not None else []
    steps = [*onset, *(origin.step for origin in diagnosis.origins[:ORIGINS_SHOWN])]
    return list(dict.fromkeys(steps))


def _of_origin(pair: Pair, number: int, origin: Origin) -> Iterator[Section]:
    name = f"origin {number}, {printable(origin.buffer)} in {step_words(origin.step)}"
    folders = (pair.a.path.parent, pair.b.path.parent, Path())
    code = code_at(origin.operator, origin.location or origin.source, folders)
    yield f"Code of {name}", code.text().splitlines()
    row = _row_of(pair, origin)
    if row is not None:
        yield f"Values of {name}", value_lines(buffer_view(pair, row))
        yield f"Growth of {name}", _growth_lines(pair, origin, row)


def _row_of(pair: Pair, origin: Origin) -> Row | None:
    common_row = pair.row_of_step(origin.step)
    if common_row is None:
        return None
    return next(
        (
            row
            for row in pair.rows(common_row)
            if row.name == origin.buffer and row.any_side.sequence == origin.event
        ),
        None,
    )


def ribbon_lines(pair: Pair, diagnosis: Diagnosis) -> list[str]:
    """The whole run: a line a group, a character some steps; then when anything differs, in words.

    Args:
        pair: the twins.
        diagnosis: marks where origins began (O), and what is first visible (V).
    """
    bands = list(bands_of(pair, 0, pair.step_count, RIBBON_COLUMNS))
    if not bands:
        return ["the runs share no step"]
    groups = recorded_groups(pair)
    width = max((len(group.label) for group in groups), default=0)
    marked = {origin.step: "O" for origin in diagnosis.origins}
    if diagnosis.first_visible is not None:
        marked.setdefault(diagnosis.first_visible.step, "V")
    spans = [(band.first_step, band.last_step) for band in bands]
    marks = [_mark(marked, first, last) for first, last in spans]
    lines = [f"{'':<{width}} {''.join(marks)}"]
    lines += [
        f"{group.label:<{width}} {''.join(band.statuses[group].symbol for band in bands)}"
        for group in groups
    ]
    each = max(band.last_row - band.first_row + 1 for band in bands)
    scale = "one step" if each == 1 else f"up to {each} steps"
    span = f"{step_words(spans[0][0])} to {step_words(spans[-1][1])}"
    used = {band.statuses[group] for band in bands for group in groups}
    words = ", ".join(f"{status.symbol} {status.word}" for status in Status if status in used)
    lines.append(f"({span}, {scale} a column; {words}; O an origin began, V first visible)")
    differing = [band for band in bands if band.diverges]
    if differing:
        first, last = differing[0], differing[-1]
        lines.append(
            f"Something differs in {len(differing)} of {len(bands)} columns, the first of them "
            f"{_span_words(first.first_step, first.last_step)}, the last "
            f"{_span_words(last.first_step, last.last_step)}."
        )
    else:
        lines.append("Nothing differs in any step.")
    return lines


def _mark(marked: dict[int, str], first: int, last: int) -> str:
    found = {mark for step, mark in marked.items() if first <= step <= last}
    return min(found) if found else " "


def _span_words(first: int, last: int) -> str:
    words = step_words(first)
    return words if first == last else f"{words} to {step_words(last)}"


def value_lines(view: BufferView) -> list[str]:
    """Values around the first difference, differing digits marked below, map and histogram."""
    if view.difference is None or not view.around:
        return [why_no_numbers(view.row, view.level)]
    lines = ["around the first difference, first run against second:"]
    width = max(len(element.index) for element in view.around)
    for element in view.around:
        lines += _element_lines(element, width)
    if view.map is not None:
        lines += ["where they lie, rows down, last axis to the right:", *map_lines(view.map)]
    bars = histogram_lines(view.difference)
    if bars:
        lines += ["elements by distance in ULP:", *bars]
    return lines


def _element_lines(element: SideBySide, width: int) -> list[str]:
    """The element, and below it a ^ for each character that differs."""
    bits = element.hex or ()
    parts = [
        part for pair in zip_longest(element.decimal, bits) for part in pair if part is not None
    ]
    rooms = (15, 12, 15, 12) if bits else (20, 20)
    line = f"{'>' if element.differs else ' '} {element.index:<{width}}"
    marks = " " * len(line)
    for part, room in zip(parts, rooms, strict=True):
        line += f"  {part.text:<{room}}"
        marks += f"  {_carets(part):<{room}}"
    return [line, *([marks] if "^" in marks else [])]


def _carets(marked: Marked) -> str:
    characters = [" "] * len(marked.text)
    for first, last in marked.spans:
        characters[first:last] = "^" * (last - first)
    return "".join(characters)


def _growth_lines(pair: Pair, origin: Origin, row: Row) -> list[str]:
    onset_row = pair.row_of_step(origin.step) or 0
    rows = rows_to_look_at(pair.step_count, onset_row, GROWTH_STEPS)
    points = tuple(growth_points(pair, rows, row.key))
    last = pair.step_number(pair.step_count - 1)
    growth = Growth(row.name, row.group, points, last, pair.step_count)
    unit = f"{growth.measure.meaning}, log scale"
    chart = log_chart(growth.values(), width=WIDTH, height=_CHART_LINES, unit=unit)
    return [growth_words(growth), *chart]


def _fact_lines(pair: Pair) -> list[str]:
    rows = fact_rows(pair.a.facts, pair.b.facts)
    width = min(28, max(len(row.name) for row in rows))
    return [
        f"{'≠' if row.differs else ' '} {elide(row.name, width):<{width}}  {printable(row.a, 400)}"
        + ("" if row.a == row.b else f"  against  {printable(row.b, 400)}")
        for row in rows
    ]
