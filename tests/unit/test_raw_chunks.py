"""Contents read past HDF5 are what HDF5 reads, and damage is one sentence."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import PAYLOAD_CHUNK_ELEMENTS
from bisect_debugger.runs import columns, open_run
from bisect_debugger.runs.columns import Columns
from bisect_debugger.runs.raw_chunks import RawChunks, can_read
from tests.runs import plain_steps, values, write_run

COLUMN = "payload/values/float32"
CHUNK = PAYLOAD_CHUNK_ELEMENTS


def write_large(path: Path) -> Path:
    """Contents of several chunks and of parts of one, between other tables' chunks."""
    steps = plain_steps(3)
    for number, step in enumerate(steps):
        step.append((Group.USER, "large", values(number, (3 * CHUNK + 17,))))
        step.append((Group.USER, "whole", values(number, (2 * CHUNK,))))
    return write_run(path, steps)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_large(tmp_path_factory.mktemp("large") / "a.h5")


def test_any_stretch_reads_as_through_hdf5(large: Path) -> None:
    with h5py.File(large, "r") as file:
        dataset = file[COLUMN]
        assert can_read(dataset)
        raw = RawChunks(dataset, file.id.get_vfd_handle())
        length = len(dataset)
        edges = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK, length - 1, length}
        edges |= set(np.random.default_rng(0).integers(0, length, 20).tolist())
        for lo in edges:
            for hi in edges:
                found = raw.read(lo, hi)
                if lo < hi:
                    assert found is not None
                    assert np.array_equal(found, dataset[lo:hi])
                else:
                    assert found is None


def test_a_compressed_column_is_left_to_hdf5(large: Path) -> None:
    with h5py.File(large, "r") as file:
        assert not can_read(file["buffers/name"])
        assert not can_read(file["events/digest"])


def test_a_chunk_that_was_never_written_is_left_to_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", (30,), maxshape=(None,), chunks=(10,), dtype="<f4")
        dataset[:10] = 1
        file.flush()
        raw = RawChunks(dataset, file.id.get_vfd_handle())
        assert raw.read(0, 10) is not None
        assert raw.read(5, 15) is None


def test_a_run_switches_over_and_counts_alike(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BULK_BYTES", 4 * CHUNK)
    with h5py.File(large, "r") as file, open_run(large) as run:
        reader = Columns(run.path, run._file)
        for lo in range(0, len(file[COLUMN]), 1000):
            hi = min(lo + 1000, len(file[COLUMN]))
            assert np.array_equal(reader.read_bulk(COLUMN, lo, hi), file[COLUMN][lo:hi])
        assert reader.rows_read == {"payload/values": len(file[COLUMN])}
        assert reader.longest_read == 4000
        assert reader._raws[COLUMN] is not None


def test_a_file_that_ends_too_early_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BULK_BYTES", 0)
    path = write_large(tmp_path / "a.h5")
    with open_run(path) as run:
        reader = Columns(run.path, run._file)
        length = reader.length(COLUMN)
        reader.read_bulk(COLUMN, 0, 1)
        with path.open("r+b") as stream:
            stream.truncate(path.stat().st_size // 4)
        with pytest.raises(UnreadableRun, match="ends before its contents do"):
            reader.read_bulk(COLUMN, 0, length)
