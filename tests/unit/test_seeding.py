"""Seeding calls: noted with argument and line, passed through, and put back exactly."""

import copy
import pickle
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import torch

from probes.seeding import GENERATOR_METHODS, SEEDERS, SeedingCalls

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


class Mute(str):
    """Text that refuses to be shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError("not for show")


class Mine(random.Random):
    """A generator of the trainer's own that passes its seed on."""

    def __init__(self) -> None:
        """Be seeded later."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(a, version)


NAMED = random.Random(0)
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
    "cuda.random": (lambda: torch.cuda.random.manual_seed(9), "torch.cuda.manual_seed", "9"),
    "a Random made": (lambda: random.Random(10), "random.Random.seed", "10"),
    "a Random": (lambda: NAMED.seed(11), "random.Random.seed", "11"),
    "a Generator": (lambda: torch.Generator().manual_seed(13), "torch.Generator.manual_seed", "13"),
    "the default Generator": (
        lambda: torch.default_generator.manual_seed(14),
        "torch.Generator.manual_seed",
        "14",
    ),
    "Generator.seed": (lambda: torch.Generator().seed(), "torch.Generator.seed", "entropy"),
    "what cannot be shown": (lambda: NAMED.seed(Mute("x")), "random.Random.seed", "Mute"),
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


def places() -> list[object]:
    """What stands in every place where a seeding function is looked up."""
    found = [getattr(sys.modules.get(module), name, None) for _, module, name in SEEDERS]
    methods = [vars(torch.Generator)[name] for name in GENERATOR_METHODS]
    return [*found, vars(random.Random)["seed"], *methods]


def test_the_originals_come_back_exactly(calls: SeedingCalls) -> None:
    calls.remove()
    before = places()
    calls = SeedingCalls(Notes())
    during = places()
    wrapper = torch.manual_seed
    calls.remove()
    assert places() == before
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


def test_what_libraries_seed_for_themselves_is_not_noted(notes: Notes) -> None:
    with tempfile.TemporaryDirectory():
        copy.deepcopy(NAMED)
    loader: Any = torch.utils.data.DataLoader([1, 2, 3], shuffle=True)  # type: ignore[arg-type]
    assert len(list(loader)) == 3
    assert notes == []


def test_every_generator_of_numpys_factory_is_handed_on() -> None:
    made: list[tuple[Any, str, str]] = []
    calls = SeedingCalls(Notes(), lambda *what: made.append(what))
    try:
        generator = np.random.default_rng(6)
        np.random.seed(1)
    finally:
        calls.remove()
    ((handed, call, location),) = made
    assert handed is generator
    assert call == "numpy.random.default_rng"
    assert HERE in location
    assert generator.random() == np.random.default_rng(6).random()


def test_a_callback_that_fails_is_not_the_trainers_affair(calls: SeedingCalls) -> None:
    calls.remove()

    def fails(*_: object) -> None:
        raise RuntimeError("a bug of the recorder")

    calls = SeedingCalls(fails, fails)
    try:
        assert np.random.default_rng(3).random() == np.random.default_rng(3).random()
        assert torch.manual_seed(3) is torch.default_generator
        assert torch.Generator().manual_seed(5).initial_seed() == 5
    finally:
        calls.remove()


def test_a_generator_seeded_through_the_wrapper_draws_the_same(calls: SeedingCalls) -> None:
    def draw() -> tuple[list[float], int]:
        generator = torch.Generator()
        assert generator.manual_seed(7) is generator
        drawn = torch.rand(3, generator=generator).tolist()
        return drawn, generator.manual_seed(-1).initial_seed()

    assert "manual_seed" in repr(torch.Generator.manual_seed)
    during = draw()
    with pytest.raises(RuntimeError, match="expected a long"):
        torch.Generator().manual_seed("seven")  # type: ignore[arg-type]
    calls.remove()
    assert draw() == during


def test_a_generator_that_would_not_draw_the_same_is_left_alone(
    calls: SeedingCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls.remove()
    before = places()
    for verdict in (lambda *_: False, lambda *_: 1 / 0):
        monkeypatch.setattr("probes.seeding._seeds_as_before", verdict)
        calls = SeedingCalls(Notes())
        assert [vars(torch.Generator)[name] for name in GENERATOR_METHODS] == before[-2:]
        calls.remove()
        assert places() == before


SEEDING: dict[str, Callable[[], Any]] = {
    "random.seed": lambda: random.seed,
    "random.Random.seed": lambda: random.Random.seed,
    "of a Random": lambda: NAMED.seed,
    "numpy.random.seed": lambda: np.random.seed,
    "numpy.random.default_rng": lambda: np.random.default_rng,
    "torch.manual_seed": lambda: torch.manual_seed,
    "torch.random.seed": lambda: torch.random.seed,
    "torch.cuda.manual_seed_all": lambda: torch.cuda.manual_seed_all,
    "torch.Generator.manual_seed": lambda: torch.Generator.manual_seed,
}


@pytest.mark.parametrize("kind", SEEDING)
def test_a_wrapped_function_is_saved_and_copied_as_the_original(
    calls: SeedingCalls, kind: str
) -> None:
    wrapper = SEEDING[kind]()
    saved = [pickle.dumps(wrapper, protocol) for protocol in (2, pickle.HIGHEST_PROTOCOL)]
    copied = copy.deepcopy(wrapper)
    assert callable(copy.copy(wrapper))
    calls.remove()
    # Also one that somebody kept, when the recording is over.
    saved.append(pickle.dumps(wrapper))
    original = SEEDING[kind]()
    assert type(copied) is type(copy.deepcopy(original))
    for text in saved:
        assert b"probes" not in text
        loaded = pickle.loads(text)
        assert type(loaded) is type(original)
        assert loaded.__name__ == original.__name__
        if isinstance(original, FunctionType) and "." not in original.__qualname__:
            # The compiler, once it ran in a process, keeps another function in `torch`.
            assert loaded is vars(sys.modules[original.__module__])[original.__name__]


def test_a_subclass_that_passes_its_seed_on_is_noted(notes: Notes) -> None:
    Mine().seed(12)
    assert notes.calls() == [("random.Random.seed", "12")]
