"""The diagnosis as plain text: what `compare` prints."""

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.diagnosis.model import Diagnosis, Origin, TrailStep
from bisect_debugger.errors import printable
from bisect_debugger.metrics import describe


def render_diagnosis(diagnosis: Diagnosis, *, trail: bool = False) -> str:
    """Verdict, origins with numbers and advice, pairs, remarks.

    Args:
        diagnosis: what to print.
        trail: also the decision tree as it was walked.
    """
    lines = [diagnosis.sentence]
    if diagnosis.onset and diagnosis.onset.buffer:
        onset = diagnosis.onset
        lines.append(
            f"Onset: {printable(onset.buffer)} in {step_words(onset.step)} (group "
            f"{onset.group.label}, event {onset.event})."
        )
    if diagnosis.first_visible:
        visible = diagnosis.first_visible
        lines.append(f"First visible: {printable(visible.buffer)} in {step_words(visible.step)}.")
    for number, origin in enumerate(diagnosis.origins, 1):
        lines += ["", *_origin(number, origin)]
    if trail and diagnosis.trail:
        lines += ["", "Trail", *(f"  {line}" for line in trail_lines(diagnosis.trail))]
    if len(diagnosis.pairs) > 1:
        lines += ["", "Pairs"]
        for pair in diagnosis.pairs:
            onset_words = "" if pair.onset_step is None else f" in {step_words(pair.onset_step)}"
            lines.append(
                f"  {printable(pair.a)} {printable(pair.b)}: {pair.verdict.value}{onset_words}"
            )
    remarks = list(diagnosis.remarks)
    if diagnosis.origins and diagnosis.dormant_streams:
        names = ", ".join(printable(stream.component) for stream in diagnosis.dormant_streams)
        remarks.append(f"Random streams that differ without reaching the training: {names}.")
    if diagnosis.compared.uncovered:
        remarks.append("Not covered: " + "; ".join(map(printable, diagnosis.compared.uncovered)))
    if remarks:
        lines += ["", "Remarks", *(f"  {remark}" for remark in remarks)]
    compared = diagnosis.compared
    lines += [
        "",
        f"Compared {compared.events} events, {step_words(compared.first_step)} to "
        f"{step_words(compared.last_step)}; nothing is said about later steps.",
    ]
    return "\n".join(lines)


def _origin(number: int, origin: Origin) -> list[str]:
    where = f", {printable(origin.source)}" if origin.source else ""
    lines = [
        f"{number}. {printable(origin.component)}: {origin.cause.value}",
        f"   {printable(origin.buffer)} in {step_words(origin.step)}, group "
        f"{origin.group.label}{where}",
    ]
    lines.append(f"   {dormancy_words(origin)}")
    if origin.first_gradient is not None:
        gradient = origin.first_gradient
        lines.append(
            f"   first gradient reached: {printable(gradient.buffer)} in "
            f"{step_words(gradient.step)}"
        )
    if origin.difference is not None:
        lines += [f"   {line}" for line in describe(origin.difference)]
    lines += [f"   why: {sentence}" for sentence in origin.evidence[:3]]
    lines += [f"   try: {advice}" for advice in origin.advice[:2]]
    lines.append(f"   confirm: {origin.confirm}")
    return lines


def dormancy_words(origin: Origin) -> str:
    """Whether the origin slept, since when and until when, in a clause."""
    reached = origin.first_reached
    if reached is None:
        return f"dormant since {step_words(origin.step)}: it reached no other component"
    place = f"{printable(reached.component)} ({printable(reached.buffer)})"
    if origin.dormant:
        return (
            f"dormant from {step_words(origin.step)} until step {reached.step}, when it reached "
            f"{place}"
        )
    return f"reached {place} in {step_words(reached.step)}"


def trail_lines(trail: tuple[TrailStep, ...]) -> list[str]:
    """Question, evidence and answer, a line each step."""
    return [
        f"{step.question} -> {printable(step.answer)}  [{printable(step.evidence)}]"
        for step in trail
    ]
