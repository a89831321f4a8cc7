"""Module inputs and outputs: names, order, content at the moment of the call, circumstances."""

from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.unit.recorded import backward, digest_of, record

Pair = namedtuple("Pair", ["left", "right"])


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_inputs_and_outputs_stand_in_execution_order_with_full_paths(tmp_path: Path) -> None:
    linear = nn.Linear(2, 3)
    model = nn.Sequential(linear, nn.Sequential(nn.Tanh(), Doubled()))
    x = torch.randn(4, 2)
    run = record(tmp_path / "a.h5", model, None, lambda _: model(x))
    assert run.names(Group.DATA) == ["data.model.in[0]"]
    assert run.names(Group.FORWARD) == [
        "model.0.in[0]",
        "model.0.out",
        "model.1.in[0]",
        "model.1.0.in[0]",
        "model.1.0.out",
        "model.1.1.in[0]",
        "model.1.1.out",
        "model.1.out",
        "model.out",
    ]
    hidden = torch.nn.functional.linear(x, linear.weight, linear.bias)
    assert run.digests("data.model.in[0]") == [digest_of(x)]
    assert run.digests("model.0.out") == [digest_of(hidden)]
    assert run.digests("model.out") == [digest_of(hidden.tanh() * 2)]


def test_a_buffer_knows_its_component_role_class_and_line(tmp_path: Path) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)  # type: ignore[no-any-return]

    line = Net.forward.__code__.co_firstlineno
    model = Net()
    run = record(tmp_path / "a.h5", {"net": model}, None, lambda _: model(torch.ones(1, 2)))
    out = run.buffer("net.inner.out")
    assert (out.component, out.role) == ("net.inner", "out")
    assert out.kind == "torch.nn.modules.linear.Linear"
    # Torch's own classes are no place where a user can change something.
    assert out.location.endswith(f"test_attach_forward.py:{line}")
    batch = run.buffer("data.net.in[0]")
    assert (batch.component, batch.role, batch.group) == ("data", "in[0]", Group.DATA)


def test_nested_values_get_a_buffer_per_leaf(tmp_path: Path) -> None:
    @dataclass
    class Out:
        logits: torch.Tensor
        hidden: list[torch.Tensor]
        note: str = "no content"

    class Inner(nn.Module):
        def forward(self, pair: Any, scale: float, *, mask: Any = None) -> Out:
            return Out(pair.left * scale, [pair.right, mask["rows"]])

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: torch.Tensor) -> dict[str, Any]:
            out = self.inner(Pair(x, -x), 0.5, mask={"rows": x + 1, "none": None})
            return {"all": (out.logits, out.hidden), "count": 3}

    model = Net()
    x = torch.ones(2)
    run = record(tmp_path / "a.h5", model, None, lambda _: model(x))
    assert run.names(Group.FORWARD) == [
        "model.inner.in[0].left",
        "model.inner.in[0].right",
        "model.inner.in[1]",
        "model.inner.in.mask.rows",
        "model.inner.out.logits",
        "model.inner.out.hidden[0]",
        "model.inner.out.hidden[1]",
        "model.out.all[0]",
        "model.out.all[1][0]",
        "model.out.all[1][1]",
        "model.out.count",
    ]
    assert run.digests("model.inner.in[1]") == [digest_of(0.5)]
    assert run.digests("model.out.count") == [digest_of(3)]
    assert run.digests("model.inner.in.mask.rows") == [digest_of(x + 1)]


def test_keyword_arguments_of_torch_modules_are_seen(tmp_path: Path) -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    mask = torch.tensor([[False, True]])
    x = torch.randn(1, 2, 4)
    run = record(
        tmp_path / "a.h5",
        nn.ModuleDict({"attention": attention}),
        None,
        lambda _: attention(x, x, value=x, key_padding_mask=mask),
    )
    assert run.digests("model.attention.in.key_padding_mask") == [digest_of(mask)]
    assert run.digests("model.attention.in.value") == [digest_of(x)]


def test_an_output_is_hashed_before_somebody_writes_into_it(tmp_path: Path) -> None:
    linear = nn.Linear(3, 3)
    x = torch.randn(2, 3)
    before = torch.nn.functional.linear(x, linear.weight, linear.bias).detach().clone()

    def train(_: Any) -> None:
        with torch.no_grad():
            y = linear(x)
            y.mul_(7)

    model = nn.ModuleDict({"linear": linear, "relu": nn.ReLU(inplace=True)})
    run = record(tmp_path / "a.h5", model, None, train)
    assert run.digests("model.linear.out") == [digest_of(before)]


def test_an_input_that_was_written_to_since_it_was_hashed_is_hashed_again(tmp_path: Path) -> None:
    """Large enough for the digest of the same tensor object to be looked up."""
    double = Doubled()
    x = torch.zeros(100, 100)

    def train(_: Any) -> None:
        double(x)
        x.add_(1)
        double(x)
        x.t_()
        double(x)
        double(x)

    run = record(tmp_path / "a.h5", nn.ModuleDict({"twice": double}), None, train)
    zeros, ones = torch.zeros(100, 100), torch.ones(100, 100)
    assert run.digests("model.twice.in[0]") == [
        digest_of(zeros), digest_of(ones), digest_of(ones), digest_of(ones)
    ]  # fmt: skip
    rectangle = torch.arange(20000.0).reshape(100, 200)

    def reshaped(_: Any) -> None:
        double(rectangle)
        rectangle.t_()
        double(rectangle)

    run = record(tmp_path / "b.h5", nn.ModuleDict({"twice": double}), None, reshaped)
    assert run.digests("model.twice.in[0]") == [
        digest_of(torch.arange(20000.0).reshape(100, 200)),
        digest_of(torch.arange(20000.0).reshape(100, 200).t().contiguous()),
    ]


def test_several_calls_in_a_step_are_occurrences(tmp_path: Path) -> None:
    cell = nn.GRUCell(2, 2)

    def train(_: Any) -> None:
        hidden = torch.zeros(1, 2)
        for number in range(3):
            hidden = cell(torch.full((1, 2), float(number)), hidden)

    run = record(tmp_path / "a.h5", nn.ModuleDict({"cell": cell}), None, train)
    inputs = [seen for seen in run.events if seen.name == "model.cell.in[0]"]
    assert [seen.occurrence for seen in inputs] == [0, 1, 2]
    assert run.digests("model.cell.in[1]")[1:] == run.digests("model.cell.out")[:2]


def test_a_shared_module_has_one_name_and_the_other_is_noted(tmp_path: Path) -> None:
    shared = nn.Linear(2, 2)
    model = nn.ModuleDict({"first": shared, "second": nn.Sequential(shared)})
    run = record(tmp_path / "a.h5", model, None, lambda _: model["second"](torch.ones(1, 2)))
    assert run.names(Group.FORWARD) == [
        "model.second.in[0]",
        "model.first.in[0]",
        "model.first.out",
        "model.second.out",
    ]
    assert run.facts.uncovered == (
        "model.second.0 is the same module as model.first and has no own rows",
    )


def test_flags_tell_the_circumstances(tmp_path: Path) -> None:
    inner = nn.Linear(2, 2)
    model = nn.ModuleDict({"inner": inner})

    def train(_: Any) -> None:
        inner(torch.ones(1, 2))
        with torch.no_grad():
            inner(torch.ones(1, 2))
        inner.eval()
        with torch.inference_mode():
            inner(torch.ones(1, 2))

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.flags("model.inner.out") == [
        EventFlag.NONE,
        EventFlag.NO_GRAD,
        EventFlag.NO_GRAD | EventFlag.EVAL_MODE,
    ]


def test_a_forward_run_again_inside_backward_is_marked(tmp_path: Path) -> None:
    inner = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    model = nn.ModuleDict({"inner": inner})
    for reentrant in (True, False):

        def train(_: Any, reentrant: bool = reentrant) -> None:
            x = torch.ones(1, 2, requires_grad=True)
            backward(checkpoint(inner, x, use_reentrant=reentrant).sum())

        run = record(tmp_path / f"{reentrant}.h5", model, None, train)
        first, again = run.flags("model.inner.0.out")
        assert EventFlag.RECOMPUTE not in first
        assert EventFlag.RECOMPUTE in again
        assert len(set(run.digests("model.inner.0.out"))) == 1
        # The generators are read before the step's first forward, not before one run again.
        assert run.names(Group.RNG, 0).count("rng.torch_cpu@forward") == 1


def test_objects_that_hold_tensors_unseen_are_uncovered(tmp_path: Path) -> None:
    class Graph:
        def __init__(self) -> None:
            self.nodes = torch.ones(2)

    class Net(nn.Module):
        def forward(self, graph: Graph, mode: str) -> torch.Tensor:
            return graph.nodes * 2

    model = Net()
    run = record(tmp_path / "a.h5", model, None, lambda _: model(Graph(), "train"))
    assert run.facts.uncovered == ("data.model.in[0]: the tensors that a Graph holds",)
    assert run.names(Group.DATA) == []


def test_modules_without_a_name_are_not_recorded(tmp_path: Path) -> None:
    model, other = nn.Linear(2, 2), nn.Linear(2, 2)
    run = record(tmp_path / "a.h5", model, None, lambda _: other(torch.ones(1, 2)))
    assert run.names(Group.FORWARD) == []


def test_sparse_and_unusual_tensors_are_recorded_in_parts(tmp_path: Path) -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.to_sparse(), x.to(torch.bfloat16), x[:0], torch.complex(x, -x).conj()

    model = Net()
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    run = record(tmp_path / "a.h5", model, None, lambda _: model(x))
    assert run.names(Group.FORWARD) == [
        "model.out[0]#indices",
        "model.out[0]#values",
        "model.out[0]#shape",
        "model.out[1]",
        "model.out[2]",
        "model.out[3]",
    ]
    assert run.digests("model.out[0]#values") == [digest_of(torch.tensor([2.0, 3.0]))]
    assert run.digests("model.out[3]") == [digest_of(torch.complex(x, x))]
    assert run.facts.complete


@dataclass
class Scaled(nn.Module):
    """A module that compares by value, as dataclasses do, and so has no hash."""

    scale: float = 2.0

    def __post_init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.weight).sum() * self.scale


def test_a_module_without_a_hash_runs_beside_the_model_and_as_the_model(tmp_path: Path) -> None:
    model, loss = nn.Linear(2, 2), Scaled()
    # The bare run: hooks are global and meet it.
    run = record(tmp_path / "a.h5", model, None, lambda _: loss(model(torch.ones(2))))
    assert run.facts.complete
    assert [name for name in run.names(Group.FORWARD) if not name.startswith("model.")] == []
    holder = nn.ModuleDict({"loss": loss})
    run = record(tmp_path / "b.h5", {"all": holder}, None, lambda _: loss(torch.ones(2)))
    assert run.names(Group.FORWARD) == ["all.loss.in[0]", "all.loss.out"]
    run = record(tmp_path / "c.h5", loss, None, lambda _: loss(torch.ones(2)))
    assert run.names(Group.FORWARD) == ["model.out"]


@pytest.mark.parametrize("begin", [0, 1])
def test_freed_memory_that_is_not_contiguous_is_one_note(tmp_path: Path, begin: int) -> None:
    model, taking = nn.Sequential(nn.Identity()), torch.ones(4, 4)[begin:].t()

    def train(_: Any) -> None:
        model(taking)
        taking.untyped_storage().resize_(0)
        model(taking)

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.facts.complete
    assert any("memory was freed" in note for note in run.facts.uncovered)
    assert len(run.digests("data.model.in[0]")) == 1
