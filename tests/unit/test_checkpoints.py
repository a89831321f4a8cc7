"""Checkpoints of every kind compared by named tensor, on files of the real writers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bisect_debugger.checkpoints.compare import compare_checkpoints
from bisect_debugger.checkpoints.comparison import TensorStatus
from bisect_debugger.checkpoints.kinds import is_checkpoint
from bisect_debugger.checkpoints.loading import load_checkpoint
from bisect_debugger.checkpoints.model import Part, UnreadableCheckpoint
from bisect_debugger.errors import NotComparable, UsageError
from bisect_debugger.format.layouts import Layout, to_float64
from tests.unit.checkpoint_files import safetensors_bytes, write


def _floats(*values: float) -> bytes:
    return np.array(values, dtype="<f4").tobytes()


def _trained(seed: int) -> dict[str, Any]:
    """A trainer's checkpoint after one step: model, teacher, Adam, counters."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    model(torch.randn(5, 3)).square().sum().backward()
    optimizer.step()
    return {
        "epoch": 3,
        "model": model.state_dict(),
        "teacher": {name: value.clone() for name, value in model.state_dict().items()},
        "opt0": optimizer.state_dict(),
        "rng_state": torch.get_rng_state(),
        "note": f"run {seed}",
    }


def test_one_state_saved_twice_is_equal_though_the_files_are_not(tmp_path: Path) -> None:
    state = _trained(7)
    torch.save(state, tmp_path / "a.pt")
    backwards = dict(reversed(list(state.items()))) | {"note": "another process"}
    torch.save(backwards, tmp_path / "b.pt")
    assert (tmp_path / "a.pt").read_bytes() != (tmp_path / "b.pt").read_bytes()
    comparison = compare_checkpoints(tmp_path / "a.pt", tmp_path / "b.pt")
    assert comparison.equal
    assert comparison.exit_code == 0
    assert {row.status for row in comparison.rows} == {TensorStatus.EQUAL}
    assert [entry.name for entry in comparison.left_out_a if entry.name == "note"] == ["note"]


def test_optimizer_and_teacher_records_stand_apart_from_the_model(tmp_path: Path) -> None:
    torch.save(_trained(7), tmp_path / "a.pt")
    parts = {tensor.name: tensor.part for tensor in load_checkpoint(tmp_path / "a.pt").tensors}
    assert parts["model.0.weight"] is Part.MODEL
    assert parts["model.1.running_mean"] is Part.MODEL
    assert parts["teacher.0.weight"] is Part.COPY
    assert parts["opt0.state.0.exp_avg"] is Part.OPTIMIZER
    assert parts["opt0.param_groups.0.betas"] is Part.OPTIMIZER
    assert parts["rng_state"] is Part.OTHER
    assert [name for name, part in parts.items() if part is Part.MODEL] == sorted(
        name for name in parts if name.startswith("model.")
    )


def test_two_seeds_are_two_draws_in_the_model_alone(tmp_path: Path) -> None:
    a, b = _trained(7), _trained(8)
    b["opt0"], b["teacher"] = a["opt0"], a["teacher"]
    torch.save(a, tmp_path / "a.pt")
    torch.save(b, tmp_path / "b.pt")
    comparison = compare_checkpoints(tmp_path / "a.pt", tmp_path / "b.pt")
    totals = {part.part: part for part in comparison.parts}
    assert totals[Part.OPTIMIZER].differing == totals[Part.COPY].differing == 0
    assert totals[Part.OPTIMIZER].rel_fro == 0.0
    assert totals[Part.MODEL].rel_fro > 0.1
    assert comparison.exit_code == 1
    weight = next(row for row in comparison.rows if row.name == "model.0.weight")
    assert weight.difference is not None
    assert weight.difference.differing == 12


def test_the_totals_are_those_of_all_elements(tmp_path: Path) -> None:
    def save(name: str, v: float, step: int, last: int) -> Path:
        arrays = {"w": [3, 0], "v": [v], "step": step}
        floats: dict[str, Any] = {key: np.array(value, "<f4") for key, value in arrays.items()}
        np.savez_compressed(tmp_path / name, i=[1, last], **floats)
        return tmp_path / name

    comparison = compare_checkpoints(save("a.npz", 4, 10_000, 2), save("b.npz", 4.5, 1, 3))
    overall = comparison.overall
    assert (overall.part, overall.tensors, overall.differing_tensors) == (None, 4, 3)
    assert (overall.elements, overall.differing) == (6, 3)
    # Neither the counter nor the integers weigh in the distance.
    assert overall.rel_fro == pytest.approx(0.5 / 5)


def test_structure_that_differs_is_a_finding(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", both=np.zeros(2), shape=np.zeros((2, 3)), gone=np.zeros(1))
    np.savez(tmp_path / "b.npz", both=np.zeros(2), shape=np.zeros((3, 2)), new=np.zeros(4))
    comparison = compare_checkpoints(tmp_path / "a.npz", tmp_path / "b.npz")
    assert [(row.name, row.status) for row in comparison.rows] == [
        ("both", TensorStatus.EQUAL),
        ("gone", TensorStatus.ONLY_IN_FIRST),
        ("new", TensorStatus.ONLY_IN_SECOND),
        ("shape", TensorStatus.OTHER_LAYOUT),
    ]
    assert comparison.overall.elements == 2
    assert comparison.overall.differing_tensors == 3
    assert not comparison.within(math.inf)


def test_within_a_tolerance(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.ones(100), mask=np.array([-np.inf, 1]))
    np.savez(tmp_path / "b.npz", w=np.ones(100) + 1e-6, mask=np.array([-np.inf, 1]))
    np.savez(tmp_path / "c.npz", w=np.ones(100), mask=np.array([-np.inf, np.inf]))
    near = compare_checkpoints(tmp_path / "a.npz", tmp_path / "b.npz")
    assert (near.within(1e-5), near.within(1e-7)) == (True, False)
    assert not compare_checkpoints(tmp_path / "a.npz", tmp_path / "c.npz").within(1.0)


def test_padding_order_and_metadata_of_safetensors_do_not_matter(tmp_path: Path) -> None:
    w = ("F32", (2,), _floats(1, 2))
    b = ("BF16", (1,), b"\x80\x3f")
    plain = write(tmp_path / "a.safetensors", safetensors_bytes({"w": w, "b": b}))
    padded = write(
        tmp_path / "b.safetensors",
        safetensors_bytes({"b": b, "w": w}, {"id": "7f3c"}, gap=b"\xff" * 5),
    )
    assert compare_checkpoints(plain, padded).equal


@pytest.mark.parametrize(
    ("spelt", "dtype", "content", "value"),
    [
        ("BF16", "bfloat16", b"\xc0\x3f", 1.5),
        ("F16", "float16", b"\x00\x3e", 1.5),
        ("F64", "float64", b"\x00\x00\x00\x00\x00\x00\xf8\x3f", 1.5),
        ("F8_E4M3", "float8_e4m3fn", b"\x3c", 1.5),
        ("F8_E5M2", "float8_e5m2", b"\x3e", 1.5),
        ("F8_E8M0", "float8_e8m0fnu", b"\x80", 2.0),
        ("BOOL", "bool", b"\x01", 1.0),
        ("I64", "int64", b"\xff" * 8, -1.0),
        ("U16", "uint16", b"\xff\xff", 65535.0),
        ("C64", "complex64", _floats(1, 2), 1 + 2j),
    ],
)
def test_every_element_type_of_safetensors(
    tmp_path: Path, spelt: str, dtype: str, content: bytes, value: complex
) -> None:
    path = write(tmp_path / "a.safetensors", safetensors_bytes({"x": (spelt, (1, 1), content)}))
    (tensor,) = load_checkpoint(path).tensors
    assert tensor.layout == Layout(dtype, (1, 1))
    assert to_float64(tensor.read(), dtype).tolist() == [[value]]


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.bfloat16,
        torch.float8_e4m3fn,
        torch.float8_e5m2fnuz,
        torch.uint16,
        torch.bool,
        torch.complex64,
    ],
)
@pytest.mark.parametrize("shape", [(), (2, 0), (2, 3)])
def test_every_element_type_of_torch_keeps_its_bits(
    tmp_path: Path, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    numbers = torch.arange(math.prod(shape)).reshape(shape).to(torch.float32).to(dtype)
    torch.save({"x": numbers}, tmp_path / "x.pt")
    (tensor,) = load_checkpoint(tmp_path / "x.pt").tensors
    assert tensor.layout == Layout(str(dtype).removeprefix("torch."), shape)
    expected = [numbers.to(torch.complex128).tolist(), tensor.read().shape]
    assert [to_float64(tensor.read(), tensor.layout.dtype).tolist(), shape] == expected


def test_views_conjugates_and_shared_storages_are_read_as_what_they_mean(tmp_path: Path) -> None:
    base = torch.arange(6.0).reshape(2, 3)
    conjugate, negated = (torch.tensor([1 + 2j]).conj() for _ in range(2))
    views = {
        "t": base.T,
        "row": base[1],
        "c": conjugate,
        "imaginary": negated.imag,
        "negative": torch._neg_view(torch.tensor([1.0, 2.0])),
    }
    torch.save(views, tmp_path / "v.pt")
    read = {tensor.name: tensor.read() for tensor in load_checkpoint(tmp_path / "v.pt").tensors}
    assert read["t"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert read["row"].tolist() == [3, 4, 5]
    assert read["c"].tolist() == [1 - 2j]
    assert read["imaginary"].tolist() == [-2]
    assert read["negative"].tolist() == [-1, -2]


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:torch.quantize", "ignore:TypedStorage")
def test_sparse_and_quantised_tensors_are_compared_by_their_components(tmp_path: Path) -> None:
    dense = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    state = {
        "coo": dense.to_sparse(),
        "csr": dense.to_sparse_csr(),
        "csc": dense.to_sparse_csc(),
        "q": torch.quantize_per_tensor(torch.tensor([0.5]), 0.25, 3, torch.qint8),
    }
    torch.save(state, tmp_path / "s.pt")
    read = {
        tensor.name: tensor.read().tolist() for tensor in load_checkpoint(tmp_path / "s.pt").tensors
    }
    assert read == {
        "coo#size": [2, 2],
        "coo#indices": [[0], [1]],
        "coo#values": [2.0],
        "csr#size": [2, 2],
        "csr#crow_indices": [0, 1, 1],
        "csr#col_indices": [1],
        "csr#values": [2.0],
        "csc#size": [2, 2],
        "csc#ccol_indices": [0, 0, 1],
        "csc#row_indices": [0],
        "csc#values": [2.0],
        "q#int_repr": [5],
        "q#scale": 0.25,
        "q#zero_point": 3,
    }


def test_python_numbers_count_and_text_does_not(tmp_path: Path) -> None:
    numbers = {"i": 3, "f": 0.5, "yes": True, "l": [1, 2], "m": [1, 0.5], "big": 2**63, "c": 2j}
    torch.save(numbers | {"text": "x", "huge": 2**70, "none": None}, tmp_path / "n.pt")
    checkpoint = load_checkpoint(tmp_path / "n.pt")
    assert {t.name: (t.layout.text, t.read().tolist()) for t in checkpoint.tensors} == {
        "i": ("int64[]", 3),
        "f": ("float64[]", 0.5),
        "yes": ("bool[]", 1),
        "l": ("int64[2]", [1, 2]),
        "m.0": ("int64[]", 1),
        "m.1": ("float64[]", 0.5),
        "big": ("uint64[]", 2**63),
        "c": ("complex128[]", 2j),
    }
    assert {entry.name for entry in checkpoint.left_out} == {"text", "huge", "none"}


def test_the_format_of_torch_before_zip_archives(tmp_path: Path) -> None:
    state = {"w": torch.arange(3.0)}
    torch.save(state, tmp_path / "old.bin", _use_new_zipfile_serialization=False)
    torch.save(state, tmp_path / "new.bin")
    assert compare_checkpoints(tmp_path / "old.bin", tmp_path / "new.bin").equal


def test_kinds_are_told_by_content_first(tmp_path: Path) -> None:
    with (tmp_path / "really_npz.pt").open("wb") as stream:
        np.savez(stream, w=np.zeros(1))
    torch.save({"w": torch.zeros(1, dtype=torch.float64)}, tmp_path / "really_torch.npz")
    assert compare_checkpoints(tmp_path / "really_npz.pt", tmp_path / "really_torch.npz").equal
    run = write(tmp_path / "run.bin", b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert not is_checkpoint(run)
    assert not is_checkpoint(write(tmp_path / "notes.txt", b"hello"))
    assert not is_checkpoint(tmp_path)
    assert not is_checkpoint(tmp_path / "missing.h5")
    assert is_checkpoint(tmp_path / "missing.PTH")
    plain = safetensors_bytes({"w": ("F32", (1,), _floats(1))})
    assert is_checkpoint(write(tmp_path / "no_suffix", plain))


def test_nothing_in_common_and_the_same_file_twice(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.zeros(1))
    np.savez(tmp_path / "b.npz", v=np.zeros(1))
    with pytest.raises(NotComparable, match="no tensor name in common"):
        compare_checkpoints(tmp_path / "a.npz", tmp_path / "b.npz")
    with pytest.raises(UsageError, match="given twice"):
        compare_checkpoints(tmp_path / "a.npz", tmp_path / "." / "a.npz")


def test_two_records_of_one_dotted_name_are_refused(tmp_path: Path) -> None:
    torch.save({"a": {"b": torch.zeros(1)}, "a.b": torch.ones(1)}, tmp_path / "x.pt")
    with pytest.raises(UnreadableCheckpoint, match=r"both called a\.b"):
        load_checkpoint(tmp_path / "x.pt")


def test_rendered_word_for_word(tmp_path: Path) -> None:
    weights = np.ones((4, 8), dtype=np.float32)
    moved = weights.copy()
    moved[1, 3] = np.nextafter(np.float32(1), np.float32(2))
    shared: dict[str, Any] = {"model.layer.9.weight": weights, "optim.step": np.float32(5)}
    bad = "model.\x1b[31mred"
    np.savez(tmp_path / "a.npz", **shared | {"model.layer.10.weight": weights, bad: weights})
    np.savez(tmp_path / "b.npz", **shared | {"model.layer.10.weight": moved, "words": ["x"]})
    comparison = compare_checkpoints(tmp_path / "a.npz", tmp_path / "b.npz")
    lines = comparison.render().replace(str(tmp_path), "…").splitlines()
    assert lines == [
        "A: …/a.npz",
        "B: …/b.npz",
        "Not equal: 2 of 4 tensors.",
        "",
        "part       tensors  not equal  elements   differing    relFro",
        "model            3          2        64  1 (1.56 %)  1.49e-08",
        "optimizer        1          0         1     0 (0 %)         -",
        "all              4          2        65  1 (1.54 %)  1.49e-08",
        "model: relFro 1.49e-08, the size of rounding (same seed: at most 1e-05)",
        "",
        "model (parameters and buffers of the model):",
        "  model.\\x1b[31mred: float32[4,8], only in the first",
        "  model.layer.10.weight: 1 / 32 elements (3.12 %), relFro 2.11e-08, greatest "
        "difference 1.19e-07, 1 ULP, first at (1, 3)",
        "",
        "Not compared in B: 1",
        "  words element type <U1 is not known",
    ]
    assert "… and 1 more that are not equal" in comparison.render(limit=1)
