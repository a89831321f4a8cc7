"""The diagnosis as plain text: what `compare` prints."""

from collections.abc import Sequence

from bisect_debugger.causality.knobs import knobs_words
from bisect_debugger.diagnosis.model import Diagnosis, Origin, TrailStep, Verdict
from bisect_debugger.diagnosis.sentence import span_words
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.numbers import difference_lines
from bisect_debugger.report.said import Said, say_once
from bisect_debugger.report.zoom import excerpt_lines, isolation_words, operator_line

_ORIGINS_SHOWN = 10
_EVIDENCE_SHOWN = 3
_ADVICE_SHOWN = 2


def render_diagnosis(diagnosis: Diagnosis, *, trail: bool = False) -> str:
    """Verdict, origins with numbers and advice, pairs, remarks.

    Args:
        diagnosis: what to print.
        trail: everything: also the decision tree as it was walked, and all evidence and advice.
    """
    lines = [diagnosis.sentence, *_firsts(diagnosis)]
    said = say_once(diagnosis.origins)
    for number, (origin, words) in enumerate(zip(diagnosis.origins, said, strict=True), 1):
        if number <= _ORIGINS_SHOWN or trail:
            lines += ["", *_origin(number, origin, words, full=trail)]
    left = len(diagnosis.origins) - _ORIGINS_SHOWN
    if left > 0 and not trail:
        lines += ["", f"({left} more origins with -v)"]
    if trail and diagnosis.trail:
        lines += ["", "Trail", *(f"  {line}" for line in trail_lines(diagnosis.trail))]
        for number, origin in enumerate(diagnosis.origins[1:], 2):
            lines += ["", f"Trail of origin {number}"]
            lines += [f"  {line}" for line in trail_lines(origin.trail)]
            lines.append(f"  Conclusion -> {origin.cause.value}")
    lines += _experiments(diagnosis)
    if diagnosis.isolation is not None:
        lines += ["", "Isolation", f"  {isolation_words(diagnosis.isolation)}"]
        if diagnosis.isolation.script:
            lines.append(f"  again with: python {printable(diagnosis.isolation.script, 1000)}")
    lines += _pairs(diagnosis)
    remarks = _remarks(diagnosis)
    if remarks:
        lines += ["", "Remarks", *(f"  {remark}" for remark in remarks)]
    return "\n".join([*lines, "", compared_words(diagnosis)])


def compared_words(diagnosis: Diagnosis) -> str:
    """What the verdict rests on, and where it ends."""
    span = span_words(diagnosis.compared)
    return (
        f"Compared {diagnosis.compared.events} events, {span}; nothing is said about later steps."
    )


def dormancy_words(origin: Origin) -> str:
    """Whether the origin slept, since when and until when, in a clause."""
    reached = origin.first_reached
    if reached is None:
        return f"dormant since {step_words(origin.step)}: it reached no other component"
    place = f"{printable(reached.component)} ({printable(reached.buffer)})"
    if origin.dormant:
        return (
            f"dormant from {step_words(origin.step)} until {step_words(reached.step)}, when it "
            f"reached {place}"
        )
    return f"reached {place} in {step_words(reached.step)}"


def trail_lines(trail: Sequence[TrailStep]) -> list[str]:
    """Question, evidence and answer, a line each step."""
    return [
        f"{printable(step.question, 400)} -> {printable(step.answer)}  "
        f"[{printable(step.evidence, 400)}]"
        for step in trail
    ]


def _firsts(diagnosis: Diagnosis) -> list[str]:
    lines = []
    if diagnosis.onset and diagnosis.onset.buffer:
        onset = diagnosis.onset
        lines.append(
            f"Onset: {printable(onset.buffer)} in {step_words(onset.step)} (group "
            f"{onset.group.label}, event {onset.event})."
        )
    if diagnosis.first_visible:
        visible = diagnosis.first_visible
        lines.append(f"First visible: {printable(visible.buffer)} in {step_words(visible.step)}.")
    return lines


def _origin(number: int, origin: Origin, said: Said, *, full: bool) -> list[str]:
    where = f", {printable(origin.source)}" if origin.source else ""
    proven = ", proven" if origin.proven else ""
    lines = [
        f"{printable(origin.buffer)} in {step_words(origin.step)}, group "
        f"{origin.group.label}{where}",
        dormancy_words(origin),
    ]
    if origin.first_gradient is not None:
        gradient = origin.first_gradient
        lines.append(
            f"first gradient of another component: {printable(gradient.buffer)} in "
            f"{step_words(gradient.step)}"
        )
    if full and origin.contaminated:
        lines.append(f"reached: {', '.join(map(printable, origin.contaminated))}")
    if operator_line(origin):
        lines.append(operator_line(origin))
        lines += [f"  {line}" for line in excerpt_lines(origin)]
    if origin.difference is not None:
        lines += difference_lines(origin.difference)
    lines += [
        f"or {other.cause.value}: {printable(other.why, 400)}" for other in origin.alternatives
    ]
    title = f"{number}. {printable(origin.component)}: {origin.cause.value}{proven}"
    return [title, *(f"   {line}" for line in [*lines, *_words(said, full=full)])]


def _words(said: Said, *, full: bool) -> list[str]:
    evidence = said.evidence if full else said.evidence[:_EVIDENCE_SHOWN]
    advice = said.advice if full else said.advice[:_ADVICE_SHOWN]
    lines = [f"why: {sentence}" for sentence in evidence]
    lines += [f"try: {line}" for line in advice]
    if said.confirm:
        lines.append(f"confirm: {said.confirm}")
    if said.reference:
        lines.append(said.reference)
    left_out = len(said.evidence) - len(evidence) + len(said.advice) - len(advice)
    return [*lines, f"({left_out} more with -v)"] if left_out else lines


def experiment_rows(diagnosis: Diagnosis) -> list[tuple[str, str, str]]:
    """Changed condition, equal pairs, and where the others diverged, of each experiment."""
    rows = []
    for experiment in diagnosis.experiments:
        knobs = knobs_words(experiment.knobs) or "nothing changed"
        onsets = ", ".join(step_words(step) for step in sorted(set(experiment.onset_steps)))
        equal = f"{experiment.equal_pairs} of {experiment.pairs} pairs equal"
        rows.append((knobs, equal, f"diverged in {onsets}" if onsets else ""))
    return rows


def _experiments(diagnosis: Diagnosis) -> list[str]:
    rows = experiment_rows(diagnosis)
    if not rows:
        return []
    lines = [
        f"  {printable(knobs)}: {equal}{f', {where}' if where else ''}"
        for knobs, equal, where in rows
    ]
    return ["", "Experiments", *lines]


def _pairs(diagnosis: Diagnosis) -> list[str]:
    if len(diagnosis.pairs) < 2:
        return []
    lines = ["", "Pairs"]
    for pair in diagnosis.pairs:
        onset = "" if pair.onset_step is None else f" in {step_words(pair.onset_step)}"
        lines.append(f"  {printable(pair.a)} {printable(pair.b)}: {pair.verdict.value}{onset}")
    shown = " and ".join(printable(run.path) for run in diagnosis.runs)
    return [*lines, f"  What stands above is about {shown}."]


def _remarks(diagnosis: Diagnosis) -> list[str]:
    remarks = list(diagnosis.remarks)
    if diagnosis.control is not None and diagnosis.control.seed_changes_the_run:
        remarks.append(
            "The control diverged, and so do the twins: it does not show that the seed matters."
            if diagnosis.verdict is Verdict.DIVERGED
            else "The control diverged, as another seed should."
        )
    if diagnosis.origins and diagnosis.dormant_streams:
        names = ", ".join(printable(stream.component) for stream in diagnosis.dormant_streams)
        remarks.append(f"Differs without reaching the training: {names}.")
    if diagnosis.compared.uncovered:
        remarks.append("Not covered: " + "; ".join(map(printable, diagnosis.compared.uncovered)))
    return remarks
