"""What explains a difference: every other explanation is tried before a component is blamed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, Verdict, diagnose
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.handmade import Made, MadeEdge, batch, into, loss, out, stream, weight, write_made

F = Group.FORWARD
Steps = list[list[Made]]


def twins(
    tmp_path: Path, steps: Callable[[int], Steps], edges: tuple[MadeEdge, ...] = ()
) -> Diagnosis:
    """Diagnose twins whose events come from a function of 0 for the first and 1 for the other."""
    paths = [
        write_made(tmp_path / f"{name}.h5", steps(fault), edges=edges)
        for fault, name in enumerate("ab")
    ]
    return diagnose(paths)


def origins(found: Diagnosis) -> list[tuple[int, str]]:
    return [(origin.step, origin.buffer) for origin in found.origins]


def test_a_known_producer_does_not_hide_one_that_left_no_edge(tmp_path: Path) -> None:
    """The target network of a DQN runs under no_grad: only the online one has an edge."""

    def steps(fault: int) -> Steps:
        return [
            [weight("q", 1), weight("target", 2)],
            [
                batch(10, "target"),
                out("target", 11 + 500 * fault),
                batch(12, "q"),
                out("q", 13),
                loss(14 + 500 * fault),
            ],
        ]

    edge = MadeEdge((Group.LOSS, "loss"), (F, "q.out"))
    assert origins(twins(tmp_path, steps, (edge,))) == [(0, "target.out")]


def test_an_output_with_a_consumer_of_its_own_may_enter_another_unseen(tmp_path: Path) -> None:
    """A router's output is used as an index too: the graph knows only what is indexed."""

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.norm", 1)],
            [
                batch(10),
                out("net.norm", 11),
                out("net.router", 12 + shift),
                into("net.scale", 13 + shift),
                into("net.expert", 14 + shift),
            ],
        ]

    edges = (
        MadeEdge((F, "net.scale.in[0]"), (F, "net.router.out")),
        MadeEdge((F, "net.expert.in[0]"), (F, "net.norm.out")),
    )
    assert origins(twins(tmp_path, steps, edges)) == [(0, "net.router.out")]


def test_edges_of_another_step_blame_nobody(tmp_path: Path) -> None:
    """Layer 1 is skipped in the step of the fault; the recorded edges are those of step 0."""

    def steps(fault: int) -> Steps:
        def step(number: int, skip: bool, shift: int) -> list[Made]:
            middle = [] if skip else [into("net.l1", 30 + number), out("net.l1", 40 + number)]
            return [
                batch(10 + number),
                out("net.l0", 20 + number + shift),
                *middle,
                into("net.l2", 50 + number + shift),
                out("net.l2", 60 + number + shift),
            ]

        return [
            [weight("net.l0", 1)],
            step(0, False, 0),
            step(1, True, 500 * fault),
        ]

    edges = (
        MadeEdge((F, "net.l1.in[0]"), (F, "net.l0.out")),
        MadeEdge((F, "net.l2.in[0]"), (F, "net.l1.out")),
    )
    assert origins(twins(tmp_path, steps, edges)) == [(1, "net.l0.out")]


def test_the_edges_of_the_step_itself_count(tmp_path: Path) -> None:
    """Where two outputs differ, the one that was read in this step explains, and arrives."""

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.a", 1)],
            [batch(10), out("net.a", 20), out("net.b", 21), into("net.c", 22)],
            [
                batch(11),
                out("net.a", 30 + shift),
                out("net.b", 31 + shift),
                into("net.c", 32 + shift),
            ],
        ]

    edges = (
        MadeEdge((F, "net.c.in[0]"), (F, "net.a.out"), step=0),
        MadeEdge((F, "net.c.in[0]"), (F, "net.b.out"), step=1),
    )
    found = twins(tmp_path, steps, edges)
    reached = {origin.component: origin.contaminated for origin in found.origins}
    assert reached == {"net.a": (), "net.b": ("net.c",)}


def test_a_later_equal_call_of_a_child_does_not_clear_its_parent(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        return [
            [weight("net.pair.enc", 1)],
            [
                batch(10),
                out("net.pair.enc", 11 + 500 * fault),
                out("net.pair.enc", 12),
                out("net.pair", 13 + 500 * fault),
            ],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "net.pair.enc.out")]


def test_a_later_equal_contribution_does_not_clear_the_gradient(tmp_path: Path) -> None:
    def gradient(name: str, kind: str, seed: int) -> Made:
        group = Group.GRAD_SCRATCH if kind == "grad_scratch" else Group.GRAD
        return Made(group, f"{name}.w.{kind}", seed, name, "w", f"{name}.w")

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.a", 1), weight("net.b", 2)],
            [
                gradient("net.a", "grad_scratch", 10 + shift),
                gradient("net.b", "grad_scratch", 20 + shift),
                gradient("net.a", "grad_scratch", 11),
                gradient("net.b", "grad_scratch", 21),
                gradient("net.a", "grad", 12 + shift),
                gradient("net.b", "grad", 22 + shift),
            ],
        ]

    found = twins(tmp_path, steps)
    assert {origin.component: origin.contaminated for origin in found.origins} == {
        "net.a": (),
        "net.b": (),
    }


def test_a_hidden_state_that_is_handed_back_is_explained_by_what_returned_it(
    tmp_path: Path,
) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1)],
            [batch(10), batch(11, slot=1), out("net", 12 + shift)],
            [batch(13), batch(12 + shift, slot=1), out("net", 14 + shift)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "net.out")]


def test_a_reorder_alone_is_one_origin_at_its_place(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        moments = [
            Made(
                Group.OPTIM,
                f"optimizer.exp_avg[net.{x}.w]",
                k,
                "optimizer",
                "exp_avg",
                f"net.{x}.w",
            )
            for k, x in enumerate("abcd", 20)
        ]
        return [
            [weight("net.a", 1)],
            [out("net.a", 10), *(moments[::-1] if fault else moments), weight("net.a", 2)],
        ]

    found = twins(tmp_path, steps)
    (origin,) = found.origins
    assert (origin.component, origin.cause) == ("optimizer", Cause.OPTIMIZER_ORDER)
    assert found.onset is not None
    assert found.onset.group is Group.OPTIM
    assert "not recorded" not in found.sentence
    assert "at another place in the order" in " ".join(origin.evidence)


def test_calls_in_another_order_are_control_flow_and_explain_what_follows(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        calls = [out("net.a", 10), out("net.b", 11)]
        return [
            [weight("net.a", 1)],
            [batch(9), *(calls[::-1] if fault else calls), loss(12 + 500 * fault)],
        ]

    found = twins(tmp_path, steps)
    assert [origin.cause for origin in found.origins] == [Cause.CONTROL_FLOW]


def test_the_onset_is_of_the_training_and_the_origin_the_stream(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [stream("init", 1 + shift), weight("net.a", 1)],
            [
                stream("start", 1 + shift),
                batch(10 + shift),
                stream("forward", 2 + shift),
                out("net.a", 11 + shift),
            ],
        ]

    paths = [
        write_made(
            tmp_path / f"{name}.h5",
            steps(fault),
            seeding=[("random.seed", "entropy", "train.py:3")],
        )
        for fault, name in enumerate("ab")
    ]
    found = diagnose(paths)
    assert found.onset is not None
    assert (found.onset.step, found.onset.buffer) == (0, "data.net.in[0]")
    (origin,) = found.origins
    assert (origin.component, origin.cause) == ("rng.python", Cause.SEED_NOT_APPLIED)
    assert origin.source == "train.py:3"


def test_values_recorded_by_hand_are_no_onset_while_the_training_differs(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        note = Made(Group.USER, "clock", 5 + 500 * fault, "clock", "value", shape=(3,))
        return [[weight("net.a", 1)], [note, batch(10), out("net.a", 11 + 500 * fault)]]

    found = twins(tmp_path, steps)
    assert found.onset is not None
    assert found.onset.buffer == "net.a.out"


@pytest.mark.parametrize("steps_before", [0, 1, 2])
def test_a_batch_is_explained_by_what_the_loader_returned(
    tmp_path: Path, steps_before: int
) -> None:
    """The model sees the batch moved and scaled, so its content is another one."""

    def steps(fault: int) -> Steps:
        def step(number: int) -> list[Made]:
            loads, uses = number == 1, number == 1 + steps_before
            made = Made(
                Group.DATA,
                "loader.train[0]",
                60 + number + 500 * fault * loads,
                "loader.train",
                "[0]",
            )
            return [
                made,
                batch(10 + number + 500 * fault * uses),
                out("net", 20 + number + 500 * fault * uses),
            ]

        return [[weight("net.a", 1)], *(step(k) for k in range(5))]

    assert origins(twins(tmp_path, steps)) == [(1, "loader.train[0]")]


def appears_late(fault: int) -> Steps:
    """A module of two parameters that appears in step 1; one of them is not drawn alike."""
    first = [
        weight("net.late.x", 30 + 500 * fault, EventFlag.INIT),
        weight("net.late.y", 31 + 500 * fault, EventFlag.INIT),
    ]
    return [
        [weight("net.a", 1)],
        [out("net.a", 10), weight("net.a", 2)],
        [*first, out("net.a", 11), out("net.late.x", 12 + 500 * fault), weight("net.a", 3)],
    ]


def test_a_parameter_that_appears_during_training_is_one_as_it_began(tmp_path: Path) -> None:
    found = twins(tmp_path, appears_late)
    (origin,) = found.origins
    assert (origin.component, origin.cause) == ("net.late", Cause.UNSEEDED_INIT)
    words = " ".join((*origin.evidence, *(step.evidence for step in origin.trail)))
    assert "Of those that appeared in step 1 0 of 2 drawn parameters are equal" in words
    assert "when it appeared, in step 1" in words
    assert "At init" not in words


def test_what_appears_in_a_step_that_differs_already_may_be_made_from_it(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        late = appears_late(fault)
        late[1][0] = out("net.a", 10 + 500 * fault)
        return late

    assert origins(twins(tmp_path, steps)) == [(0, "net.a.out")]


def test_a_walk_that_stops_early_says_so(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        return [
            [weight("net.a", 1)],
            *(
                [
                    out("net.a", 20 + k + 500 * fault),
                    into("net.b", 50 + k + 500 * fault),
                    out("other", 80 + k + 500 * fault * (k >= 8)),
                ]
                for k in range(14)
            ),
        ]

    found = twins(tmp_path, steps)
    assert found.verdict is Verdict.DIVERGED
    assert any("later ones are not excluded" in remark for remark in found.remarks)


def test_an_input_is_the_work_of_the_module_whose_code_calls(tmp_path: Path) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net.head.last", 1)],
            [
                batch(3),
                into("net.first", 3),
                out("net.first", 10),
                # `net.head` holds modules and is never called itself.
                into("net.head.last", 11 + shift),
                out("net.head.last", 12 + shift),
                out("net", 12 + shift),
            ],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert (origin.component, origin.buffer) == ("net", "net.head.last.in[0]")
    assert origin.first_reached is not None
    assert origin.first_reached.component == "net.head.last"
    assert origin.contaminated[0] == "net.head.last"


def test_an_input_that_the_training_loop_made_is_said_of_the_module_it_enters(
    tmp_path: Path,
) -> None:
    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("agent.head", 1)],
            [
                batch(3, root="agent"),
                out("agent", 4),
                into("agent.head", 11 + shift),
                out("agent.head", 12 + shift),
            ],
        ]

    (origin,) = twins(tmp_path, steps).origins
    assert origin.component == "agent.head"
