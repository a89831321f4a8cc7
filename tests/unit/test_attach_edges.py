"""Edges: what an input, a batch or a loss was computed from."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

import probes
from bisect_debugger.runs import open_run
from probes import edges as edges_module
from tests.unit.recorded import backward, record


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left = self.a(x).relu()
        right = self.b(left) + left
        return self.c(right)  # type: ignore[no-any-return]


def test_an_input_knows_the_nearest_outputs_that_it_was_computed_from(tmp_path: Path) -> None:
    model = Residual()
    run = record(
        tmp_path / "a.h5",
        model,
        None,
        lambda _: backward(model(torch.ones(1, 2)).square().mean()),
    )
    assert run.edges == {
        ("model.b.in[0]", 0, "model.a.out", 0, True),
        ("model.c.in[0]", 0, "model.a.out", 0, True),
        ("model.c.in[0]", 0, "model.b.out", 0, True),
        ("loss", 0, "model.out", 0, True),
    }


def test_an_output_is_never_its_own_producer(tmp_path: Path) -> None:
    same = nn.Identity()
    model = nn.ModuleDict({"linear": nn.Linear(2, 2), "same": same})

    def train(_: Any) -> None:
        same(same(model["linear"](torch.ones(1, 2))))

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.edges == {
        ("model.same.in[0]", 0, "model.linear.out", 0, True),
        ("model.same.in[0]", 1, "model.same.out", 0, True),
    }
    assert not any(consumer == producer for consumer, _, producer, _, _ in run.edges)


def test_calls_of_one_module_are_told_apart(tmp_path: Path) -> None:
    cell = nn.Linear(2, 2)

    def train(_: Any) -> None:
        hidden = torch.ones(1, 2)
        for _ in range(3):
            hidden = cell(hidden)

    run = record(tmp_path / "a.h5", nn.ModuleDict({"cell": cell}), None, train)
    assert run.edges == {
        ("model.cell.in[0]", 1, "model.cell.out", 0, True),
        ("model.cell.in[0]", 2, "model.cell.out", 1, True),
    }


def test_without_a_graph_the_same_memory_tells(tmp_path: Path) -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.ModuleDict({"first": first, "second": second})

    def detached(_: Any) -> None:
        second(first(torch.ones(1, 2)).detach())

    def without_grad(_: Any) -> None:
        with torch.no_grad():
            second(first(torch.ones(1, 2)))

    def written(_: Any) -> None:
        with torch.no_grad():
            second(first(torch.ones(1, 2)).add_(1))

    expected = {("model.second.in[0]", 0, "model.first.out", 0, False)}
    assert record(tmp_path / "a.h5", model, None, detached).edges == expected
    assert record(tmp_path / "b.h5", model, None, without_grad).edges == expected
    assert record(tmp_path / "c.h5", model, None, written).edges == frozenset()


def test_edges_of_a_place_are_written_once(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for _ in range(3):
            backward(model(torch.ones(1, 2)).sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.edges == {
        ("model.1.in[0]", 0, "model.0.out", 0, True),
        ("loss", 0, "model.out", 0, True),
    }


def test_a_run_without_events_has_no_edges(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for level in ("coarse", "digest"):
        with probes.attach(model, optimizer, out=tmp_path / f"{level}.h5", level=level):
            backward(model(torch.ones(1, 2)).sum())
            optimizer.step()
        with open_run(tmp_path / f"{level}.h5") as run:
            assert len(run.edges()) == (2 if level == "digest" else 0)


def test_a_walk_that_is_too_long_gives_no_edge_rather_than_some(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(edges_module, "WALK_LIMIT", 20)
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.ModuleDict({"first": first, "second": second})

    def train(_: Any) -> None:
        x = first(torch.ones(1, 2))
        far = x
        for _ in range(30):
            far = far + 1
        second(far + first(torch.ones(1, 2)))

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.edges == frozenset()
    assert len(run.facts.uncovered) == 1
    assert "more than 20 operators" in run.facts.uncovered[0]


def test_marks_of_an_earlier_step_are_no_producers(tmp_path: Path) -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.ModuleDict({"first": first, "second": second})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def train(_: Any) -> None:
        kept = first(torch.ones(1, 2))
        optimizer.step()
        second(kept)

    assert record(tmp_path / "a.h5", model, optimizer, train).edges == frozenset()


def test_edges_follow_a_program_that_changes(tmp_path: Path) -> None:
    first, middle, last = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.ModuleDict({"first": first, "middle": middle, "last": last})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def train(_: Any) -> None:
        for kind in ("all", "skip", "all", "all", "cut"):
            x = first(torch.ones(1, 2))
            if kind == "all":
                x = middle(x)
            last(x.detach() * 1 if kind == "cut" else x)
            optimizer.step()

    path = tmp_path / "a.h5"
    record(path, model, optimizer, train)
    with open_run(path) as run:
        names = [buffer.name for buffer in run.buffers]
        found = [
            (step, names[producer])
            for step, consumer, _, producer, _, _ in run.edges().tolist()
            if names[consumer] == "model.last.in[0]"
        ]
    assert found == [
        (0, "model.middle.out"),
        (1, "model.first.out"),
        (2, "model.middle.out"),
        (4, "model.last.in[0]"),
    ]


def test_another_output_of_the_same_calls_is_news(tmp_path: Path) -> None:
    left, right, last = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.ModuleDict({"left": left, "right": right, "last": last})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def train(_: Any) -> None:
        for step in range(3):
            outputs = left(torch.ones(1, 2)), right(torch.ones(1, 2))
            last(outputs[step % 2])
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.edges == {
        ("model.last.in[0]", 0, "model.left.out", 0, True),
        ("model.last.in[0]", 0, "model.right.out", 0, True),
    }


def test_paths_without_number_are_not_remembered(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(edges_module, "MOST_PATHS", 2)
    model = Residual()
    run = record(
        tmp_path / "a.h5",
        model,
        None,
        lambda _: backward(model(torch.ones(1, 2)).square().mean()),
    )
    assert len(run.edges) == 4
