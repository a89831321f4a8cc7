"""Seeding calls: noted with argument and line, passed through, and put back exactly."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from probes.seeding import SEEDERS, SeedingCalls

HERE = Path(__file__).name


class Notes(list[tuple[str, str, str]]):
    """What was noted."""

    def __call__(self, call: str, argument: str, location: str) -> None:
        self.append((call, argument, location))

    def calls(self) -> list[tuple[str, str]]:
        return [(call, argument) for call, argument, _ in self]


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture(autouse=True)
def calls(notes: Notes) -> Iterator[SeedingCalls]:
    states = (random.getstate(), np.random.get_state(), torch.get_rng_state())
    calls = SeedingCalls(notes)
    yield calls
    calls.remove()
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])


LOUD: dict[str, tuple[Callable[[], object], str, str]] = {
    "random": (lambda: random.seed(3), "random.seed", "3"),
    "random of text": (lambda: random.seed("abc"), "random.seed", "'abc'"),
    "random of the system": (lambda: random.seed(None), "random.seed", "entropy"),
    "numpy": (lambda: np.random.seed(4), "numpy.random.seed", "4"),
    "numpy's integer": (lambda: np.random.seed(np.int64(4)), "numpy.random.seed", "4"),
    "numpy list": (lambda: np.random.seed([1, 2]), "numpy.random.seed", "[1, 2]"),
    "numpy keyword": (lambda: np.random.seed(seed=5), "numpy.random.seed", "5"),
    "default_rng": (lambda: np.random.default_rng(6), "numpy.random.default_rng", "6"),
    "default_rng()": (lambda: np.random.default_rng(None), "numpy.random.default_rng", "entropy"),
    "a seed sequence": (
        lambda: np.random.default_rng(np.random.SeedSequence(1)),
        "numpy.random.default_rng",
        "SeedSequence",
    ),
    "torch": (lambda: torch.manual_seed(7), "torch.manual_seed", "7"),
    "torch.random": (lambda: torch.random.manual_seed(8), "torch.manual_seed", "8"),
    # As a call of its own: the table is made before the wrappers are there.
    "torch.seed": (lambda: torch.seed(), "torch.seed", "entropy"),  # noqa: PLW0108
    "cuda": (lambda: torch.cuda.manual_seed_all(9), "torch.cuda.manual_seed_all", "9"),
}


@pytest.mark.parametrize("kind", LOUD)
def test_a_call_is_noted_once_with_its_argument_and_place(notes: Notes, kind: str) -> None:
    call, name, argument = LOUD[kind]
    call()
    # Once, though torch seeds every backend in turn.
    assert notes.calls() == [(name, argument)]
    path, _, line = notes[0][2].rpartition(":")
    assert path.endswith(HERE)
    assert int(line) == call.__code__.co_firstlineno


def test_a_long_argument_is_shortened(notes: Notes) -> None:
    random.seed("x" * 500)
    ((_, argument),) = notes.calls()
    assert len(argument) == 100
    assert argument.endswith("x…")


def test_a_call_from_inside_a_library_is_placed_at_the_users_line(notes: Notes) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
    assert notes.calls() == [("torch.manual_seed", "1")]
    assert HERE in notes[0][2]


def test_results_and_states_are_the_same_as_without(notes: Notes, calls: SeedingCalls) -> None:
    def draw() -> list[object]:
        returned = torch.manual_seed(11)
        random.seed(12)
        np.random.seed(13)
        generator = np.random.default_rng(14)
        return [
            returned is torch.default_generator,
            torch.rand(2).tolist(),
            random.random(),
            np.random.random(),
            generator.random(),
        ]

    with_wrappers = draw()
    assert len(notes) == 4
    calls.remove()
    assert draw() == with_wrappers
    assert len(notes) == 4


def test_errors_pass_through(notes: Notes) -> None:
    with pytest.raises(ValueError, match="Seed must be between"):
        np.random.seed(-1)
    with pytest.raises(TypeError):
        np.random.default_rng("text")  # type: ignore[arg-type]
    # The next call is noted as ever.
    torch.manual_seed(3)
    assert notes.calls()[-1] == ("torch.manual_seed", "3")


def test_the_originals_come_back_exactly(calls: SeedingCalls) -> None:
    calls.remove()
    before = [getattr(owner, name, None) for _, owner, name in SEEDERS]
    calls = SeedingCalls(Notes())
    during = [getattr(owner, name, None) for _, owner, name in SEEDERS]
    wrapper = torch.manual_seed
    calls.remove()
    assert [getattr(owner, name, None) for _, owner, name in SEEDERS] == before
    assert all(new is not old for new, old in zip(during, before, strict=True) if old)
    # One that somebody kept still works, and is silent.
    stream = torch.get_rng_state()
    assert wrapper(5) is torch.default_generator
    torch.set_rng_state(stream)


def test_a_replacement_by_somebody_else_stays(notes: Notes, calls: SeedingCalls) -> None:
    wrapped = random.seed

    def theirs(*arguments: Any) -> None:
        wrapped(*arguments)

    original: Any = wrapped.__wrapped__  # type: ignore[attr-defined]
    random.seed = theirs  # type: ignore[assignment]
    try:
        calls.remove()
        assert random.seed is theirs
        state = random.getstate()
        random.seed(1)
        random.setstate(state)
        assert notes == []
    finally:
        random.seed = original


def test_a_function_that_seeds_compiles_to_the_same(notes: Notes) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(21)
        return x + torch.rand(3)

    expected = function(torch.zeros(3))
    compiled = torch.compile(function, backend="eager")
    assert torch.equal(compiled(torch.zeros(3)), expected)
