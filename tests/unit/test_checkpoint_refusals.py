"""A checkpoint that is damaged, foreign or hostile gets one clear sentence."""

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bisect_debugger.checkpoints.flatten import TooNested, leaves
from bisect_debugger.checkpoints.kinds import is_checkpoint
from bisect_debugger.checkpoints.loading import load_checkpoint
from bisect_debugger.checkpoints.model import Part, UnreadableCheckpoint
from bisect_debugger.checkpoints.parts import part_of
from tests.unit.checkpoint_files import one_entry, safetensors_bytes, with_header, write


def _refusal(path: Path) -> str:
    with pytest.raises(UnreadableCheckpoint) as caught:
        load_checkpoint(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert caught.value.exit_code == 3
    return sentence.removeprefix(f"{path}: ")


def test_what_is_no_file(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "gone.pt") == "no such file; check the path."
    assert _refusal(tmp_path).startswith("this is a directory, not a checkpoint;")
    assert _refusal(write(tmp_path / "empty.npz", b"")).startswith("the file is empty;")
    assert _refusal(write(tmp_path / "notes.txt", b"hi")).startswith("this is neither a torch,")


@pytest.mark.parametrize(
    ("content", "clause"),
    [
        (b"{}", "its header claims 32123 bytes and the file has 2, so it is cut short"),
        ((10**18).to_bytes(8, "little") + b"{}", "its header claims 1000000000000000000 bytes"),
        (with_header(b"[]"), "its header is no JSON object"),
        (with_header(b"{nope"), "its header is not the JSON of a safetensors file"),
        (with_header(b"\xff\xfe"), "its header is not the JSON of a safetensors file"),
        (with_header(b"[" * 100_000), "its header is not the JSON of a safetensors file"),
        (with_header(b'{"w":1,"w":2}'), "its header is not the JSON of a safetensors file (a name"),
        (with_header(b'{"w":7}'), "tensor w is no JSON object"),
        (with_header(b'{"__metadata__":{}}'), "the file holds no tensor"),
        (one_entry(dtype=3), "tensor w has no element type"),
        (one_entry(shape=[-2]), "tensor w has no valid shape"),
        (one_entry(shape=[2.0]), "tensor w has no valid shape"),
        (one_entry(shape=[True, 2]), "tensor w has no valid shape"),
        (one_entry(shape="2"), "tensor w has no valid shape"),
        (one_entry(shape=[0, 2**62]), "tensor w has no valid shape"),
        (one_entry(shape=[1] * 33), "tensor w has no valid shape"),
        (one_entry(data_offsets=[0]), "tensor w has no valid data offsets"),
        (one_entry(data_offsets=None), "tensor w has no valid data offsets"),
        (one_entry(data_offsets=[8, 0]), "tensor w claims bytes 8 to 0 of 8"),
        (one_entry(data_offsets=[0, 2**70]), f"tensor w claims bytes 0 to {2**70} of 8"),
        (one_entry(data=bytes(7)), "tensor w claims bytes 0 to 8 of 7"),
        (one_entry(shape=[3]), "tensor w claims 8 bytes, and float32[3] needs 12"),
        (one_entry(dtype="F4"), "the file holds no tensor that can be compared"),
    ],
)
def test_what_a_safetensors_header_can_lie_about(
    tmp_path: Path, content: bytes, clause: str
) -> None:
    assert _refusal(write(tmp_path / "x.safetensors", content)).startswith(clause)


def test_tensors_that_overlap_are_refused(tmp_path: Path) -> None:
    header = {
        "empty": {"dtype": "F32", "shape": [0], "data_offsets": [4, 4]},
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
    }
    content = with_header(json.dumps(header).encode(), bytes(12))
    sentence = _refusal(write(tmp_path / "x.safetensors", content))
    assert sentence.startswith("tensor b overlaps a;")


def test_a_header_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    with path.open("wb") as stream:
        stream.write((100_000_001).to_bytes(8, "little"))
        # A hole, so that the disk holds next to nothing.
        stream.truncate(100_000_100)
    assert "and the format allows 100000000; do not use it." in _refusal(path)


def test_a_file_that_shrinks_before_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", one_entry())
    (tensor,) = load_checkpoint(path).tensors
    write(path, one_entry()[:-4])
    with pytest.raises(UnreadableCheckpoint, match="the file was changed"):
        tensor.read()


def test_names_from_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    content = safetensors_bytes({"\x1b[2Jw\n": ("F32", (2,), bytes(4))})
    sentence = _refusal(write(tmp_path / "x.safetensors", content))
    assert sentence.startswith("tensor \\x1b[2Jw\\n claims 4 bytes")


def _npz(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def _npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@pytest.mark.parametrize(
    ("member", "clause"),
    [
        (_npy("{'descr':'<f4','fortran_order':False,'shape':(3,)}", bytes(8)), "array w has 8"),
        (_npy("{'descr':'<f4','fortran_order':False,'shape':(10**3,)}"), "the .npz archive is"),
        (_npy("{'descr':'<f4','fortran_order':False,'shape':(-1,)}"), "array w has a negative"),
        (_npy("{'descr':'<q9','fortran_order':False,'shape':()}"), "the .npz archive is damaged"),
        (_npy("__import__('os').abort()"), "the .npz archive is damaged"),
        (_npy("(" * 5000), "the .npz archive is damaged"),
        (_npy("{'descr':'|O','fortran_order':False,'shape':()}", b"x"), "the file holds no tensor"),
        (b"\x93NUMPY\x09\x00", "array w is of .npy version (9, 0)"),
        (b"", "the .npz archive is damaged"),
    ],
)
def test_what_an_npz_member_can_lie_about(tmp_path: Path, member: bytes, clause: str) -> None:
    assert _refusal(_npz(tmp_path / "x.npz", {"w.npy": member})).startswith(clause)


def test_npz_archives_that_numpy_never_writes(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros(2000))
    odd = _npz(tmp_path / "lzma.npz", {"w.npy": stream.getvalue()}, zipfile.ZIP_LZMA)
    assert _refusal(odd).startswith("array w is encrypted, or compressed in a way numpy never uses")
    good = _npz(tmp_path / "good.npz", {"w.npy": stream.getvalue()}).read_bytes()
    assert _refusal(write(tmp_path / "cut.npz", good[:-30])).startswith("the .npz archive is damag")
    # One flipped bit of content: the header still fits, and the checksum does not.
    at = len(good) // 2
    path = write(tmp_path / "flipped.npz", good[:at] + b"\x01" + good[at + 1 :])
    (tensor,) = load_checkpoint(path).tensors
    with pytest.raises(UnreadableCheckpoint, match="Bad CRC-32"):
        tensor.read()


def test_two_npz_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    stream = io.BytesIO()
    np.save(stream, np.zeros(1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", stream.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("w.npy", stream.getvalue())
    assert _refusal(path).startswith("array w stands in the archive twice;")


def test_pickled_objects_in_an_npz_are_passed_over_and_said(tmp_path: Path) -> None:
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "x.npz", w=np.zeros(2), o=objects, r=np.zeros(1, dtype="i4,f4"))
    checkpoint = load_checkpoint(tmp_path / "x.npz")
    assert [tensor.name for tensor in checkpoint.tensors] == ["w"]
    assert {entry.name: entry.reason.split(",")[0] for entry in checkpoint.left_out} == {
        "o": "holds pickled Python objects",
        "r": "element type [('f0'",
    }


def test_an_npz_may_be_big_endian_and_column_major(tmp_path: Path) -> None:
    values = np.arange(6, dtype=">f4").reshape(2, 3)
    np.savez(tmp_path / "x.npz", w=np.asfortranarray(values))
    (tensor,) = load_checkpoint(tmp_path / "x.npz").tensors
    read = tensor.read()
    assert (read.dtype.str, read.tolist()) == ("<f4", [[0, 1, 2], [3, 4, 5]])


def test_a_torch_file_that_would_run_code_is_not_loaded(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(1), "config": np.zeros(3)}, tmp_path / "x.pt")
    sentence = _refusal(tmp_path / "x.pt")
    assert sentence.startswith("it holds a pickled numpy")
    assert "torch's weights_only refuses it; save plain tensors" in sentence


@pytest.mark.parametrize(
    ("content", "clause"),
    [
        (b"hello", "this is not a file that torch.save wrote"),
        (b"PK\x03\x04garbage", "the archive is cut short or damaged"),
        (b"\x80\x02garbage", "torch cannot load it ("),
        (b"\x80\x02}q\x00.", "torch cannot load it ("),
    ],
)
def test_what_torch_never_wrote(tmp_path: Path, content: bytes, clause: str) -> None:
    path = write(tmp_path / "x.pth", content)
    assert is_checkpoint(path)
    assert _refusal(path).startswith(clause)


def test_a_torch_file_cut_short(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(100)}, tmp_path / "x.pt")
    whole = (tmp_path / "x.pt").read_bytes()
    assert _refusal(write(tmp_path / "cut.pt", whole[:-100])).startswith("the archive is cut short")
    torch.save({"w": torch.zeros(100)}, tmp_path / "o.pt", _use_new_zipfile_serialization=False)
    old = (tmp_path / "o.pt").read_bytes()
    assert _refusal(write(tmp_path / "old.pt", old[:-100])).startswith("torch cannot load it (")


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_a_torchscript_archive_is_a_program(tmp_path: Path) -> None:
    program: Any = torch.jit.script(torch.nn.Linear(1, 1))
    program.save(str(tmp_path / "x.pt"))
    assert _refusal(tmp_path / "x.pt").startswith("this is a TorchScript archive")


def test_without_torch_the_other_kinds_still_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save({"w": torch.zeros(1)}, tmp_path / "x.pt")
    np.savez(tmp_path / "x.npz", w=np.zeros(1))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "torch, which is not installed here; install torch" in _refusal(tmp_path / "x.pt")
    assert load_checkpoint(tmp_path / "x.npz").tensors[0].read().tolist() == [0]


def test_an_enormous_tensor_of_one_stored_element_is_not_laid_out(tmp_path: Path) -> None:
    huge = torch.zeros(1).expand(10**12)
    meta = torch.zeros(2, device="meta")
    torch.save({"huge": huge, "few": torch.ones(1).expand(3), "meta": meta}, tmp_path / "x.pt")
    checkpoint = load_checkpoint(tmp_path / "x.pt")
    assert [tensor.read().tolist() for tensor in checkpoint.tensors] == [[1, 1, 1]]
    assert [entry.name for entry in checkpoint.left_out] == ["huge", "meta"]


def test_containers_that_never_end_are_refused(tmp_path: Path) -> None:
    circle: list[Any] = [torch.zeros(1)]
    circle.append(circle)
    torch.save(circle, tmp_path / "x.pt")
    assert _refusal(tmp_path / "x.pt").startswith("its containers hold themselves")
    doubled: list[Any] = ["x"]
    for _ in range(40):
        doubled = [doubled, doubled]
    with pytest.raises(TooNested):
        list(leaves(doubled, most=1000))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("encoder.weight", Part.MODEL),
        ("model.target.weight", Part.MODEL),
        ("target_net.weight", Part.COPY),
        ("ema.encoder.weight", Part.COPY),
        ("optimizer.state.0.exp_avg", Part.OPTIMIZER),
        ("encoder.weight/exp_avg_sq", Part.OPTIMIZER),
        ("optimizer.exp_avg[model.weight]", Part.OPTIMIZER),
        ("rng.torch_cpu", Part.OTHER),
        ("scheduler.last_epoch", Part.OTHER),
        ("", Part.MODEL),
    ],
)
def test_the_part_is_in_the_name(name: str, part: Part) -> None:
    assert part_of(name) is part
