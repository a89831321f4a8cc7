"""The evidence for a cause, as sentences that a person can check against the recording."""

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.causes import Remedy
from bisect_debugger.causality.circumstances import ENTROPY
from bisect_debugger.causality.looks import stream_words
from bisect_debugger.causality.rules import upstream_words
from bisect_debugger.causality.turns import turns_words
from bisect_debugger.causality.walk import Found
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.format.words import step_words


def evidence_sentences(case: Case, found: Found, remedy: Remedy) -> tuple[str, ...]:
    """What supports the cause, strongest first.

    Args:
        case: the evidence that was gathered.
        found: the origin.
        remedy: what is known about what the tree concluded.
    """
    row = case.row
    name = printable(row.name)
    sentences = [remedy.meaning, *_unseeded_calls(case)]
    if row.is_first_value and row.status.diverges:
        total = case.siblings_equal + case.siblings_different + 1
        when = "At init" if row.step == INIT_STEP else f"Of those that appeared in step {row.step}"
        sentences.append(
            f"{when} {case.siblings_equal} of {total} drawn parameters are equal, and {name} is "
            "not."
        )
    elif row.status.diverges:
        looked_at, missing = upstream_words(row.group, case.recorded)
        sentences.append(
            f"{name} differs in {step_words(row.step)}, and no difference was recorded in "
            f"{looked_at}." + (f" Not recorded: {missing}." if missing else "")
        )
    else:
        turns = turns_words(case)
        sentences.append(
            f"{name} holds the same content in both runs, at another place in the order of "
            f"{step_words(row.step)}{f': {turns}' if turns else ''}."
        )
    sentences += _stream_sentences(case)
    if case.difference is not None and row.group is not Group.RNG:
        numbers = case.difference
        sentences.append(
            f"{numbers.differing} of {numbers.elements} elements differ ({numbers.percent:.3g} %), "
            f"relFro {numbers.rel_fro:.3g}, greatest absolute difference {numbers.max_abs:.3g}."
        )
    sentences += _merged_sentences(found)
    if len(found.steps) > 1:
        sentences.append(f"It differed anew in {len(found.steps)} of the walked steps.")
    if found.first_reached is not None:
        reached = found.first_reached
        sentences.append(
            f"It first arrived in another component in {step_words(reached.step)}: "
            f"{printable(reached.name)}."
        )
    else:
        sentences.append("It was not seen to arrive in another component.")
    return tuple(sentences)


def _merged_sentences(found: Found) -> list[str]:
    if found.beside:
        return [
            f"{found.beside} other gradient(s) of this step differ although their contributions "
            "are equal; one place between backward and the optimizer may be behind all of them, "
            "which the recordings do not tell."
        ]
    if not found.merged:
        return []
    others = ", ".join(printable(other.row.name) for other in found.merged[:3])
    more = f" and {len(found.merged) - 3} more" if len(found.merged) > 3 else ""
    why = f": {found.shared}" if found.shared else ""
    return [f"The same fault made {others}{more} differ{why}."]


def _unseeded_calls(case: Case) -> list[str]:
    """Generators that were made from entropy while recording, with their line."""
    calls = {
        f"{printable(call.call)}() was called without a seed at {printable(call.location)}": None
        for call in case.facts_a.seeding
        if call.argument == ENTROPY and call.step <= case.row.step
    }
    return [f"{sentence}." for sentence in list(calls)[:3]] if _may_be_drawn(case) else []


def _may_be_drawn(case: Case) -> bool:
    """The origin is of a kind that draws: not a gradient, and nothing that an optimizer keeps."""
    backward = (Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD, Group.OPTIM)
    return case.row.group not in backward


def _stream_sentences(case: Case) -> list[str]:
    if case.row.group is Group.RNG:
        calls = {call.call for call in case.facts_a.seeding}
        seen = ", ".join(map(printable, sorted(calls))) or "none"
        return [f"Seeding calls seen while recording: {seen}."]
    if not case.recorded_streams:
        return ["No random stream was recorded."]
    if case.differing_streams:
        names = ", ".join(map(printable, case.differing_streams))
        return [f"Streams that differ by then: {names}."]
    return [f"Random streams in this step, {words}." for words in stream_words(case)]
