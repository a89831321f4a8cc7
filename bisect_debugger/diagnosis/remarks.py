"""Remarks: what a reader must know to judge a verdict."""

from bisect_debugger.causality.walk import WalkResult
from bisect_debugger.diagnosis.cases import environment_differences
from bisect_debugger.diagnosis.conditions import command_remarks
from bisect_debugger.diagnosis.survey import last_compared_row, window_opening
from bisect_debugger.errors import printable
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.format.words import step_words
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair


def remarks_on(pair: Pair, walk: WalkResult) -> tuple[str, ...]:
    """Incomplete runs, other lengths, other environments, limits that were met."""
    remarks = list(command_remarks(pair.a.facts, pair.b.facts))
    remarks += [remark for run in (pair.a, pair.b) if (remark := _incomplete(run))]
    if any(found.opened for found in walk.origins):
        remarks.append(
            f"The runs differ already where the recording begins (step {window_opening(pair)}); "
            "record from step 0 to see where."
        )
    shorter = min((pair.a, pair.b), key=lambda run: run.step_count)
    # Of a run that was stopped on purpose the length says nothing.
    if pair.a.step_count != pair.b.step_count and not shorter.facts.stopped:
        remarks.append(
            f"The runs have another number of steps: the first ends at "
            f"{step_words(pair.a.last_step)}, the second at {step_words(pair.b.last_step)}; "
            f"compared up to {step_words(pair.step_number(last_compared_row(pair)))}."
        )
    levels = {pair.a.facts.level, pair.b.facts.level}
    if "coarse" in levels:
        remarks.append(
            "Recorded at level coarse: steps and groups are compared, single buffers are not "
            "recorded."
        )
    differing = environment_differences(pair.a.facts, pair.b.facts)
    if differing:
        remarks.append(f"The environments differ in {', '.join(map(printable, differing))}.")
    remarks += _not_numbers(pair)
    if not walk.finished:
        remarks.append(
            f"Origins were searched in the first {walk.steps_walked} differing steps, up to step "
            f"{walk.last_step}; later ones are not excluded."
        )
    return tuple(remarks)


def _not_numbers(pair: Pair) -> list[str]:
    """NaN that both runs computed is no difference, and seldom what was wanted."""
    found = [run.first_nan() for run in (pair.a, pair.b)]
    if found[0] is None or found[1] is None:
        return []
    step, name = found[0]
    return [f"Both runs hold NaN, the first in {printable(name)} in {step_words(step)}."]


def _incomplete(run: Run) -> str:
    if run.facts.complete:
        return ""
    end = f"its last whole step is {run.last_closed_step}"
    if run.last_closed_step == INIT_STEP:
        end = "no step of it is whole"
    return f"{printable(str(run.path))} is incomplete ({printable(run.facts.end_reason)}); {end}."
