"""Parameters that something wrote while no optimizer was at work, and what that explains."""

from pathlib import Path

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.handmade import Made, batch, into, loss, out, stream, weight
from tests.unit.test_walk_explains import Steps, origins, twins


@pytest.mark.parametrize("average", ["target", "agent.mean"])
def test_an_average_of_parameters_is_explained_by_them(tmp_path: Path, average: str) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        gradient = Made(Group.GRAD, "q.w.grad", 30 + shift, "q", "w", "q.w")
        return [
            [weight("q", 1), weight(average, 2)],
            [
                out("q", 20 + shift),
                loss(25 + shift),
                gradient,
                weight("q", 40 + shift),
                weight(average, 3),
            ],
            [weight(average, 50 + shift, EventFlag.OUTSIDE_STEP), out("q", 21)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "q.out")]


def test_a_parameter_that_one_run_changed_between_steps_is_no_control_flow(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        changed = [weight("net.a", 99, EventFlag.OUTSIDE_STEP)] if fault else []
        return [
            [weight("net.a", 1)],
            [out("net.a", 10), weight("net.a", 2)],
            [*changed, out("net.a", 11 + 500 * fault), weight("net.a", 3 + 500 * fault)],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.cause) == (1, Cause.ASYNC_UPDATE)
    assert [step.node for step in origin.trail] == [
        *("one-loaded", "is-outside", "outside-loaded", "outside-midway", "outside-first"),
        *("outside-drawn", "outside-numbers"),
    ]


def test_a_parameter_that_was_written_in_the_middle_of_a_step_is_no_kernel(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.a", 1)],
            [
                batch(3),
                weight("net.a", 99 + shift, EventFlag.OUTSIDE_STEP),
                out("net.a", 10 + shift),
                weight("net.a", 2 + shift),
            ],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.buffer, origin.cause) == (0, "net.a.w", Cause.ASYNC_UPDATE)
    assert "outside-first" not in [step.node for step in origin.trail]


@pytest.mark.parametrize("drawn", [True, False])
def test_what_is_written_from_a_stream_is_owed_to_it_where_it_was_drawn_from(
    tmp_path: Path, drawn: bool
) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        after = 21 + shift if drawn else 20 + shift
        return [
            [stream("init", 20 + shift, "numpy"), weight("net.a", 1)],
            [
                stream("start", 20 + shift, "numpy"),
                batch(3),
                weight("net.a", 99 + shift, EventFlag.OUTSIDE_STEP),
                out("net.a", 10 + shift),
                stream("optim", after, "numpy"),
                weight("net.a", 2 + shift),
            ],
        ]

    found = twins(tmp_path, steps)
    expected = [(-1, "rng.numpy@init")] if drawn else [(0, "net.a.w")]
    assert origins(found) == expected


def test_what_is_descended_by_hand_is_owed_to_the_gradients_of_its_step(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.a", 1), weight("net.b", 2)],
            [
                batch(3 + shift),
                into("net.a", 3 + shift),
                out("net.a", 10 + shift),
                loss(25 + shift),
                weight("net.b", 99 + shift, EventFlag.OUTSIDE_STEP),
                out("net.b", 30 + shift),
            ],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "data.net.in[0]")]


@pytest.mark.parametrize("trained", [False, True])
def test_a_model_that_no_optimizer_trains_is_written_as_a_whole(
    tmp_path: Path, trained: bool
) -> None:
    """An average that a thread keeps: one fault, and not one for each of its layers."""

    def steps(fault: int) -> Steps:
        def part(name: str, seed: int) -> Made:
            # Nobody could have copied the one from the other.
            shape = (3, 4 + "abc".index(name))
            return Made(Group.PARAM, f"mean.{name}.w", seed, f"mean.{name}", "w", shape=shape)

        written = [part("a", 3 + 500 * fault), part("b", 4), part("c", 5 + 500 * fault)]
        grad = Made(Group.GRAD, "mean.b.w.grad", 30, "mean.b", "w", "mean.b.w")
        return [
            [weight("q", 1), *(part(name, 2) for name in "abc")],
            [batch(10, "q"), out("q", 11), *([grad] if trained else []), *written],
        ]

    found = [origin.component for origin in twins(tmp_path, steps).origins]
    assert found == (["mean.a", "mean.c"] if trained else ["mean"])
