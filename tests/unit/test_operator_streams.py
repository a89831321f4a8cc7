"""Walking back through two streams of operators, made by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.runs.operators import (
    DamagedOperators,
    Given,
    Operator,
    OperatorStream,
    Returned,
    operators_path,
    read_operators,
)
from bisect_debugger.twins.operators import AlignedOperators, Ended, OperatorFinding


def call(
    name: str,
    given: list[tuple[int, str]],
    returned: list[tuple[int, str]],
    *,
    line: str = "m.py:1",
    views: bool = False,
    thread: int = 0,
    arguments: str = "",
    generator: str | None = None,
    event: int = 0,
) -> Operator:
    """An operator that was given and returned (memory, content)."""
    return Operator(
        name=f"aten::{name}",
        overload="",
        line=line,
        made="",
        module="net",
        node="",
        event=event,
        thread=thread,
        arguments=arguments,
        given=tuple(Given(*each) for each in given),
        returned=tuple(Returned(*each, not views) for each in returned),
        generator=generator,
    )


def explained(
    a: list[Operator], b: list[Operator], digests: tuple[str, str] = ("x", "y"), events: int = 9
) -> OperatorFinding | None:
    streams = (OperatorStream(0, "", 0, a), OperatorStream(0, "", 0, b))
    return AlignedOperators(*streams).explain(digests, events)


def test_other_results_from_equal_inputs_are_the_operators_own() -> None:
    head = call("relu", [(0, "i")], [(1, "h")])
    tail = [call("mul", [(2, c)], [(3, d)], line="m.py:3") for c, d in (("p", "x"), ("q", "y"))]
    a = [head, call("index_add_", [(1, "h")], [(2, "p")], line="m.py:2"), tail[0]]
    b = [head, call("index_add_", [(1, "h")], [(2, "q")], line="m.py:2"), tail[1]]
    found = explained(a, b)
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.KERNEL, "m.py:2")


def test_a_storage_that_is_taken_over_is_no_equal_input() -> None:
    """A loader's worker hands its batch over as a storage, whose content is not recorded."""
    takes = [
        replace(call("set_", [(1, "")], [(2, c)]), overload="source_Storage_storage_offset")
        for c in ("x", "y")
    ]
    found = explained([takes[0]], [takes[1]])
    assert found is not None
    assert found.ended is Ended.ENTERED


def test_a_write_to_another_part_of_the_memory_is_walked_past() -> None:
    """A buffer is filled row by row; the row that differs is not the last one."""
    make = call("zeros", [], [(5, "0")])
    other = call("copy_", [(5, ""), (6, "k")], [(5, "row")], line="m.py:3")
    rows = [call("copy_", [(5, ""), (7, c)], [(5, c)], line="m.py:2") for c in ("p", "q")]
    source = [call("rand", [], [(7, c)], generator=c, line="m.py:1") for c in ("p", "q")]
    reads = [call("sum", [(5, c)], [(8, d)], line="m.py:4") for c, d in (("P", "x"), ("Q", "y"))]
    sides = [[source[i], make, rows[i], other, reads[i]] for i in (0, 1)]
    found = explained(sides[0], sides[1])
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.DRAW, "m.py:1")


def test_a_difference_that_never_arrives_is_not_blamed() -> None:
    """A monitor draws another number; the loss came in from outside."""
    log = [call("rand", [], [(9, c)], generator=c, line="log.py:1") for c in ("p", "q")]
    loss = [call("sub", [(1, c)], [(2, d)], line="m.py:2") for c, d in (("t", "x"), ("u", "y"))]
    found = explained([log[0], loss[0]], [log[1], loss[1]])
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.ENTERED, "m.py:2")


def test_what_comes_in_is_told_by_its_first_reader() -> None:
    sides = [
        [
            call("lift_fresh", [(1, c)], [(1, c)], views=True, line="m.py:1"),
            call("sub", [(1, c)], [(2, d)], line="m.py:2"),
        ]
        for c, d in (("t", "x"), ("u", "y"))
    ]
    found = explained(sides[0], sides[1])
    assert found is not None
    assert (found.ended, found.operator.name) == (Ended.ENTERED, "aten::lift_fresh")


def test_unwritten_memory_is_told_with_its_reader() -> None:
    make = call("empty", [], [(1, "")], line="m.py:1")
    reads = [call("add", [(1, c)], [(2, d)], line="m.py:2") for c, d in (("g", "x"), ("h", "y"))]
    found = explained([make, reads[0]], [make, reads[1]])
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.UNWRITTEN, "m.py:1")
    assert found.wrote is not None
    assert found.wrote.line == "m.py:2"


def test_a_write_that_no_operator_did_is_told() -> None:
    make = call("zeros", [], [(1, "z")], line="m.py:1")
    reads = [call("add", [(1, c)], [(2, d)], line="m.py:2") for c, d in (("g", "x"), ("h", "y"))]
    found = explained([make, reads[0]], [make, reads[1]])
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.OUTSIDE, "m.py:2")


def test_threads_that_take_turns_are_told_as_threads() -> None:
    make = call("zeros", [], [(1, "z")])
    order_a = [
        call("add_", [(1, "z"), (2, "p")], [(1, "zp")], thread=7, line="m.py:5"),
        call("add_", [(1, "zp"), (3, "q")], [(1, "x")], thread=8, line="m.py:5"),
    ]
    order_b = [
        call("add_", [(1, "z"), (3, "q")], [(1, "zq")], thread=8, line="m.py:5"),
        call("add_", [(1, "zq"), (2, "p")], [(1, "y")], thread=7, line="m.py:5"),
    ]
    found = explained([make, *order_a], [make, *order_b])
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.THREADS, "m.py:5")


def test_the_same_calls_in_another_order_are_told_as_such() -> None:
    """Two children of a set are added up in its order: nothing is written in between."""
    leaf = {
        name: call("mul", [(0, "i")], [(k, name)], arguments=f"x={k}")
        for k, name in ((1, "p"), (2, "q"))
    }
    sums = {
        name: call("tanh", [(k, name)], [(3, f"t{name}")], line="m.py:3")
        for k, name in ((1, "p"), (2, "q"))
    }
    ends = [
        call("sub", [(3, f"t{n}")], [(4, d)], line="m.py:4") for n, d in (("p", "x"), ("q", "y"))
    ]
    a = [leaf["p"], leaf["q"], sums["p"], ends[0]]
    b = [leaf["q"], leaf["p"], sums["q"], ends[1]]
    found = explained(a, b)
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.REORDERED, "m.py:1")


def test_other_numbers_are_told() -> None:
    sides = [[call("mul", [(1, "i")], [(2, d)], arguments=f"other={d}")] for d in ("x", "y")]
    found = explained(sides[0], sides[1])
    assert found is not None
    assert found.ended is Ended.ARGUMENTS


def test_a_content_that_no_operator_returned_is_told_with_what_came_before() -> None:
    a = [call("relu", [(0, "i")], [(1, "h")]), call("mul", [(1, "h")], [(2, "m")], event=4)]
    found = explained(a, a, events=3)
    assert found is not None
    assert (found.ended, found.operator.name) == (Ended.UNSEEN, "aten::relu")


def test_an_operator_behind_the_event_is_not_looked_at() -> None:
    late = [call("relu", [(0, c)], [(1, c)], event=5) for c in ("x", "y")]
    assert explained([late[0]], [late[1]], events=4) is None


def test_how_many_like_it_stand_before() -> None:
    same = call("add", [(1, "i")], [(2, "o")], line="m.py:2")
    sides = [[same, same, replace(same, returned=(Returned(3, d, True),))] for d in ("x", "y")]
    found = explained(sides[0], sides[1])
    assert found is not None
    assert found.number == 2


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"op": "aten::add"}',
        b'{"kind": "step", "version": 2, "step": 0, "refused": "", "dropped": 0}',
        b'{"kind": "step", "version": 1, "step": true, "refused": "", "dropped": 0}',
        b'{"kind": "step", "version": 1, "step": 0, "refused": "' + b"x" * (1 << 20) + b'"}',
    ],
)
def test_a_damaged_file_ends_the_reading(tmp_path: Path, line: bytes) -> None:
    operators_path(tmp_path / "a.h5").write_bytes(line + b"\n")
    with pytest.raises(DamagedOperators, match="line 1"):
        read_operators(tmp_path / "a.h5")


def test_content_that_was_written_piece_by_piece_leads_to_who_wrote_the_piece() -> None:
    """`y[0] += number`: no operator returns the whole of it, and the next one reads it."""
    made = call("addmm", [(0, "i")], [(1, "h")])
    sides = []
    for number, piece, whole in (("1", "p", "x"), ("2", "q", "y")):
        wrote = call("add_", [(1, "row")], [(1, piece)], line="m.py:2", arguments=number)
        sides.append([made, wrote, call("tanh", [(1, whole)], [(2, f"t{whole}")], event=12)])
    first, second = sides
    found = explained(first, second)
    assert found is not None
    assert (found.ended, found.operator.line) == (Ended.ARGUMENTS, "m.py:2")


def test_content_that_nobody_wrote_piece_by_piece_came_from_elsewhere() -> None:
    made = call("addmm", [(0, "i")], [(1, "h")])
    a, b = ([made, call("tanh", [(1, each)], [(2, f"t{each}")], event=12)] for each in "xy")
    found = explained(a, b)
    assert found is not None
    assert (found.ended, found.operator.name) == (Ended.OUTSIDE, "aten::tanh")
