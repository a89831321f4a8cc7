"""What single operators tell of a cause goes before what the size of a difference speaks for."""

from dataclasses import replace

import pytest

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.conclusion import conclude
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import SeedingCall
from bisect_debugger.runs.operators import Operator
from bisect_debugger.twins.operators import Ended, OperatorFinding
from tests.unit.test_tree import FACTS, case, difference, row

LOSS, OUTPUT = row(Group.LOSS, role="loss", step=3), row(Group.FORWARD, step=3)
UNSEEDED = replace(
    FACTS, seeding=(SeedingCall("numpy.random.default_rng", "entropy", "train.py:3", 0),)
)


def called(arguments: str) -> Operator:
    return Operator("aten::mul", "Tensor", "train.py:9", "", "", "", 4, 0, arguments, (), ())


def began(ended: Ended, mine: str = "", yours: str = "") -> OperatorFinding:
    return OperatorFinding(ended, called(mine), called(yours))


@pytest.mark.parametrize(
    ("evidence", "cause", "also"),
    [
        (
            replace(case(LOSS), operator=began(Ended.ARGUMENTS, "other=0.25", "other=0.5")),
            Cause.WALL_CLOCK,
            {Cause.RNG_STREAM, Cause.CONTROL_FLOW},
        ),
        (
            replace(
                case(LOSS),
                operator=began(Ended.ARGUMENTS, "other=0.25", "other=1e-05"),
                facts_a=UNSEEDED,
            ),
            Cause.RNG_STREAM,
            {Cause.WALL_CLOCK, Cause.CONTROL_FLOW},
        ),
        (
            replace(
                case(OUTPUT),
                operator=began(Ended.ARGUMENTS, "self=*, dim=[1, 2]", "self=*, dim=[2, 1]"),
            ),
            Cause.CONTROL_FLOW,
            {Cause.WALL_CLOCK},
        ),
        (replace(case(OUTPUT), operator=began(Ended.DRAW)), Cause.RNG_STREAM, set()),
        (replace(case(OUTPUT), operator=began(Ended.KERNEL)), Cause.FORWARD_KERNEL, None),
        (case(OUTPUT), Cause.FORWARD_KERNEL, None),
    ],
    ids=["number", "number-and-unseeded", "whole", "draw", "kernel", "not-recorded"],
)
def test_what_operators_tell(evidence: Case, cause: Cause, also: set[Cause] | None) -> None:
    found = conclude(evidence)
    assert found.leaf.cause is cause, [(step.node, step.answer) for step in found.trail]
    if also is not None:
        assert {each.cause for each in found.alternatives} == also


def test_the_numbers_are_told_as_they_were_given() -> None:
    told = began(Ended.ARGUMENTS, "self=*, p=0.1, size=[2, 3]", "self=*, p=0.2, size=[2, 3]")
    assert told.differing_arguments == (("p=0.1", "p=0.2"),)
    (step,) = [
        each
        for each in conclude(replace(case(OUTPUT), operator=told)).trail
        if each.node == "computed-numbers"
    ]
    assert (step.answer, step.evidence) == (
        "yes",
        "aten::mul at train.py:9 is given p=0.1 against p=0.2",
    )


def test_state_that_nobody_wrote_is_memory_and_not_the_optimizer() -> None:
    state = replace(case(row(Group.OPTIM, subject="net.m.x", step=2)), first_step=0)
    found = conclude(replace(state, operator=began(Ended.UNWRITTEN)))
    assert found.leaf.cause is Cause.UNINITIALISED_MEMORY
    assert conclude(replace(state, operator=began(Ended.KERNEL))).leaf.cause is (
        Cause.OPTIMIZER_STATE
    )


@pytest.mark.parametrize(
    ("ended", "cause"),
    [(Ended.REORDERED, Cause.DATA_ORDER), (Ended.ENTERED, Cause.PREFETCH_INTERLEAVING)],
)
def test_results_that_threads_hand_in_are_ordered_and_not_drawn(ended: Ended, cause: Cause) -> None:
    """A stream that something else drew from meanwhile says nothing of them."""
    samples = replace(
        case(row(Group.DATA, thread=3, flags=EventFlag.BACKGROUND)),
        step_rows=(row(Group.DATA, thread=3, flags=EventFlag.BACKGROUND), row(Group.FORWARD)),
        rearranged="4 of 4 entries of the first run are met in the second at another place",
        drawn_for=("rng.torch_cpu",),
        operator=began(ended),
    )
    assert conclude(samples).leaf.cause is cause


def test_a_loss_of_calls_in_another_order_is_explained() -> None:
    found = conclude(
        replace(case(LOSS), difference=difference(0.3), operator=began(Ended.REORDERED))
    )
    assert found.leaf.cause is Cause.CONTROL_FLOW
