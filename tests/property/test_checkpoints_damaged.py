"""Whatever bytes a checkpoint holds, it is read, or refused in one sentence."""

import io
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.checkpoints.loading import load_checkpoint
from bisect_debugger.checkpoints.model import UnreadableCheckpoint
from tests.unit.checkpoint_files import safetensors_bytes


@cache
def _safetensors() -> bytes:
    return safetensors_bytes(
        {"a": ("F32", (2, 3), bytes(24)), "b": ("BF16", (4,), bytes(8))}, {"id": "x"}
    )


@cache
def _npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, a=np.zeros((2, 3), dtype=np.float32), b=np.arange(4))
    return stream.getvalue()


@cache
def _npz_compressed() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.zeros((2, 3), dtype=np.float32), b=np.arange(4))
    return stream.getvalue()


@cache
def _torch() -> bytes:
    stream = io.BytesIO()
    torch.save({"a": torch.zeros(2, 3), "o": {"step": 3, "b": torch.arange(4)}}, stream)
    return stream.getvalue()


WRITERS = {
    ".safetensors": [_safetensors],
    ".npz": [_npz, _npz_compressed],
    ".pt": [_torch],
}


@pytest.mark.parametrize("suffix", WRITERS)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(suffix: str, data: st.DataObject) -> None:
    writer: Callable[[], bytes] = data.draw(st.sampled_from(WRITERS[suffix]))
    content = bytearray(writer())
    places = st.integers(0, len(content) - 1)
    for at, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=4)):
        content[at] = value
    if data.draw(st.booleans()):
        lo, hi = sorted((data.draw(places), data.draw(places)))
        del content[lo:hi]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        path.write_bytes(content)
        try:
            checkpoint = load_checkpoint(path)
            for tensor in checkpoint.tensors:
                values = tensor.read()
                assert values.shape == tensor.layout.shape
                assert values.dtype == tensor.layout.storage
        except UnreadableCheckpoint as refusal:
            sentence = str(refusal)
            assert sentence.startswith(str(path))
            assert sentence.isprintable()
            assert sentence.endswith(".")


@given(st.binary(max_size=200), st.sampled_from([*WRITERS, ".bin", ".h5"]))
def test_foreign_bytes_are_refused(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        path.write_bytes(content)
        with pytest.raises(UnreadableCheckpoint):
            load_checkpoint(path)
