"""The same calls in another order: what is said of them, and which line is named."""

from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import REMEDIES, Cause
from bisect_debugger.causality.conclusion import conclude
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs.operators import OperatorStream
from bisect_debugger.twins.operators import AlignedOperators, Ended, OperatorFinding
from tests.runs import Event, values, write_run
from tests.unit.test_operator_streams import call
from tests.unit.test_tree import case, row


def _calls(*branches: str) -> list[Event]:
    seeds = {"wide": 3, "narrow": 5, "skip": 7}
    found: list[Event] = [(Group.DATA, "data.net.in[0]", values(1))]
    for branch in branches:
        found.append((Group.FORWARD, f"net.{branch}.in[0]", values(seeds[branch])))
        found.append((Group.FORWARD, f"net.{branch}.out", values(seeds[branch] + 1)))
    return [*found, (Group.LOSS, "loss", values(9))]


def test_the_order_of_each_run_is_told(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", [[], _calls("wide", "narrow", "skip")])
    b = write_run(tmp_path / "b.h5", [[], _calls("narrow", "skip", "wide")])
    (origin,) = diagnose([a, b]).origins
    told = " ".join(origin.evidence)
    assert origin.cause is Cause.CONTROL_FLOW
    assert "The program makes the same calls in both runs, in another order." in told
    assert "the first run calls wide, narrow, skip, the second narrow, skip, wide." in told


def test_the_line_is_that_of_what_the_program_calls_next() -> None:
    stem = call("relu", [(0, "i")], [(1, "h")], line="m.py:3", event=4)
    branches = [
        call("mm", [(1, "h")], [(place, name)], line="m.py:5", event=6)
        for place, name in ((2, "p"), (3, "q"))
    ]
    streams = [OperatorStream(0, "", 0, [stem, *each]) for each in (branches, branches[::-1])]
    found = AlignedOperators(*streams).next_called(5)
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.MOVED, "m.py:5")
    assert AlignedOperators(*streams).next_called(6) is None


@pytest.mark.parametrize(
    ("group", "cause"),
    [(Group.FORWARD, Cause.FORWARD_KERNEL), (Group.GRAD_OUT, Cause.BACKWARD_KERNEL)],
)
def test_results_that_are_put_together_in_another_order_have_advice_of_their_own(
    group: Group, cause: Cause
) -> None:
    add = call("add", [(1, "x")], [(2, "y")])
    plain = case(row(group, step=3))
    leaves = [
        conclude(replace(plain, operator=OperatorFinding(ended, add, add))).leaf
        for ended in (Ended.KERNEL, Ended.REORDERED)
    ]
    assert [leaf.cause for leaf in leaves] == [cause, cause]
    assert leaves[0].remedy == REMEDIES[cause]
    assert "take results in the order in which they were handed out" in leaves[1].remedy.advice[0]


def test_a_run_on_the_cpu_gets_no_advice_for_a_device() -> None:
    remedy = REMEDIES[Cause.FORWARD_KERNEL]
    on_cpu = remedy.for_runs(with_values=False, on_cpu=True)
    assert [line for line in remedy.advice if "CUDA:" in line] == [
        line for line in remedy.advice if line not in on_cpu.advice
    ]
    assert len(on_cpu.advice) == len(remedy.advice) - 2
    assert remedy.for_runs(with_values=False, on_cpu=False) == remedy


@pytest.mark.parametrize("ended", [Ended.ENTERED, Ended.OUTSIDE, Ended.THREADS, Ended.KERNEL])
def test_state_that_threads_share_is_told_where_threads_made_it(ended: Ended) -> None:
    add = call("add", [(1, "x")], [(2, "y")])
    alone = case(row(Group.FORWARD, step=3))
    other = row(Group.FORWARD, step=3, thread=7, flags=EventFlag.BACKGROUND)
    beside = replace(alone, step_rows=(*alone.step_rows, other))
    finding = OperatorFinding(ended, add, add)
    variants = [conclude(replace(each, operator=finding)).leaf.variant for each in (alone, beside)]
    assert variants == ["", "" if ended is Ended.KERNEL else "raced"]


def test_other_numbers_for_the_same_things_have_advice_of_their_own() -> None:
    labels = replace(case(row(Group.DATA, step=3)), rearranged="6 numbers stand for 6 others")
    ordered, numbered = (
        conclude(replace(labels, renumbered=renumbered)).leaf for renumbered in (False, True)
    )
    assert (ordered.cause, numbered.cause) == (Cause.DATA_ORDER, Cause.DATA_ORDER)
    assert (ordered.variant, numbered.variant) == ("", "renumbered")
