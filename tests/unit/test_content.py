"""Values of every kind through the file and back, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import STORAGE_DTYPES, to_float64
from bisect_debugger.runs import open_run
from probes.content import Part, Unsupported, parts
from probes.writer import Header, RunWriter

BITS = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
REAL = ["float64", "float32", "float16", "bfloat16", *BITS]
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS = [0.0, 1.0, -2.5, 0.15625, 12.0]


def torch_type(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, name)
    return found


def record(folder: Path, pieces: list[Part]) -> list[npt.NDArray[Any]]:
    """Write parts as payload and read them back through the digest."""
    writer = RunWriter(folder / "a.h5", Header(level="full"))
    for place, piece in enumerate(pieces):
        buffer = writer.buffer(Group.USER, f"x{place}{piece.suffix}", "x", "value")
        digest = content_digest(piece.content, piece.layout)
        writer.event(buffer, piece.layout, digest, content=piece.content)
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(folder / "a.h5") as run:
        events = run.events(0)
        layouts = [run.layouts[row] for row in events.layout]
        assert layouts == [piece.layout for piece in pieces]
        found = [run.payload(*key) for key in zip(events.digest, layouts, strict=True)]
    assert all(values is not None for values in found)
    return [values for values in found if values is not None]


def one(value: object) -> Part:
    (part,) = parts(value)
    assert part.suffix == ""
    return part


@pytest.mark.parametrize("name", REAL)
def test_real_numbers_keep_their_values(tmp_path: Path, name: str) -> None:
    tensor = torch.tensor(NUMBERS, dtype=torch.float64).to(torch_type(name))
    (found,) = record(tmp_path, [one(tensor)])
    assert found.dtype == np.dtype(STORAGE_DTYPES[name])
    assert to_float64(found, name).tolist() == tensor.to(torch.float64).tolist()


def test_exponents_alone(tmp_path: Path) -> None:
    codes = torch.tensor([0, 1, 127, 200, 255], dtype=torch.uint8)
    (found,) = record(tmp_path, [one(codes.view(torch.float8_e8m0fnu))])
    assert found.tolist() == codes.tolist()
    assert to_float64(found, "float8_e8m0fnu")[2] == 1.0


@pytest.mark.parametrize("name", WHOLE)
def test_integers_keep_their_extremes(tmp_path: Path, name: str) -> None:
    bounds = np.iinfo(name)
    array = np.array([bounds.min, 0, 1, bounds.max], dtype=name)
    tensor = torch.from_numpy(array.copy())
    from_torch, from_numpy = one(tensor), one(array)
    assert bytes(from_torch.content) == bytes(from_numpy.content) == array.tobytes()
    (found,) = record(tmp_path, [from_torch])
    assert found.tolist() == array.tolist()


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_complex_numbers(tmp_path: Path) -> None:
    values = [1 + 2j, -0.5j, 3 + 0j]
    for name in ("complex128", "complex64", "complex32"):
        tensor = torch.tensor(values, dtype=torch_type(name))
        (tmp_path / name).mkdir()
        (found,) = record(tmp_path / name, [one(tensor)])
        assert to_float64(found, name).tolist() == values


def test_truth_values_scalars_and_nothing(tmp_path: Path) -> None:
    values: list[object] = [
        torch.tensor([True, False]),
        torch.tensor(7),
        torch.empty(0, 3),
        torch.empty(2, 0, dtype=torch.bfloat16),
        np.float16(0.5),
        np.array([[1, 2]], dtype=">i4"),
    ]
    found = record(tmp_path, [one(value) for value in values])
    assert [each.shape for each in found] == [(2,), (), (0, 3), (2, 0), (), (1, 2)]
    assert found[0].tolist() == [1, 0]
    assert int(found[1]) == 7
    assert float(found[4]) == 0.5
    assert found[5].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("value", "layout", "raw"),
    [
        (True, "bool[]", b"\x01"),
        (-3, "int64[]", (-3).to_bytes(8, "little", signed=True)),
        (2**63 - 1, "int64[]", (2**63 - 1).to_bytes(8, "little")),
        (2**63, "str[19]", b"9223372036854775808"),
        (0.1, "float64[]", np.float64(0.1).tobytes()),
        (1 - 2j, "complex128[]", np.complex128(1 - 2j).tobytes()),
        ("größe", "str[7]", "größe".encode()),
        ("\udcff", "str[3]", b"\xed\xb3\xbf"),
        ("", "str[0]", b""),
        (b"\x00\xff", "bytes[2]", b"\x00\xff"),
        (bytearray(b"ab"), "bytes[2]", b"ab"),
        (memoryview(b"ab"), "bytes[2]", b"ab"),
        (np.str_("key"), "str[3]", b"key"),
        (np.bool_(False), "bool[]", b"\x00"),
    ],
)
def test_python_values(value: object, layout: str, raw: bytes) -> None:
    part = one(value)
    assert part.layout.text == layout
    assert bytes(part.content) == raw


def test_payload_of_text(tmp_path: Path) -> None:
    found = record(tmp_path, [one("größe"), one(b"\x00\x01"), one("")])
    assert [bytes(each) for each in found] == ["größe".encode(), b"\x00\x01", b""]


def suffixes(value: object) -> dict[str, Part]:
    return {part.suffix: part for part in parts(value)}


def values_of(part: Part) -> list[Any]:
    listed: list[Any] = part.content.view(part.layout.storage).reshape(part.layout.shape).tolist()
    return listed


def test_sparse_coo_is_read_as_it_is_even_when_not_coalesced() -> None:
    indices = torch.tensor([[1, 0, 1], [2, 0, 2]])
    tensor = torch.sparse_coo_tensor(
        indices, torch.tensor([1.0, 2.0, 3.0]), (2, 4), check_invariants=True
    )
    found = suffixes(tensor)
    assert list(found) == ["#indices", "#values", "#shape"]
    assert values_of(found["#indices"]) == indices.tolist()
    assert values_of(found["#values"]) == [1.0, 2.0, 3.0]
    assert values_of(found["#shape"]) == [2, 4]
    assert not tensor.is_coalesced()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(
    ("convert", "outer", "inner"),
    [
        ("to_sparse_csr", "#crow_indices", "#col_indices"),
        ("to_sparse_csc", "#ccol_indices", "#row_indices"),
    ],
)
def test_compressed_sparse(convert: str, outer: str, inner: str) -> None:
    dense = torch.tensor([[0.0, 5.0], [7.0, 0.0]])
    found = suffixes(getattr(dense, convert)())
    assert list(found) == [outer, inner, "#values", "#shape"]
    assert values_of(found[outer]) == [0, 1, 2]
    assert values_of(found[inner]) == [1, 0]
    assert sorted(values_of(found["#values"])) == [5.0, 7.0]


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantized() -> None:
    tensor = torch.quantize_per_tensor(torch.tensor([0.0, 0.5]), 0.25, 3, torch.quint8)
    found = suffixes(tensor)
    assert list(found) == ["#int_repr", "#scale", "#zero_point"]
    assert values_of(found["#int_repr"]) == [3, 5]
    assert float(found["#scale"].content.view("<f8")[0]) == 0.25
    assert int(found["#zero_point"].content.view("<i8")[0]) == 3
    scales, zeros = torch.tensor([0.25, 0.5]), torch.tensor([0, 1])
    per_channel = torch.quantize_per_channel(torch.ones(2, 2), scales, zeros, 1, torch.qint8)
    found = suffixes(per_channel)
    assert list(found) == ["#int_repr", "#scale", "#zero_point", "#axis"]
    assert values_of(found["#int_repr"]) == [[4, 3], [4, 3]]
    assert values_of(found["#scale"]) == [0.25, 0.5]
    assert int(found["#axis"].content.view("<i8")[0]) == 1


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested() -> None:
    pieces = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    found = suffixes(torch.nested.nested_tensor(pieces))
    assert {name: values_of(part) for name, part in found.items()} == {
        "#values[0]": [1.0, 2.0],
        "#values[1]": [3.0],
    }
    jagged = suffixes(torch.nested.nested_tensor(pieces, layout=torch.jagged))
    assert {name: values_of(part) for name, part in jagged.items()} == {
        "#values": [1.0, 2.0, 3.0],
        "#offsets": [0, 2, 3],
    }


def test_lazily_conjugated_and_negated_tensors_show_what_they_mean() -> None:
    tensor = torch.tensor([1 + 2j])
    assert values_of(one(tensor.conj())) == [1 - 2j]
    assert values_of(one(tensor.conj().imag)) == [-2.0]


def test_mkldnn_is_read_as_dense() -> None:
    part = one(torch.tensor([[1.0, 2.0]]).to_mkldnn())
    assert values_of(part) == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (torch.empty(2, device="meta"), "a meta or fake tensor, which has no values"),
        (torch.zeros(2, dtype=torch_type("uint4")), "element type torch.uint4"),
        (torch.nn.UninitializedParameter(), "a parameter of a lazy module that has no shape yet"),
        (np.array([None]), "a numpy array of object"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "a numpy array of datetime64[D]"),
        (np.zeros(1, dtype=[("a", "i4")]), "a numpy array of [('a', '<i4')]"),
        (np.ma.array([1, 2], mask=[False, True]), "a masked array; record its data and its mask"),
        (print, "a value of type builtin_function_or_method"),
        (torch.device("cpu"), "a value of type device"),
    ],
)
def test_what_has_no_content_says_so(value: object, sentence: str) -> None:
    with pytest.raises(Unsupported) as refusal:
        parts(value)
    assert str(refusal.value) == sentence
