"""From recorded runs to a diagnosis. Pure but for reading the runs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from bisect_debugger.causality.conclusion import conclude
from bisect_debugger.causality.extent import made_by
from bisect_debugger.causality.tree_computed import WRITTEN_OUTSIDE
from bisect_debugger.causality.walk import Found, WalkResult, is_of_training
from bisect_debugger.diagnosis.cases import case_of
from bisect_debugger.diagnosis.ending import origin_of_ends
from bisect_debugger.diagnosis.ends import judged_by_ends
from bisect_debugger.diagnosis.evidence import evidence_sentences
from bisect_debugger.diagnosis.findings import recalled
from bisect_debugger.diagnosis.generators import drawn_by, drawn_from
from bisect_debugger.diagnosis.judged import Judged
from bisect_debugger.diagnosis.merging import one_per_fault
from bisect_debugger.diagnosis.model import (
    Alternative,
    Compared,
    Diagnosis,
    FirstVisible,
    Onset,
    Origin,
    PairVerdict,
    Reached,
    RunSummary,
    Verdict,
)
from bisect_debugger.diagnosis.remarks import remarks_on
from bisect_debugger.diagnosis.seeding import seeding_source
from bisect_debugger.diagnosis.sentence import sentence_of
from bisect_debugger.diagnosis.survey import (
    events_before,
    first_training_row,
    last_compared_row,
    walk_pair,
    window_opening,
)
from bisect_debugger.diagnosis.threads import RACED_WORDS, stepped_otherwise
from bisect_debugger.diagnosis.tolerance import within_tolerance
from bisect_debugger.diagnosis.trail import search_trail
from bisect_debugger.diagnosis.zoom import Zoomed
from bisect_debugger.errors import OneRunOnly
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair, Row, open_pair
from bisect_debugger.twins.operators import OperatorFinding

_REORDERED_COARSELY = (
    "Inconclusive: a step holds the same contents in another order, and no tolerance can be judged "
    "at level coarse; record again at level digest."
)


def diagnose(paths: Sequence[str | Path], tolerance: float | None = None) -> Diagnosis:
    """Compare two or more runs and find the origins of the first pair that differs.

    Args:
        paths: run files; all pairs get a verdict.
        tolerance: largest relFro of a difference that still counts as the same run, or None
            to ask for equal bits.

    Raises:
        UsageError: fewer than two runs, or one file twice.
        UnreadableRun: a file cannot be read.
        NotComparable: two runs have nothing in common.
    """
    chosen: Diagnosis | None = None
    verdicts: list[PairVerdict] = []
    for left, right in combinations(paths, 2):
        with open_pair(left, right) as pair:
            diagnosis = diagnose_pair(pair, tolerance)
        onset = diagnosis.onset.step if diagnosis.onset else None
        verdicts.append(PairVerdict(str(left), str(right), diagnosis.verdict, onset))
        if chosen is None or diagnosis.verdict.gravity > chosen.verdict.gravity:
            chosen = diagnosis
    if chosen is None:
        raise OneRunOnly
    return replace(chosen, pairs=tuple(verdicts))


def diagnose_pair(pair: Pair, tolerance: float | None = None) -> Diagnosis:
    """The diagnosis of one pair; see `diagnose`."""
    walk = walk_pair(pair)
    training = first_training_row(pair)
    if training is None and walk.first_training is not None:
        # Another order of groups, in a step whose streams differ as well: no digest tells it alone.
        training = pair.row_of_step(walk.first_training.step)
    raced = training is not None and stepped_otherwise(pair, training)
    zoomed = Zoomed(pair)
    faults = [] if raced else one_per_fault(pair, walk.origins, zoomed.line_of)
    judged = (
        Judged(Verdict.INCONCLUSIVE, RACED_WORDS)
        if raced
        else _verdict(pair, walk, training, tolerance)
    )
    reaching = sorted(
        (found for found in faults if found.reached_training),
        # Most contaminated first: it is the one whose repair brings most back.
        key=lambda found: (-len(found.contaminated), found.row.step),
    )
    silent = [found for found in faults if not found.reached_training]
    origins = tuple(_zoomed_origin(pair, found, zoomed) for found in reaching)
    origins, silent = drawn_from(origins, silent)
    if judged.verdict is Verdict.DIVERGED and _is_equal_so_far(pair, walk, training):
        # Who left a step that it had begun was interrupted, by nothing that is recorded.
        began = training is not None and any(map(is_of_training, pair.rows(training)))
        origins = () if began else origin_of_ends(pair)
    diagnosis = Diagnosis(
        verdict=judged.verdict,
        sentence="",
        runs=(_summary(pair.a), _summary(pair.b)),
        compared=_compared(pair),
        onset=None if raced else _onset(pair, walk, training),
        first_visible=None if raced else _first_visible(walk.first_visible),
        origins=origins,
        dormant_streams=tuple(_origin(pair, found) for found in silent),
        pairs=(),
        remarks=(*remarks_on(pair, walk), *zoomed.remarks),
    )
    diagnosis = replace(diagnosis, trail=search_trail(pair, walk, diagnosis, training))
    verdict = PairVerdict(
        str(pair.a.path),
        str(pair.b.path),
        diagnosis.verdict,
        diagnosis.onset.step if diagnosis.onset else None,
    )
    sentence = sentence_of(diagnosis, judged.words)
    return recalled(replace(diagnosis, sentence=sentence, pairs=(verdict,)), pair)


def _verdict(pair: Pair, walk: WalkResult, training: int | None, tolerance: float | None) -> Judged:
    if training is None or _is_equal_so_far(pair, walk, training):
        return judged_by_ends(pair, Verdict.BIT_EQUAL)
    if tolerance is None:
        return Judged(Verdict.DIVERGED)
    judged = within_tolerance(pair, training, tolerance)
    if judged.verdict is Verdict.INCONCLUSIVE and _onset(pair, walk, training) is None:
        return Judged(Verdict.INCONCLUSIVE, _REORDERED_COARSELY)
    return (
        judged_by_ends(pair, judged.verdict)
        if judged.verdict is Verdict.WITHIN_TOLERANCE
        else judged
    )


def _is_equal_so_far(pair: Pair, walk: WalkResult, training: int | None) -> bool:
    """Also where a run stopped within a step of which all that it had done is equal."""
    return walk.first_training is None and training in (None, pair.stopped_row)


def _summary(run: Run) -> RunSummary:
    return RunSummary(
        str(run.path),
        run.facts.rank,
        run.closed_step_count,
        run.event_count,
        run.facts.complete,
    )


def _compared(pair: Pair) -> Compared:
    end = last_compared_row(pair) + 1
    first, last = pair.step_number(0), pair.step_number(end - 1)
    uncovered = dict.fromkeys((*pair.a.facts.uncovered, *pair.b.facts.uncovered))
    events = events_before(pair, end)
    return Compared(first, last, events, tuple(uncovered), window_opening(pair), _cleared(pair))


def _cleared(pair: Pair) -> tuple[str, ...]:
    """Labels of the groups that both runs recorded and that never differ."""
    recorded = {b.group for b in pair.a.buffers} & {b.group for b in pair.b.buffers}
    return tuple(
        group.label
        for group in Group
        if group in recorded and pair.first_different_row_of(group) is None
    )


def _onset(pair: Pair, walk: WalkResult, training: int | None) -> Onset | None:
    """The first divergence of the training: a stream that differs is no onset by itself."""
    if walk.first_training is not None:
        return _onset_at(walk.first_training)
    if training is None or training == pair.stopped_row:
        return None
    # Level coarse: the group is known, the buffer is not recorded.
    step, cells = pair.cells(training, training + 1)[0]
    group = next((group for group in Group if cells[group].diverges), None)
    return None if group is None else Onset(step, group, "", "", -1)


def _onset_at(row: Row) -> Onset:
    return Onset(row.step, row.group, row.component, row.name, row.any_side.sequence)


def _first_visible(row: Row | None) -> FirstVisible | None:
    return FirstVisible(row.step, row.name) if row else None


def _zoomed_origin(pair: Pair, found: Found, zoomed: Zoomed) -> Origin:
    began = zoomed.began(found)
    return zoomed.applied(_origin(pair, found, began), began)


def _origin(pair: Pair, found: Found, began: OperatorFinding | None = None) -> Origin:
    case = drawn_by(replace(case_of(pair, found), operator=began))
    conclusion = conclude(case)
    # A leaf of one's own may name the variant where nobody writes.
    if conclusion.leaf.variant == WRITTEN_OUTSIDE and case.written_outside:
        found = _blamed(found, case.written_outside[0])
    elif found.component == found.row.component:
        found = _blamed(found, made_by(found.row, case.step_rows))
    cause = conclusion.leaf.cause
    runs = (case.facts_a, case.facts_b)
    remedy = conclusion.leaf.remedy.for_runs(
        with_values=all(facts.level == "full" for facts in runs),
        on_cpu=all(facts.environment.get("devices") == "cpu" for facts in runs),
    )
    row = found.row
    # Origins that were merged bring theirs one after the other.
    arrivals = sorted(found.contaminated.items(), key=lambda arrival: _moment(arrival[1]))
    reached = _reached(found.first_reached)
    return Origin(
        step=row.step,
        group=row.group,
        component=found.component,
        buffer=row.name,
        event=row.any_side.sequence,
        cause=cause,
        source=row.location or seeding_source(case, cause),
        dormant=reached is None or reached.step > max(row.step, 0),
        first_reached=reached,
        first_gradient=_reached(found.first_gradient),
        contaminated=tuple(component for component, _ in arrivals),
        arrivals=tuple(
            Reached(row.step, component, row.name, row.group) for component, row in arrivals
        ),
        difference=case.difference,
        evidence=evidence_sentences(case, found, remedy),
        advice=remedy.advice,
        confirm=remedy.confirm,
        trail=conclusion.trail,
        alternatives=tuple(Alternative(each.cause, each.why) for each in conclusion.alternatives),
        occurrence=row.occurrence,
        moved=row.moved and not row.status.diverges,
    )


def _blamed(found: Found, component: str) -> Found:
    """What made or wrote it is at fault, and not where that was first seen."""
    if component == found.component:
        return found
    reached = {found.component: found.row, **found.contaminated}
    return replace(found, component=component, contaminated=reached, first_reached=found.row)


def _moment(row: Row) -> tuple[int, int]:
    """When an event happened: its step, and its place in it."""
    return row.step, row.any_side.sequence


def _reached(row: Row | None) -> Reached | None:
    return Reached(row.step, row.component, row.name, row.group) if row else None
