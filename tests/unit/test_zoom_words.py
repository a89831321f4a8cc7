"""What is said of an operator that an origin began in."""

from bisect_debugger.diagnosis.zoom import words_of
from bisect_debugger.runs.operators import Operator
from bisect_debugger.twins.operators import Ended, OperatorFinding


def _sum(arguments: str) -> Operator:
    return Operator(
        name="aten::sum",
        overload="dim_IntList",
        line="model.py:7",
        made="",
        module="net",
        node="",
        event=3,
        thread=0,
        arguments=arguments,
        generator=None,
        given=(),
        returned=(),
    )


def test_an_argument_that_differs_is_told_whole() -> None:
    a, b = _sum("self=*, dim=[0, 1], keepdim=False"), _sum("self=*, dim=[0, 2], keepdim=False")
    assert words_of(OperatorFinding(Ended.ARGUMENTS, a, b)) == (
        "aten::sum at model.py:7 is given dim=[0, 1] in the first run and dim=[0, 2] in the second."
    )


def test_numbers_that_calls_exchanged_are_told_as_an_order() -> None:
    a, b = _sum("self=*, dim=[0, 1]"), _sum("self=*, dim=[0, 2]")
    assert words_of(OperatorFinding(Ended.REORDERED, a, b)) == (
        "aten::sum at model.py:7 is given dim=[0, 1] in the first run and dim=[0, 2] in the "
        "second, and each run gives what the other gives to another call of it: the program makes "
        "the same calls in another order."
    )
