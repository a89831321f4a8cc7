"""Random streams: read at the boundaries of a step, and never drawn from."""

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bisect_debugger.errors import UsageError
from bisect_debugger.format.groups import Group
from probes.rng import legacy_reader, python_reader
from tests.unit.recorded import Recorded, backward, record


def train_once(path: Path, prepare: Any = lambda _: None, between: Any = lambda: None) -> Recorded:
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(recording: Any) -> None:
        prepare(recording)
        for _ in range(2):
            loss = model(torch.ones(1)).sum()
            between()
            backward(loss)
            optimizer.step()

    return record(path, model, optimizer, train)


def test_boundaries_of_a_step(tmp_path: Path) -> None:
    run = train_once(tmp_path / "a.h5")
    assert run.names(Group.RNG, -1) == [
        "rng.torch_cpu@init",
        "rng.python@init",
        "rng.numpy@init",
    ]
    expected = [
        "rng.torch_cpu@start",
        "rng.python@start",
        "rng.numpy@start",
        "rng.torch_cpu@forward",
        "rng.python@forward",
        "rng.numpy@forward",
        "rng.torch_cpu@loss",
        "rng.torch_cpu@optim",
        "rng.torch_cpu@end",
        "rng.python@end",
        "rng.numpy@end",
    ]
    assert run.names(Group.RNG, 0) == expected
    assert run.names(Group.RNG, 1) == expected
    about = run.buffer("rng.torch_cpu@loss")
    assert (about.component, about.role, about.subject) == (
        "rng.torch_cpu",
        "loss",
        "rng.torch_cpu",
    )


@pytest.mark.parametrize(
    ("stream", "draw"),
    [
        ("torch_cpu", lambda: torch.rand(1)),
        ("python", random.random),
        ("python", lambda: random.gauss(0, 1)),
        ("numpy", np.random.rand),
    ],
)
def test_a_draw_moves_its_own_stream_and_no_other(tmp_path: Path, stream: str, draw: Any) -> None:
    run = train_once(tmp_path / "a.h5", between=draw)
    for name in ("torch_cpu", "python", "numpy"):
        (before,) = run.digests(f"rng.{name}@forward", 0)
        (after,) = run.digests(f"rng.{name}@end", 0)
        assert (before != after) == (name == stream)


def test_recording_draws_from_none(tmp_path: Path) -> None:
    before = (torch.get_rng_state(), repr(np.random.get_state()), random.getstate())
    model = nn.Identity()
    record(tmp_path / "a.h5", model, None, lambda _: model(torch.ones(1)))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (repr(np.random.get_state()), random.getstate())


@pytest.mark.parametrize(
    ("generator", "draw"),
    [
        (torch.Generator(), lambda g: torch.rand(1, generator=g)),
        (np.random.default_rng(1), lambda g: g.random()),
        (np.random.Generator(np.random.MT19937(1)), lambda g: g.random()),
        (np.random.RandomState(1), lambda g: g.rand()),
        (random.Random(1), lambda g: g.random()),
    ],
)
def test_a_registered_generator_is_one_more_stream(
    tmp_path: Path, generator: Any, draw: Any
) -> None:
    run = train_once(
        tmp_path / "a.h5",
        prepare=lambda recording: recording.register_generator("mine", generator),
        between=lambda: draw(generator),
    )
    states = [
        digest
        for step in (0, 1)
        for boundary in ("start", "forward", "end")
        for digest in run.digests(f"rng.mine@{boundary}", step)
    ]
    start, forward, end, start_1, forward_1, end_1 = states
    assert start == forward != end == start_1 == forward_1 != end_1


def test_print_options_do_not_hide_a_state(tmp_path: Path) -> None:
    generator = np.random.RandomState(5)
    with np.printoptions(threshold=3):
        run = train_once(
            tmp_path / "a.h5",
            prepare=lambda recording: recording.register_generator("mine", generator),
            between=lambda: generator.shuffle(np.arange(3)),
        )
    assert run.digests("rng.mine@start", 0) != run.digests("rng.mine@end", 0)


@pytest.mark.parametrize("what", [random.SystemRandom(), "generator", np.random])
def test_what_is_no_generator_is_refused(tmp_path: Path, what: Any) -> None:
    with pytest.raises(UsageError, match=r"^mine "):
        train_once(
            tmp_path / "a.h5",
            prepare=lambda recording: recording.register_generator("mine", what),
        )


def test_python_state_is_read_as_getstate_tells_it() -> None:
    source = random.Random(3)
    read = python_reader(source)
    for draw in (source.random, lambda: source.gauss(0, 1), lambda: source.gauss(0, 1)):
        draw()
        _, words, gauss = source.getstate()
        told = np.array(words, dtype=np.uint32).tobytes() + repr(gauss).encode()
        assert read() == told


@pytest.mark.parametrize(
    ("source", "reader", "draw", "get", "put"),
    [
        (random.Random(3), python_reader, "random", "getstate", "setstate"),
        (random.Random(3), python_reader, "gauss", "getstate", "setstate"),
        (np.random.RandomState(3), legacy_reader, "rand", "get_state", "set_state"),
        (np.random.RandomState(3), legacy_reader, "randn", "get_state", "set_state"),
    ],
)
def test_a_state_is_copied_only_when_somebody_drew(
    source: Any, reader: Any, draw: str, get: str, put: str
) -> None:
    read = reader(source)
    begin, first = getattr(source, get)(), read()
    assert read() is first
    states = [first]
    for _ in range(3):
        getattr(source, draw)()
        states.append(read())
        assert read() is states[-1]
    # Of a pair of normal numbers the second one was there already: only that it waits changes.
    assert len(set(states)) == len(states)
    getattr(source, put)(begin)
    assert read() == first


def test_a_generator_with_a_state_of_its_own_is_asked() -> None:
    class Counter(random.Random):
        count = 0

        def getstate(self) -> tuple[int]:
            return (self.count,)

    source = Counter()
    read = python_reader(source)
    before = read()
    source.count += 1
    assert read() != before


@pytest.mark.parametrize("global_", [True, False])
def test_the_normal_number_that_waits_is_part_of_the_state(global_: bool) -> None:
    saved = np.random.get_state()
    source = np.random.mtrand._rand if global_ else np.random.RandomState(0)
    read = legacy_reader(source)
    states = []
    for draws in (1, 2):
        source.seed(0)
        source.randn(draws)
        states.append(read())
        told = source.get_state(legacy=False)
        assert states[-1][-12:] == struct.pack("=id", told["has_gauss"], told["gauss"])
    np.random.set_state(saved)
    # The same numbers were taken from the bits; what comes next is another one.
    assert states[0][:-12] == states[1][:-12]
    assert states[0] != states[1]


def test_where_the_waiting_number_lies_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.RandomState(0)
    monkeypatch.setattr("probes.rng._waiting_normal_at", lambda: None)
    read = legacy_reader(source)
    source.randn(1)
    before = read()
    source.randn(1)
    assert b"has_gauss=\x01" in before
    assert b"has_gauss=\x00" in read()


def test_a_source_that_is_given_other_bits_is_read_through(tmp_path: Path) -> None:
    source = np.random.RandomState(0)
    read = legacy_reader(source)
    before = read()
    source._bit_generator = np.random.PCG64(1)
    assert read() != before
