"""What explains a difference where nothing that an event is surely computed from does."""

from pathlib import Path

import pytest

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.handmade import Made, batch, into, loss, out, stream, weight
from tests.unit.test_walk_explains import Steps, origins, twins

ASIDE = EventFlag.BACKGROUND


def gradient(name: str, seed: int) -> Made:
    return Made(Group.GRAD_OUT, f"{name}.out.grad", seed, name, "out.grad", f"{name}.out")


@pytest.mark.parametrize("before", [0, 1])
def test_a_thread_that_loads_what_was_trained_is_no_origin(tmp_path: Path, before: int) -> None:
    """Actors load weights between two steps; of that, what they compute is recorded alone."""

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        trained = [batch(10 + shift * before), out("net", 11 + shift), loss(12 + shift)]
        acted = [out("actor", 20 + shift, flags=ASIDE), weight("actor", 3 + shift)]
        return [
            [weight("net", 1), weight("actor", 2)],
            [*trained, weight("net", 2 + shift)],
            [*acted, batch(30 + shift), out("net", 31 + shift), loss(32 + shift)],
        ]

    first = (0, "data.net.in[0]") if before else (0, "net.out")
    assert origins(twins(tmp_path, steps)) == [first]


def test_a_thread_in_which_it_began_is_one(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1), weight("actor", 2)],
            [out("actor", 20 + shift, flags=ASIDE), batch(30 + shift), out("net", 31 + shift)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "actor.out")]


def test_a_forward_with_adapted_weights_owes_to_the_gradient(tmp_path: Path) -> None:
    """An inner loop hands the module weights that its parameters do not show."""

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        inner = [out("net", 11), loss(12 + shift), gradient("net", 13 + shift)]
        return [[weight("net", 1)], [batch(10), *inner, batch(20), out("net", 21 + shift)]]

    assert origins(twins(tmp_path, steps)) == [(0, "loss")]


def test_an_input_that_was_moved_along_its_gradient_owes_to_it(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        first = [batch(10), out("net", 11), loss(12), gradient("net", 13 + shift)]
        return [[weight("net", 1)], [*first, batch(20 + shift), out("net", 21 + shift)]]

    assert origins(twins(tmp_path, steps)) == [(0, "net.out.grad")]


def test_a_backward_pass_in_which_optimizers_step_keeps_its_order(tmp_path: Path) -> None:
    """Each parameter's optimizer closes a step of its own, the forward stands in the first."""

    def steps(fault: int) -> Steps:
        called = [into("net.a", 11), into("net.b", 12)]
        first = [batch(10), *(reversed(called) if fault else called), loss(13)]
        rest = [gradient("net.a", 14 + 500 * fault), weight("net.a", 15 + 500 * fault)]
        return [[weight("net.a", 1), weight("net.b", 2)], first, rest]

    ((step, _),) = origins(twins(tmp_path, steps))
    assert step == 0


@pytest.mark.parametrize("draws", [False, True])
def test_what_threads_do_while_init_lasts_owes_to_streams_that_moved(
    tmp_path: Path, draws: bool
) -> None:
    """Init ends at no boundary of its own: the next step's first one tells what was drawn."""

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        begun = [stream("init", 50 + shift), weight("net", 1), out("net", 10, flags=ASIDE)]
        computed = [
            Made(Group.LOSS, "loss", 12 + shift, "loss", "loss", flags=ASIDE, shape=(5,)),
            Made(Group.GRAD_SCRATCH, "net.w.grad_scratch", 13 + shift, "net", "w", "net.w", ASIDE),
        ]
        grad = Made(Group.GRAD, "net.w.grad", 13 + shift, "net", "w", "net.w")
        states = [stream("start", 50 + shift + draws), stream("end", 50 + shift + draws)]
        return [[*begun, *computed], [states[0], grad, weight("net", 2 + shift), states[1]]]

    expected = (-1, "rng.python@init") if draws else (-1, "loss")
    assert origins(twins(tmp_path, steps)) == [expected]
