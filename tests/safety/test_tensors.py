"""Tensors of every kind through a recording: recorded with their digest, or named as uncovered."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.format.layouts import STORAGE_DTYPES
from tests.safety.gloo import one_process
from tests.unit.recorded import Recorded, digest_of, read


def recorded(path: Path, value: Any, **options: Any) -> Recorded:
    """A value recorded by hand, and a module that is given it; training goes on after."""
    model = Given()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with probes.attach(model, optimizer, out=path, **options) as recording:
        recording.record("value", value)
        for _ in range(2):
            model(torch.ones(1, 2), value).sum().backward()
            optimizer.step()
    run = read(path)
    assert run.facts.complete, run.facts.end_reason
    assert run.steps == (-1, 0, 1)
    return run


class Given(nn.Module):
    """Is given a value and leaves it alone."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, value: object) -> torch.Tensor:
        out: torch.Tensor = self.part(x)
        return out


BASE = torch.arange(-12, 12, dtype=torch.float32).reshape(2, 3, 4)


def _inferred() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3) * 2


DENSE: dict[str, Callable[[], torch.Tensor]] = {
    "transposed": lambda: BASE.permute(2, 0, 1),
    "strided": lambda: BASE[:, ::2, 1::2],
    "offset": lambda: BASE.reshape(-1)[3:],
    "expanded": lambda: torch.ones(3, 1).expand(3, 5),
    "channels_last": lambda: torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "flipped": lambda: BASE.flip(0),
    "0-d": lambda: torch.tensor(3.5),
    "zero-size": lambda: torch.empty(0, 3),
    "conj view": lambda: torch.complex(BASE, BASE + 1).conj(),
    "neg view": lambda: torch.complex(BASE, BASE + 1).conj().imag,
    "inference": _inferred,
    "requires grad": lambda: (BASE.clone().requires_grad_() * 2).transpose(0, 1),
    "nan": lambda: torch.tensor([float("nan"), float("inf"), -0.0]),
}


@pytest.mark.parametrize("digest", ["auto", "device"])
@pytest.mark.parametrize("kind", DENSE)
def test_a_dense_tensor_has_the_digest_of_its_row_major_copy(
    tmp_path: Path, kind: str, digest: str
) -> None:
    value = DENSE[kind]()
    copy = value.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    run = recorded(tmp_path / "a.h5", value, digest=digest, level="full")
    other = recorded(tmp_path / "b.h5", copy, digest=digest, level="full")
    assert run.facts.uncovered == ()
    assert run.digests("value") == other.digests("value")
    assert len(run.digests("data.model.in[1]")) == 2
    if digest == "auto":
        assert run.digests("value") == [digest_of(copy)]


@pytest.mark.parametrize("name", sorted(set(STORAGE_DTYPES) - {"str", "bytes"}))
@pytest.mark.parametrize("digest", ["auto", "device"])
def test_every_element_type(tmp_path: Path, name: str, digest: str) -> None:
    dtype = getattr(torch, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = torch.tensor([1, 0] * 32, dtype=torch.uint8)
        value = raw.view(dtype) if dtype is not torch.bool else raw.bool()
        run = recorded(tmp_path / "a.h5", value, digest=digest)
    assert run.facts.uncovered == ()
    (found,) = run.digests("value")
    assert (found == digest_of(value)) == (digest == "auto")


PARTS: dict[str, tuple[Callable[[], torch.Tensor], set[str]]] = {
    "COO": (lambda: torch.eye(3).to_sparse(), {"#indices", "#values", "#shape"}),
    "CSR": (
        lambda: torch.eye(3).to_sparse_csr(),
        {"#crow_indices", "#col_indices", "#values", "#shape"},
    ),
    "CSC": (
        lambda: torch.eye(3).to_sparse_csc(),
        {"#ccol_indices", "#row_indices", "#values", "#shape"},
    ),
    "BSR": (
        lambda: torch.eye(4).to_sparse_bsr((2, 2)),
        {"#crow_indices", "#col_indices", "#values", "#shape"},
    ),
    "quantized": (
        lambda: torch.quantize_per_tensor(BASE, 0.1, 3, torch.qint8),
        {"#int_repr", "#scale", "#zero_point"},
    ),
    "nested": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)]),
        {"#values[0]", "#values[1]"},
    ),
    "jagged": (
        lambda: torch.nested.nested_tensor(
            [torch.ones(2, 2), torch.zeros(3, 2)], layout=torch.jagged
        ),
        {"#values", "#offsets"},
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("digest", ["auto", "device"])
@pytest.mark.parametrize("kind", PARTS)
def test_a_tensor_in_parts(tmp_path: Path, kind: str, digest: str) -> None:
    make, suffixes = PARTS[kind]
    run = recorded(tmp_path / "a.h5", make(), digest=digest)
    assert {name.removeprefix("value") for name in _names(run, "value")} == suffixes
    assert {name.removeprefix("data.model.in[1]") for name in _names(run, "data.model.in[1]")} == (
        suffixes
    )
    assert run.facts.uncovered == ()


def _names(run: Recorded, prefix: str) -> set[str]:
    return {seen.name for seen in run.events if seen.name.startswith(prefix)}


def _freed() -> torch.Tensor:
    tensor = torch.ones(100)
    tensor.untyped_storage().resize_(0)
    return tensor


def _fake() -> torch.Tensor:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3)


class Refusing(torch.Tensor):
    """Raises whatever is done with it."""

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError("hands off")


class Wrapped(torch.Tensor):
    """Has no memory, and raises whatever is dispatched to it."""

    @staticmethod
    def __new__(cls) -> "Wrapped":
        made: Any = torch.Tensor._make_wrapper_subclass(cls, (3,))
        return made  # type: ignore[no-any-return]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise RuntimeError("nothing is known of this")


UNCOVERED: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "meta": (lambda: torch.ones(3, device="meta"), "a meta or fake tensor"),
    "fake": (_fake, "a meta or fake tensor"),
    "freed": (_freed, "a tensor whose memory was freed"),
    "wrapper without memory": (Wrapped, "value: "),
}


@pytest.mark.parametrize("digest", ["auto", "device"])
@pytest.mark.parametrize("kind", UNCOVERED)
def test_what_cannot_be_read_is_named(tmp_path: Path, kind: str, digest: str) -> None:
    make, words = UNCOVERED[kind]
    run = recorded(tmp_path / "a.h5", make(), digest=digest)
    assert _names(run, "value") == set()
    assert any(line.startswith("value") and words in line for line in run.facts.uncovered)


def test_a_class_that_refuses_is_read_all_the_same(tmp_path: Path) -> None:
    value = torch.ones(3).as_subclass(Refusing)
    run = recorded(tmp_path / "a.h5", value)
    assert run.digests("value") == [digest_of(torch.ones(3))]


def test_a_distributed_tensor_is_its_local_part(tmp_path: Path) -> None:
    with one_process(tmp_path):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Shard, distribute_tensor

        mesh = init_device_mesh("cpu", (1,))
        value = distribute_tensor(BASE, mesh, [Shard(0)])
        run = recorded(tmp_path / "a.h5", value)
        assert run.digests("value") == [digest_of(BASE)]
        assert run.facts.uncovered == ()


@pytest.mark.parametrize("transform", ["vmap", "grad", "jvp"])
def test_inside_a_functorch_transform(tmp_path: Path, transform: str) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.ones(3, 2)

    def loss(row: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = model(row).square().sum()
        return out

    def transformed() -> torch.Tensor:
        if transform == "vmap":
            mapped: torch.Tensor = torch.func.vmap(loss)(x)
            return mapped
        if transform == "grad":
            gradient: torch.Tensor = torch.func.grad(loss)(x[0])
            return gradient
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tangent: torch.Tensor = torch.func.jvp(loss, (x[0],), (x[1],))[1]
            return tangent

    bare = transformed()
    with probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        assert torch.equal(transformed(), bare)
        model(x).sum().backward()
        optimizer.step()
    run = read(tmp_path / "a.h5")
    assert run.facts.complete
    named = [line for line in run.facts.uncovered if "functorch transform" in line]
    assert any(line.startswith("model.0.out") for line in named)
    # What lies outside it is recorded as ever.
    assert "model.0.out" in {seen.name for seen in run.events if seen.step == 0}
