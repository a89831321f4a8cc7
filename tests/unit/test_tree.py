"""The decision tree: complete, closed, and every leaf reached by a case that deserves it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.causes import REMEDIES, Cause
from bisect_debugger.causality.conclusion import conclude, render_tree
from bisect_debugger.causality.looks import LOOKS
from bisect_debugger.causality.nodes import Question
from bisect_debugger.causality.tree import ROOT, TREE
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.metrics.difference import Difference, Side
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins.model import Row, Seen, Status

LAYOUT = Layout("float32", (4,))
FACTS = RunFacts(
    path=Path("run.h5"),
    rank=0,
    world_size=1,
    level="full",
    created="",
    window="",
    complete=True,
    end_reason="",
    environment={},
    seeding=(),
    uncovered=(),
)


def row(
    group: Group,
    *,
    step: int = 0,
    role: str = "out",
    subject: str = "",
    flags: EventFlag = EventFlag.NONE,
    thread: int = 0,
    moved: bool = False,
    layout_b: Layout = LAYOUT,
    only_a: bool = False,
) -> Row:
    a = Seen(1, (1, 1), LAYOUT, flags, thread)
    b = None if only_a else Seen(1, (2, 2), layout_b, flags, thread)
    status = Status.ONE_SIDED if only_a else Status.DIFFERS
    return Row(step, group, "net.m", role, subject, "net.m.x", 0, "", a, b, status, moved)


def difference(rel_fro: float = 1e-7, implausible: int = 0) -> Difference:
    side = Side("1.0", "0x3f800000")
    return Difference(
        dtype="float32",
        shape=(4,),
        elements=4,
        differing=1,
        rel_fro=rel_fro,
        max_abs=1e-7,
        mean_abs=1e-8,
        max_ulp=1,
        ulp_histogram=((1, 1, 1),),
        first_index=(0,),
        last_index=(0,),
        axis_ranges=((0, 0),),
        first_a=side,
        first_b=side,
        nan_a=0,
        nan_b=0,
        inf_a=0,
        inf_b=0,
        negative_zero=0,
        implausible_a=implausible,
        implausible_b=0,
        sign_flipped_rows=0,
        rows=1,
    )


def case(origin: Row, *others: Row) -> Case:
    return Case(
        row=origin,
        step_rows=(origin, *others),
        first_step=origin.step,
        siblings_equal=3,
        siblings_different=1,
        difference=difference(),
        permuted=False,
        facts_a=FACTS,
        facts_b=FACTS,
        recorded_streams=("rng.torch_cpu",),
    )


OPTIM = row(Group.OPTIM, role="exp_avg", subject="net.m.w", step=2)
INIT = row(Group.PARAM, role="w", step=-1, flags=EventFlag.INIT)
DATA = row(Group.DATA, role="in[0]", step=3)
REPLAY = row(Group.REPLAY, role="sample.indices", step=3)

DESERVED: list[tuple[Cause, Case]] = [
    (Cause.CONTROL_FLOW, case(row(Group.FORWARD, only_a=True))),
    (Cause.CONTROL_FLOW, case(row(Group.FORWARD, layout_b=Layout("float32", (5,))))),
    (Cause.SEED_NOT_APPLIED, case(row(Group.RNG, role="init", step=-1))),
    (Cause.SEED_NOT_APPLIED, replace(case(INIT), siblings_equal=0, siblings_different=4)),
    (Cause.RNG_STREAM, replace(case(row(Group.RNG, role="start", step=3)), first_step=-1)),
    (
        Cause.PREFETCH_INTERLEAVING,
        replace(
            case(row(Group.RNG, step=3), row(Group.DATA, thread=1, flags=EventFlag.BACKGROUND)),
            first_step=-1,
        ),
    ),
    (Cause.UNSEEDED_INIT, case(INIT)),
    (Cause.UNINITIALISED_MEMORY, replace(case(INIT), difference=difference(1e30, 4))),
    (
        Cause.ASYNC_UPDATE,
        replace(case(row(Group.PARAM, step=4, flags=EventFlag.OUTSIDE_STEP)), first_step=-1),
    ),
    (Cause.RESUME_STATE, case(row(Group.PARAM, step=0, flags=EventFlag.OUTSIDE_STEP))),
    (Cause.RNG_STREAM, case(REPLAY)),
    (Cause.SAMPLER_ORDER, replace(case(REPLAY), first_step=0, permuted=True)),
    (Cause.ASYNC_UPDATE, replace(case(REPLAY), first_step=0)),
    (Cause.SIMULATOR, case(row(Group.SIMULATOR))),
    (Cause.DATA_ORDER, replace(case(DATA), permuted=True)),
    (Cause.RNG_STREAM, case(DATA)),
    (Cause.PREFETCH_INTERLEAVING, replace(case(DATA), first_step=0)),
    (Cause.WALL_CLOCK, case(row(Group.OPTIM, role="lr"))),
    (Cause.OPTIMIZER_STATE, replace(case(OPTIM), first_step=0)),
    (Cause.RESUME_STATE, case(OPTIM)),
    (Cause.OPTIMIZER_ORDER, case(OPTIM, replace(OPTIM, moved=True))),
    (Cause.REDUCTION_ORDER, case(row(Group.GRAD, subject="net.m.w"))),
    (Cause.BACKWARD_KERNEL, case(row(Group.GRAD_OUT))),
    (Cause.BACKWARD_KERNEL, case(row(Group.GRAD_SCRATCH))),
    (Cause.FORWARD_KERNEL, case(row(Group.FORWARD))),
    (Cause.FORWARD_KERNEL, case(row(Group.FORWARD, role="in[0]"))),
    (
        Cause.RNG_STREAM,
        replace(
            case(row(Group.FORWARD, role="in[0]")), difference=replace(difference(1.4), differing=4)
        ),
    ),
    (
        Cause.FORWARD_KERNEL,
        replace(case(row(Group.FORWARD, role="in[0]")), difference=difference(1.4)),
    ),
    (
        Cause.REDUCTION_ORDER,
        case(replace(row(Group.GRAD_OUT, moved=True), status=Status.EQUAL)),
    ),
    (
        Cause.ENVIRONMENT,
        replace(case(row(Group.FORWARD)), environment={"torch_num_threads": ("1", "8")}),
    ),
    (Cause.UNEXPLAINED, replace(case(row(Group.LOSS)), difference=difference(0.3))),
    (Cause.UNEXPLAINED, case(row(Group.USER))),
]


@pytest.mark.parametrize(("cause", "evidence"), DESERVED, ids=lambda value: str(value)[:24])
def test_each_case_ends_at_its_cause(cause: Cause, evidence: Case) -> None:
    found = conclude(evidence)
    trail = found.trail
    assert found.leaf.cause is cause, [(step.node, step.answer) for step in trail]
    assert trail[0].node == ROOT
    assert all(step.evidence for step in trail)


def test_every_cause_has_a_case_and_a_remedy() -> None:
    assert {cause for cause, _ in DESERVED} == set(Cause)
    assert set(REMEDIES) == set(Cause)
    assert all(remedy.advice and remedy.confirm for remedy in REMEDIES.values())


def test_the_tree_is_closed_and_has_no_loop() -> None:
    for node in TREE.values():
        if isinstance(node, Question):
            assert node.look in LOOKS
            assert {node.yes, node.no, node.not_recorded} <= set(TREE)

    depths: dict[str, int] = {}
    above: list[str] = []

    def depth(node_id: str) -> int:
        assert node_id not in above, f"{node_id} is its own ancestor"
        # Many ways lead to one node, so each is looked at once.
        if node_id not in depths:
            node = TREE[node_id]
            above.append(node_id)
            below = node.branches if isinstance(node, Question) else ()
            depths[node_id] = max((1 + depth(child) for child in below), default=0)
            above.pop()
        return depths[node_id]

    assert depth(ROOT) < 40


def test_the_printed_tree_holds_every_question_and_cause() -> None:
    text = render_tree()
    for node_id, node in TREE.items():
        if isinstance(node, Question):
            assert f"[{node_id}]" in text
    assert all(f"=> {cause.value}" in text for cause in Cause)


def test_a_missing_value_is_not_taken_for_an_answer() -> None:
    unknown = replace(case(row(Group.FORWARD, role="in[0]")), difference=None, permuted=None)
    trail = conclude(unknown).trail
    assert [step.answer for step in trail if step.node == "between-values"] == ["not recorded"]
