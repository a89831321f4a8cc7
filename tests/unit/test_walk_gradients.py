"""Gradients of several optimizers: each is held to the contributions that went into it."""

from pathlib import Path

from bisect_debugger.format.groups import Group
from tests.handmade import Made, batch, weight
from tests.unit.test_walk_explains import Steps, origins, twins


def test_a_second_optimizer_sees_what_was_contributed_in_the_step_of_the_first(
    tmp_path: Path,
) -> None:
    """Of several micro-batches the first differs; each optimizer closes a step of its own."""

    def gradient(name: str, kind: str, seed: int) -> Made:
        group = Group.GRAD_SCRATCH if kind == "grad_scratch" else Group.GRAD
        return Made(group, f"{name}.w.{kind}", seed, name, "w", f"{name}.w")

    def steps(fault: int, clipped: int = 0) -> Steps:
        return [
            [weight("net.a", 1), weight("net.b", 2)],
            [
                batch(10 + 500 * fault),
                gradient("net.b", "grad_scratch", 20 + 500 * (fault - clipped)),
                gradient("net.a", "grad_scratch", 11 + 500 * fault),
                gradient("net.b", "grad_scratch", 21),
                gradient("net.a", "grad", 12 + 500 * fault),
            ],
            [gradient("net.b", "grad", 22 + 500 * fault)],
        ]

    assert origins(twins(tmp_path, steps)) == [(0, "data.net.in[0]")]
    (tmp_path / "clipped").mkdir()
    by_norm = twins(tmp_path / "clipped", lambda fault: steps(fault, clipped=fault))
    assert origins(by_norm) == [(0, "data.net.in[0]")]


def test_the_second_backward_of_an_alternating_trainer_is_held_to_its_own(tmp_path: Path) -> None:
    """What the first backward contributed was thrown away, so it explains no later sum."""

    def gradient(kind: str, seed: int) -> Made:
        group = Group.GRAD_SCRATCH if kind == "grad_scratch" else Group.GRAD
        return Made(group, f"net.w.{kind}", seed, "net", "w", "net.w")

    def steps(fault: int) -> Steps:
        shift = 500 * fault
        return [
            [weight("net", 1)],
            [gradient("grad_scratch", 10 + shift), gradient("grad", 11)],
            [gradient("grad_scratch", 12), gradient("grad", 13 + shift)],
        ]

    assert origins(twins(tmp_path, steps))[-1] == (1, "net.w.grad")


def seen_by_optimizer(*shifts: int) -> Steps:
    """A step whose contributions are equal; each shift is that of one parameter's gradient."""
    names = [f"net.{number}" for number in range(len(shifts))]
    return [
        [weight(name, number) for number, name in enumerate(names)],
        [
            batch(9),
            *(
                Made(Group.GRAD_SCRATCH, f"{name}.w.grad_scratch", 20, name, "w", f"{name}.w")
                for name in names
            ),
            *(
                Made(Group.GRAD, f"{name}.w.grad", 30 + number + shift, name, "w", f"{name}.w")
                for number, (name, shift) in enumerate(zip(names, shifts, strict=True))
            ),
        ],
    ]


def test_what_changes_all_gradients_at_once_is_one_fault(tmp_path: Path) -> None:
    found = twins(tmp_path, lambda fault: seen_by_optimizer(*([500 * fault] * 4)))
    (origin,) = found.origins
    assert (origin.component, origin.buffer) == ("net", "net.0.w.grad")
    assert set(origin.contaminated) >= {"net.0", "net.1", "net.2", "net.3"}
    assert (
        "The same fault made net.1.w.grad, net.2.w.grad, net.3.w.grad differ: all gradients of the "
        "step differ, from equal contributions."
    ) in origin.evidence


def test_some_gradients_that_nothing_is_known_to_join_stay_apart_and_say_so(tmp_path: Path) -> None:
    found = twins(tmp_path, lambda fault: seen_by_optimizer(500 * fault, 0, 500 * fault))
    assert [origin.component for origin in found.origins] == ["net.0", "net.2"]
    for origin in found.origins:
        (words,) = [line for line in origin.evidence if "one place between backward" in line]
        assert words.startswith("1 other gradient(s) of this step differ")
