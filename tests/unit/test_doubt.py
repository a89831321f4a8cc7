"""What may explain a difference beyond dataflow, and faults that show in several places."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, Verdict, diagnose
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.handmade import Made, batch, into, loss, out, stream, weight, write_made

Steps = list[list[Made]]


def twins(tmp_path: Path, steps: Callable[[int], Steps]) -> Diagnosis:
    """Diagnose twins whose events come from a function of 0 for the first and 1 for the other."""
    return diagnose([write_made(tmp_path / f"{name}.h5", steps(k)) for k, name in enumerate("ab")])


def origins(found: Diagnosis) -> list[tuple[int, str]]:
    return [(origin.step, origin.buffer) for origin in found.origins]


def test_a_temperature_is_explained_by_outputs_that_its_loss_got_detached(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        scratch = Made(Group.GRAD_SCRATCH, "alpha.w.s", 13 + shift, "alpha", "w", "alpha.w")
        return [
            [weight("net", 1), weight("alpha", 2)],
            [batch(10), out("net", 11 + shift), loss(12), scratch],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "net.out")]


def test_a_gradient_set_by_hand_is_explained_by_any_output(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        gradient = Made(Group.GRAD, "alpha.w.grad", 13 + shift, "alpha", "w", "alpha.w")
        return [
            [weight("net", 1), weight("alpha", 2)],
            [batch(10), out("net", 11 + shift), loss(12), gradient],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "net.out")]


def action(seed: int) -> Made:
    return Made(Group.DATA, "env.action", seed, "env", "action")


def simulated(seed: int) -> Made:
    return Made(Group.SIMULATOR, "env.step.obs", seed, "env", "step.obs")


def test_an_action_explains_what_the_simulator_returns(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1)],
            [batch(10), out("net", 11), action(12), simulated(13)],
            [batch(20), out("net", 21), action(22 + shift), simulated(23 + shift)],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.buffer, origin.cause) == (1, "env.action", Cause.RNG_STREAM)
    assert "is-action" in [step.node for step in origin.trail]


def test_a_policy_that_differs_explains_the_action(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1)],
            [batch(10), out("net", 11 + shift), action(12 + shift), simulated(13 + shift)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "net.out")]


def test_a_stream_first_seen_after_the_draw_may_have_been_drawn_from(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault

        def step(k: int) -> list[Made]:
            return [
                stream("start", 100 + k + shift, "batches"),
                batch(10 + k + shift),
                stream("forward", 100 + k + shift, "batches"),
                out("net", 20 + k + shift),
            ]

        return [[weight("net", 1)], step(0), step(1)]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.component) == (0, "rng.batches")
    assert (origin.cause, origin.dormant) == (Cause.SEED_NOT_APPLIED, False)
    assert origin.first_reached is not None
    assert (origin.first_reached.step, origin.first_reached.component) == (0, "data")


def test_a_stream_may_decide_how_often_another_one_is_drawn_from(tmp_path: Path) -> None:
    def steps(fault: int, explored: int) -> Steps:
        shift = 500 * fault
        return [
            [stream("init", 1), stream("init", 2 + shift, "explore"), weight("net", 3)],
            [
                stream("start", 4 + shift),
                stream("start", explored + shift, "explore"),
                batch(10 + shift),
                out("net", 11 + shift),
            ],
        ]

    drawn = twins(tmp_path, lambda fault: steps(fault, 5))
    assert [origin.component for origin in drawn.origins] == ["rng.explore"]
    (tmp_path / "idle").mkdir()
    idle = twins(tmp_path / "idle", lambda fault: steps(fault, 2))
    assert [origin.component for origin in idle.origins] == ["rng.python"]


def test_a_module_that_was_called_another_number_of_times_is_no_second_origin(
    tmp_path: Path,
) -> None:
    """Its own generator was drawn from once more, so the next call draws other numbers."""

    def steps(fault: int) -> Steps:
        more = [out("q", 50)] if fault else []
        return [
            [weight("q", 1)],
            [batch(10, "q"), *more, batch(11, "p"), out("p", 12)],
            [batch(13, "q"), out("q", 14 + 500 * fault), loss(15 + 500 * fault)],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.buffer, origin.cause) == (0, "q.out", Cause.CONTROL_FLOW)


def test_a_target_that_is_synchronised_in_another_step_is_one_origin(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        names = ("target.0", "target.2", "target.4")
        copied = [weight(name, 40 + k) for k, name in enumerate(names)]
        return [
            [weight("q", 1), *(weight(name, 5 + k) for k, name in enumerate(names))],
            [out("q", 10), *([] if fault else copied)],
            [out("q", 11), *(copied if fault else [])],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.step, origin.component, origin.cause) == (0, "target", Cause.CONTROL_FLOW)


def arguments(order: str, shift: int = 0) -> list[Made]:
    """A call of ``net`` with a dict."""
    seeds = {"x": 10, "y": 11 + shift, "z": 12}
    return [Made(Group.DATA, f"data.net.in[0].{k}", seeds[k], "data", f"in[0].{k}") for k in order]


@pytest.mark.parametrize("other", ["yxz", "zyx"])
def test_arguments_of_a_call_in_another_order_are_no_divergence(tmp_path: Path, other: str) -> None:
    def steps(fault: int) -> Steps:
        order = other if fault else "xyz"
        return [[weight("net", 1)], *([*arguments(order), out("net", 20 + k)] for k in range(3))]

    found = twins(tmp_path, steps)
    assert (found.verdict, found.origins, found.onset) == (Verdict.BIT_EQUAL, (), None)


def test_a_difference_among_shuffled_arguments_is_found(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        order, shift = ("zyx", 500) if fault else ("xyz", 0)
        return [
            [weight("net", 1)],
            [*arguments(order), out("net", 20)],
            [*arguments(order, shift), out("net", 21 + shift)],
        ]

    assert origins(twins(tmp_path, steps)) == [(1, "data.net.in[0].y")]


def test_a_module_that_adds_up_in_the_order_of_its_arguments_is_explained_by_it(
    tmp_path: Path,
) -> None:
    def steps(fault: int) -> Steps:
        order = "zyx" if fault else "xyz"
        inner = [into("net.a", 30 + 500 * fault), out("net.a", 31 + 500 * fault)]
        return [[weight("net", 1)], [*arguments(order), *inner, out("net", 32 + 500 * fault)]]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.component, origin.cause) == ("data", Cause.CONTROL_FLOW)
    assert "at another place in the order" in " ".join(origin.evidence)


def test_a_kernel_inside_is_not_excused_by_shuffled_arguments_of_its_root(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        order = "zyx" if fault else "xyz"
        inner = [into("net.a", 30), out("net.a", 31 + 500 * fault)]
        return [[weight("net", 1)], [*arguments(order), *inner, out("net", 32 + 500 * fault)]]

    assert origins(twins(tmp_path, steps)) == [(0, "net.a.out")]


BESIDE = EventFlag.BACKGROUND


def beside(seed: int) -> Made:
    """A batch that a thread beside the training loaded."""
    made = Made(Group.DATA, "loader.train[0]", seed, "loader.train", "[0]")
    return replace(made, flags=BESIDE)


@pytest.mark.parametrize("ahead", [0, 1])
def test_work_beside_the_training_may_stand_in_any_step(tmp_path: Path, ahead: int) -> None:
    def steps(fault: int) -> Steps:
        loads = [beside(50 + k) for k in range(4)]
        where = [[loads[0], loads[1]], [loads[2]], [loads[3]]]
        if fault:
            where = [[loads[0]], [loads[1], loads[2], loads[3]], []] if ahead else where[::-1]
        return [
            [weight("net", 1)],
            *(
                [*where[k], batch(10 + k), out("net", 20 + k + 500 * fault * (k == 2))]
                for k in range(3)
            ),
        ]

    # The events are written in one thread here, so they are part of the digests all the same.
    assert origins(twins(tmp_path, steps)) == [(2, "net.out")]


def test_a_batch_that_differs_beside_the_training_explains_the_one_that_is_used(
    tmp_path: Path,
) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1)],
            [beside(50 + shift), batch(10), out("net", 20)],
            [beside(51), batch(11 + shift), out("net", 21 + shift)],
        ]

    found = twins(tmp_path, steps)
    assert origins(found) == [(0, "loader.train[0]")]
    assert found.onset is not None
    assert found.onset.buffer == "data.net.in[0]"


def test_a_hand_recorded_label_as_far_off_as_another_draw_is_a_stream(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        labels = Made(Group.USER, "labels", 50 + 500 * fault, "labels", "value")
        return [[weight("net", 1)], [labels, batch(10), out("net", 11), loss(12 + 500 * fault)]]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.component, origin.cause) == ("labels", Cause.RNG_STREAM)


def test_what_was_not_recorded_is_named_apart(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        return [[weight("net", 1)], [batch(10 + 500 * fault), out("net", 11 + 500 * fault)]]

    (origin,) = twins(tmp_path, steps).origins
    words = " ".join(origin.evidence)
    looked_at, _, missing = words.partition("Not recorded: ")
    assert "the replay sample" not in looked_at
    assert missing.startswith(
        "the batch that a data loader returned, the replay sample, the simulator, what was "
        "recorded by hand before it, the random streams drawn from, earlier batches"
    )


def test_a_tolerance_that_is_exceeded_says_by_what(tmp_path: Path) -> None:
    paths = [
        write_made(tmp_path / f"{k}.h5", [[weight("net", 1)], [batch(2), out("net", 3 + 500 * k)]])
        for k in (0, 1)
    ]
    found = diagnose(paths, tolerance=1e-3)
    assert found.verdict is Verdict.DIVERGED
    assert "net.out in step 0 has relFro 0.881" in found.sentence
    assert "more than the 0.001 allowed" in found.sentence


def test_a_dormant_origin_says_that_it_reached_nothing(tmp_path: Path) -> None:
    """Memory that is handed over and only used where it was written."""

    def steps(fault: int) -> Steps:
        return [[weight("net", 1)], [batch(10), batch(11 + 500 * fault, slot=1), out("net", 12)]]

    assert "dormant: it reached no other component" in twins(tmp_path, steps).sentence


def test_an_action_of_one_run_alone_explains_no_batch_of_a_loader(tmp_path: Path) -> None:
    """Neither enters a module, which is nothing that they have in common."""

    def steps(fault: int) -> Steps:
        loaded = Made(Group.DATA, "loader.train[0]", 50 + 500 * fault, "loader.train", "[0]")
        return [
            [weight("net", 1)],
            [batch(10), *[action(12)] * fault],
            [loaded, batch(20)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "env.action"), (1, "loader.train[0]")]
