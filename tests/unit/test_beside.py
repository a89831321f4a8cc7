"""Threads beside the training that exchange their jobs from run to run."""

from bisect_debugger.causality.beside import exchanged
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row, Seen, Status


def event(
    first: int | None, second: int | None, flags: EventFlag = EventFlag.BACKGROUND, width: int = 4
) -> Row:
    def side(content: int | None) -> Seen | None:
        layout = Layout("float32", (width,))
        return None if content is None else Seen(1, (content, content), layout, flags, 7)

    status = Status.EQUAL if first == second else Status.DIFFERS
    if None in (first, second):
        status = Status.ONE_SIDED
    a, b = side(first), side(second)
    return Row(0, Group.FORWARD, "net", "out", "", "net.out", 0, "", a, b, status, False)


def test_jobs_that_two_threads_exchanged_are_no_difference() -> None:
    assert exchanged([event(1, 2), event(5, 5), event(2, 3), event(3, 1)]) == {0, 2, 3}


def test_a_content_that_the_other_run_does_not_hold_is_one() -> None:
    assert exchanged([event(1, 2), event(2, 3)]) == frozenset()
    assert exchanged([event(1, 2), event(2, 1, width=5)]) == frozenset()


def test_an_event_of_one_run_alone_is_none_where_a_thread_of_the_other_did_it() -> None:
    assert exchanged([event(1, None), event(None, 1)]) == {0, 1}
    assert exchanged([event(1, None), event(None, 2)]) == frozenset()


def test_what_the_training_itself_did_otherwise_is_always_a_difference() -> None:
    own = EventFlag.NONE
    assert exchanged([event(1, 2, own), event(2, 1, own)]) == frozenset()
    assert exchanged([event(1, 2), event(2, 1, own)]) == frozenset()
