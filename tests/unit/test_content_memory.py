"""Reading memory where it lies: gone memory, subclasses, modes, transforms, and no traces."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch._subclasses import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from probes.content import Part, Unsupported, parts


def one(value: object) -> Part:
    (part,) = parts(value)
    return part


def numbers(part: Part) -> list[Any]:
    listed: list[Any] = part.content.view(part.layout.storage).reshape(part.layout.shape).tolist()
    return listed


def refusal(value: object) -> str:
    with pytest.raises(Unsupported) as caught:
        parts(value)
    return str(caught.value)


@pytest.mark.parametrize("left", [0, 16])
@pytest.mark.parametrize("contiguous", [True, False])
def test_freed_and_shrunk_memory_is_never_read(left: int, contiguous: bool) -> None:
    # What sharded training does to a parameter between its uses.
    tensor = torch.ones(4, 4)
    value = tensor if contiguous else tensor.t()
    tensor.untyped_storage().resize_(left)
    assert refusal(value) == "a tensor whose memory was freed, or that has none of its own"


def test_the_bytes_keep_their_memory_alive() -> None:
    part = one(torch.full((1000,), 3.0))
    torch.full((1000,), 4.0)
    assert set(numbers(part)) == {3.0}


class Wrapper(torch.Tensor):
    """Holds another tensor, as quantizing and sharding libraries do."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> "Wrapper":
        made: Wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.held = inner
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> torch.Tensor:
        raise NotImplementedError(f"{func} is refused")


class Flattening(Wrapper):
    """A wrapper that tells what it holds."""

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(inner: Any, meta: Any, size: Any, stride: Any) -> torch.Tensor:
        return Flattening(inner["held"])


class Named(torch.Tensor):
    """A subclass that changes what operators and attributes do."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("a probe asked the subclass")


def test_wrappers_show_what_they_hold_or_are_refused() -> None:
    inner = torch.tensor([[1.0, 2.0]]).t()
    part = one(Flattening(inner))
    assert (part.suffix, numbers(part)) == ("#held", [[1.0], [2.0]])
    assert refusal(Wrapper(inner)).startswith("a Wrapper that cannot be read:")


def test_subclasses_are_read_without_asking_them() -> None:
    assert numbers(one(torch.tensor([1.0, 2.0]).as_subclass(Named))) == [1.0, 2.0]


def test_distributed_tensors_show_the_local_part(tmp_path: Path) -> None:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cpu", (1,))
        tensor = distribute_tensor(torch.arange(4.0).requires_grad_(), mesh, [Shard(0)])
        part = one(tensor)
        assert (part.suffix, numbers(part)) == ("", [0.0, 1.0, 2.0, 3.0])
    finally:
        dist.destroy_process_group()


def test_fake_tensors_are_refused_and_real_ones_read_beside_them() -> None:
    real = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    with FakeTensorMode():
        assert refusal(torch.ones(2)) == "a meta or fake tensor, which has no values"
        assert numbers(one(real)) == [[1.0, 3.0], [2.0, 4.0]]


def test_values_inside_a_transform_are_refused() -> None:
    reasons = []

    def function(x: torch.Tensor) -> torch.Tensor:
        reasons.append(refusal(x))
        return x.sum()

    torch.func.vmap(function)(torch.ones(2, 2))
    torch.func.grad(function)(torch.ones(2))
    assert reasons == ["a tensor inside a functorch transform, whose values cannot be read"] * 2


class Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operators that a mode of the trainer would see."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class CountingFunctions(TorchFunctionMode):
    """Counts the functions that a function mode of the trainer would see."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


KINDS: dict[str, Callable[[], torch.Tensor]] = {
    "plain": lambda: torch.arange(6.0).reshape(2, 3),
    "transposed": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "expanded": lambda: torch.arange(3.0).expand(4, 3),
    "channels_last": lambda: (
        torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    ),
    "parameter": lambda: torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t()),
    "in a graph": lambda: (torch.arange(6.0, requires_grad=True) * 2).reshape(2, 3).t(),
    "sparse": lambda: torch.eye(3).to_sparse(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_reading_leaves_no_trace(kind: str) -> None:
    tensor = KINDS[kind]()
    before = (tensor._version, tensor.grad_fn, tensor.requires_grad, tensor.is_leaf)
    stream = torch.get_rng_state()
    with Counting() as operators, torch.autograd.graph.save_on_cpu():
        first = [(part.layout, bytes(part.content)) for part in parts(tensor)]
    assert operators.seen == []
    assert (tensor._version, tensor.grad_fn, tensor.requires_grad, tensor.is_leaf) == before
    assert torch.equal(torch.get_rng_state(), stream)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        again = [(part.layout, bytes(part.content)) for part in parts(tensor)]
    assert again == first


@pytest.mark.parametrize("kind", ["transposed", "in a graph"])
def test_function_modes_see_no_operator(kind: str) -> None:
    tensor = KINDS[kind]()
    with CountingFunctions() as functions:
        parts(tensor)
    copied = [name for name in functions.seen if "contiguous" in name or "detach" in name]
    assert [name for name in copied if "is_contiguous" not in name] == []


def test_works_inside_backward() -> None:
    leaf = torch.arange(6.0, requires_grad=True)
    seen = []
    output = (leaf * 2).reshape(2, 3)
    look: Any = output.register_hook
    look(lambda gradient: seen.append(one(gradient.t())))
    back: Any = output.sum().backward
    back()
    assert [numbers(part) for part in seen] == [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2.0] * 6
