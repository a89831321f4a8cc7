"""Looks at where a difference began among the operators of its step, where these were recorded."""

from bisect_debugger.causality.case import Answer, Case, Finding
from bisect_debugger.causality.circumstances import ENTROPY, several_threads
from bisect_debugger.causality.looks import answered, look
from bisect_debugger.errors import printable
from bisect_debugger.twins.operators import Ended

_NOT_SEEN = "no operators were recorded (twin records them in its second pass)"


@look
def given_other_numbers(case: Case) -> Finding:
    """An operator got other plain arguments in each run, while its tensors were equal so far."""
    found, finding = case.operator, _ended(case, Ended.ARGUMENTS)
    if found is None or finding.answer is not Answer.YES:
        return finding
    pairs = ", ".join(f"{mine} against {yours}" for mine, yours in found.differing_arguments)
    name, line = printable(found.operator.name), printable(found.operator.line)
    return answered(True, f"{name} at {line} is given {printable(pairs) or 'other arguments'}")


@look
def drawn_from_another_state(case: Case) -> Finding:
    """A random operator drew from a generator that was in another state."""
    return _ended(case, Ended.DRAW)


@look
def came_in_from_outside(case: Case) -> Finding:
    """What an operator read was made by no operator: a list of numbers, an array, a file."""
    return _ended(case, Ended.ENTERED)


@look
def works_on_other_results(case: Case) -> Finding:
    """An operator was given what another call of the program returned."""
    return _ended(case, Ended.REORDERED)


@look
def read_unwritten(case: Case) -> Finding:
    """An operator read memory that was made without content before any operator wrote to it."""
    return _ended(case, Ended.UNWRITTEN)


@look
def raced_for_state(case: Case) -> Finding:
    """Threads were there, and the difference came in by none of the operators' own inputs."""
    finding = _ended(case, Ended.ENTERED, Ended.OUTSIDE, Ended.THREADS)
    if finding.answer is not Answer.YES:
        return finding
    threads = several_threads(case)
    return Finding(threads.answer, f"{finding.evidence}; {threads.evidence}")


@look
def numbers_are_real(case: Case) -> Finding:
    """A measured or computed number, and not a size, an index or a switch."""
    pairs = case.operator.differing_arguments if case.operator is not None else ()
    real = [mine for mine, yours in pairs if _is_real(mine) or _is_real(yours)]
    if real:
        return answered(True, f"{printable(real[0])} is a real number")
    return answered(False, "they are whole numbers, lists or words")


@look
def unseeded_generator_made(case: Case) -> Finding:
    """A generator took its seed from the system's entropy by then."""
    for facts in (case.facts_a, case.facts_b):
        for call in facts.seeding:
            if call.argument == ENTROPY and call.step <= case.row.step:
                return answered(True, f"{call.call}() at {printable(call.location)}")
    return answered(False, "no generator was seen to take its seed from entropy")


def _ended(case: Case, *ends: Ended) -> Finding:
    """The walk back through the operators ended in one of these ways."""
    found = case.operator
    if found is None:
        return Finding(Answer.NOT_RECORDED, _NOT_SEEN)
    name, line = printable(found.operator.name), printable(found.operator.line)
    return answered(found.ended in ends, f"{name} at {line}: {found.ended.value}")


def _is_real(argument: str) -> bool:
    text = argument.partition("=")[2] or argument
    try:
        float(text)
    except ValueError:
        return False
    return not text.lstrip("+-").isdigit()
