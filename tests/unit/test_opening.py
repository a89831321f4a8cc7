"""Files that are missing, damaged, foreign or hostile: a sentence each, before anything is read."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from bisect_debugger.checkpoints.kinds import is_checkpoint
from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format import schema
from bisect_debugger.runs import open_run
from bisect_debugger.runs.opening import open_file
from tests.runs import plain_steps, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A good run."""
    return write_run(tmp_path / "run.h5", plain_steps())


def refusal(path: Path) -> str:
    """What is said about a file that cannot be opened."""
    with pytest.raises(UnreadableRun) as caught:
        open_file(path)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert sentence.isprintable()
    assert caught.value.exit_code == 3
    return sentence.removeprefix(f"{path}: ")


def test_a_good_run_opens(run: Path) -> None:
    with open_run(run) as opened:
        assert opened.step_count == 4


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "no such file; check the path."),
        (Path.mkdir, "this is a directory, not a run; name the .h5 file in it."),
        (Path.touch, "the file is empty, so nothing was recorded; record the run again."),
        (os.mkfifo, "this is not a regular file; name a recorded .h5 file."),
        (
            lambda path: path.write_text("step,loss\n0,0.5\n"),
            "this is not an HDF5 file; name a recorded .h5 file.",
        ),
        (
            lambda path: path.write_bytes(b"PK\3\4" + bytes(4096)),
            "this is not an HDF5 file; name a recorded .h5 file.",
        ),
        (lambda path: path.symlink_to("nowhere.h5"), "no such file; check the path."),
    ],
)
def test_what_is_no_hdf5_file(
    tmp_path: Path, make: Callable[[Path], object], sentence: str
) -> None:
    path = tmp_path / "run.h5"
    make(path)
    assert refusal(path) == sentence


@pytest.mark.parametrize("kept", [8, 9, 47, 100, 1000, 5000, 20_000, -1000, -1])
def test_a_truncated_file(run: Path, kept: int) -> None:
    run.write_bytes(run.read_bytes()[:kept])
    assert refusal(run).startswith("the file is damaged (")


@pytest.mark.parametrize("place", [9, 12, 20, 28, 36, 44])
def test_a_flipped_bit_in_the_superblock(run: Path, place: int) -> None:
    content = bytearray(run.read_bytes())
    content[place] ^= 0x40
    run.write_bytes(content)
    assert refusal(run).startswith("the file is damaged (")


def test_a_file_of_zeros_behind_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(10_000))
    assert refusal(path).startswith("the file is damaged (")


def test_a_foreign_hdf5_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.h5"
    with h5py.File(path, "w") as file:
        file["layer"] = np.ones(3)
    assert "an HDF5 file, but not one that bisect-debugger recorded" in refusal(path)


Change = Callable[[h5py.File], object]


def set_attribute(name: str, value: object) -> Change:
    return lambda file: file.attrs.__setitem__(name, value)


def replace_by(path: str, make: Callable[[h5py.File], object]) -> Change:
    def change(file: h5py.File) -> None:
        del file[path]
        made = make(file)
        if made is not None:
            file[path] = made

    return change


def of_other_shape(shape: tuple[int, ...], dtype: str) -> Callable[[h5py.File], object]:
    def make(file: h5py.File) -> None:
        most = (None, *shape[1:])
        file.create_dataset("events/digest", shape, dtype=dtype, maxshape=most, chunks=True)

    return make


HEADERS: dict[str, tuple[Change, str]] = {
    "newer": (
        set_attribute("version", schema.FORMAT_VERSION + 1),
        f"recorded in format version {schema.FORMAT_VERSION + 1}, and this release reads up to "
        f"{schema.FORMAT_VERSION}; upgrade bisect-debugger.",
    ),
    "older": (
        set_attribute("version", 1),
        "recorded in format version 1, whose digests can miss a difference; record the run again.",
    ),
    "far newer": (set_attribute("version", np.uint64(2**63)), "upgrade bisect-debugger"),
    "version zero": (set_attribute("version", 0), "there is no format version 0"),
    "version in words": (set_attribute("version", "one"), "no version number"),
    "no version": (lambda file: file.attrs.__delitem__("version"), "no version number"),
    "another format": (set_attribute("format", "something else"), "not one that bisect-debugger"),
    "format is a number": (set_attribute("format", 1), "not one that bisect-debugger recorded"),
    "format is bytes": (set_attribute("format", np.bytes_(b"x" * 60_000)), "not one that"),
    "another digest": (set_attribute("digest_algorithm", "md5"), "unknown digest algorithm 'md5'"),
    "hostile digest": (
        set_attribute("digest_algorithm", "\x1b[31m\nred" * 100),
        "unknown digest algorithm",
    ),
}

TABLES: dict[str, tuple[Change, str]] = {
    "missing column": (replace_by("events/flags", lambda _: None), "events/flags is missing"),
    "missing table": (lambda file: file.__delitem__("steps"), "steps/step is missing"),
    "external link": (
        replace_by("events/flags", lambda _: h5py.ExternalLink("/etc/passwd", "/x")),
        "events/flags is a link out of the file, which a run never has; do not use it.",
    ),
    "external link of a table": (
        replace_by("payload", lambda _: h5py.ExternalLink("other.h5", "/payload")),
        "is a link out of the file",
    ),
    "soft link": (
        replace_by("events/flags", lambda _: h5py.SoftLink("/events/thread")),
        "events/flags is a link out of the file",
    ),
    "soft link to itself": (
        replace_by("events/flags", lambda _: h5py.SoftLink("/events/flags")),
        "events/flags is a link out of the file",
    ),
    "group for a column": (
        replace_by("events/flags", lambda file: file.create_group("elsewhere")),
        "events/flags is not a dataset",
    ),
    "column for a table": (
        replace_by("uncovered", lambda file: file.create_dataset("elsewhere", (1,), dtype="u1")),
        "the table uncovered/what is missing",
    ),
    "environment elsewhere": (
        replace_by("environment", lambda _: h5py.ExternalLink("other.h5", "/environment")),
        "environment is a link out of the file",
    ),
    "absurd chunks": (
        replace_by(
            "events/flags",
            lambda file: file.create_dataset(
                "elsewhere", (9,), dtype="<u2", maxshape=(None,), chunks=(2**30,)
            ),
        ),
        "events/flags has absurd chunks",
    ),
    "other element type": (
        replace_by("events/digest", of_other_shape((0, 2), "<f8")),
        "events/digest has another element type",
    ),
    "variable-length text": (
        replace_by(
            "buffers/name",
            lambda file: file.create_dataset("elsewhere", (1,), dtype=h5py.string_dtype()),
        ),
        "buffers/name has another element type",
    ),
    "references": (
        replace_by(
            "events/flags",
            lambda file: file.create_dataset("elsewhere", (1,), dtype=h5py.ref_dtype),
        ),
        "events/flags has another element type",
    ),
    "other width": (
        replace_by("events/digest", of_other_shape((0, 3), "<u8")),
        "events/digest has another shape",
    ),
    "no width": (
        replace_by("events/digest", of_other_shape((0,), "<u8")),
        "events/digest has another shape",
    ),
    "a scalar": (
        replace_by(
            "events/flags", lambda file: file.create_dataset("elsewhere", data=np.uint16(1))
        ),
        "events/flags has another shape",
    ),
    "unknown filter": (
        replace_by(
            "events/flags",
            lambda file: file.create_dataset(
                "elsewhere", (9,), dtype="<u2", chunks=(9,), scaleoffset=4
            ),
        ),
        "events/flags uses an unknown filter",
    ),
    "content in another file": (
        replace_by(
            "events/flags",
            lambda file: file.create_dataset(
                "elsewhere", (9,), dtype="<u2", external=[("/etc/passwd", 0, 18)]
            ),
        ),
        "events/flags points outside the file",
    ),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers(run: Path, kind: str) -> None:
    change, words = HEADERS[kind]
    with h5py.File(run, "r+") as file:
        change(file)
    assert words in refusal(run)


@pytest.mark.parametrize("kind", TABLES)
def test_tables(run: Path, kind: str) -> None:
    change, words = TABLES[kind]
    with h5py.File(run, "r+") as file:
        change(file)
    assert words in refusal(run)


def test_virtual_content_is_refused(run: Path) -> None:
    with h5py.File(run, "r+") as file:
        del file["events/flags"]
        layout = h5py.VirtualLayout((9,), dtype="<u2")
        layout[:] = h5py.VirtualSource("other.h5", "data", shape=(9,))
        file.create_virtual_dataset("events/flags", layout)
    assert "events/flags points outside the file" in refusal(run)


@pytest.mark.parametrize("column", ["events/flags", "buffers/name", "events/digest"])
@pytest.mark.parametrize("rows", [2**33, 2**50, 2**62])
def test_an_absurd_number_of_rows(run: Path, column: str, rows: int) -> None:
    # A few bytes in the file claim more than any memory holds.
    with h5py.File(run, "r+") as file:
        width = file[column].shape[1:]
        file[column].resize((rows, *width))
    assert refusal(run) == f"{column} claims an absurd number of rows; record the run again."


def test_refused_files_are_closed_and_left_as_they_were(run: Path) -> None:
    with h5py.File(run, "r+") as file:
        file.attrs["version"] = 99
    before = (run.read_bytes(), stat.S_IMODE(run.stat().st_mode))
    for _ in range(3):
        refusal(run)
    assert (run.read_bytes(), stat.S_IMODE(run.stat().st_mode)) == before
    with h5py.File(run, "r+") as file:
        file.attrs["version"] = schema.FORMAT_VERSION
    with open_run(run) as opened:
        assert opened.step_count == 4


def test_a_folder_that_may_not_be_looked_into(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    write_run(closed / "run.h5", plain_steps())
    rights = (os.getresuid(), stat.S_IMODE(closed.stat().st_mode))
    closed.chmod(0)
    try:
        if rights[0][0] == 0:
            # Root looks into every folder.
            os.setresuid(65534, 65534, 0)
        assert refusal(closed / "run.h5") == "permission denied; make the file readable for you."
    finally:
        os.setresuid(*rights[0])
        closed.chmod(rights[1])


def test_a_path_with_control_characters_is_shown_escaped(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRun) as caught:
        open_file(tmp_path / "a\x1b[31m\n.h5")
    assert str(caught.value).isprintable()
    assert "\\x1b[31m\\n.h5: no such file" in str(caught.value)


def test_steps_without_their_events_cost_one_look_for_all(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a.h5", plain_steps())
    rows = 10_000
    with h5py.File(path, "r+") as file:
        whole = len(file["steps/step"])
        for column in schema.STEPS:
            file[column.path].resize(rows, axis=0)
        file["steps/event_count"][whole:] = 2**40
    with open_run(path) as run:
        assert run.step_count == whole
        assert run.rows_read["steps"] <= 2 * rows + 2


def test_a_step_in_the_middle_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a.h5", plain_steps())
    with h5py.File(path, "r+") as file:
        file["steps/event_count"][1] = 2**63
    with open_run(path) as run, pytest.raises(UnreadableRun, match="events that are not there"):
        run.events(1)


def test_events_whose_columns_are_not_equally_long_are_left_out(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.h5", plain_steps())
    with h5py.File(path, "r+") as file:
        file["events/layout"].resize(len(file["events/layout"]) - 2, axis=0)
    with open_run(path) as run:
        assert run.last_step == 1
        blocks = [run.events(row) for row in range(run.step_count)]
        assert all(len(block.layout) == len(block) for block in blocks)


def test_a_name_that_no_file_can_have_is_one_sentence() -> None:
    with pytest.raises(UnreadableRun, match="too long; check the path"):
        open_run("a" * 5000)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.pt"
    os.mkfifo(pipe)
    assert not is_checkpoint(pipe)
    with pytest.raises(UnreadableRun, match="not a regular file"):
        open_run(pipe)
