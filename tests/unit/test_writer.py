"""The writer through the reader: what went in comes out, under hostile names and threads."""

import _thread
import errno
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from bisect_debugger.errors import UsageError
from bisect_debugger.format import schema
from bisect_debugger.format.digests import DIGEST_ALGORITHM, content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs import open_run
from probes.threads import ThreadNumbers
from probes.writer import Header, RunWriter
from tests.verification import verify

VECTOR = Layout("float32", (3,))


def content(*values: float) -> npt.NDArray[np.uint8]:
    return np.array(values, dtype="<f4").view(np.uint8)


def see(
    writer: RunWriter,
    name: str,
    raw: npt.NDArray[np.uint8],
    group: Group = Group.FORWARD,
    keep: bool = True,
) -> None:
    layout = Layout("float32", (raw.nbytes // 4,))
    buffer = writer.buffer(group, name, "net", "out")
    kept = raw if keep else None
    writer.event(buffer, layout, content_digest(raw, layout), content=kept)


def test_header_and_environment_come_back(tmp_path: Path) -> None:
    header = Header(
        level="stats",
        window="3:9",
        rank=2,
        world_size=4,
        environment={"argv": '["python"]', "torch": "2.13.0", "empty": ""},
        created="2026-01-02T03:04:05+00:00",
    )
    RunWriter(tmp_path / "a.h5", header).finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        facts = run.facts
        assert (facts.level, facts.window, facts.rank, facts.world_size) == ("stats", "3:9", 2, 4)
        assert facts.environment == header.environment
        assert facts.created == header.created
        assert (facts.complete, facts.end_reason) == (True, "")
        assert (run.step_count, run.event_count, run.buffers) == (0, 0, ())
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert list(file.attrs["groups"]) == [group.label for group in Group]
        assert file.attrs["version"] == schema.FORMAT_VERSION
        assert file.attrs["digest_algorithm"] == DIGEST_ALGORITHM


def test_text_that_is_no_text_does_not_stop_a_recording(tmp_path: Path) -> None:
    # What Python makes of an argument that is not UTF-8, and what no attribute can hold.
    hostile = {"argv": "caf\udce9", "nul": "a\0b", "long": "x" * 100_000}
    RunWriter(tmp_path / "a.h5", Header(environment=hostile)).finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        found = run.facts.environment
    assert found["argv"] == "caf\\udce9"
    assert found["nul"] == "a\\x00b"
    assert found["long"].startswith("xxx")
    assert len(found["long"]) == 8192
    assert found["long"][-17] == "~"


def test_a_buffer_is_one_row_however_often_it_is_named(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    first = writer.buffer(
        Group.GRAD, "net.w.grad", "net", "w", "net.w", "model.py:12", "torch.nn.Linear"
    )
    other_group = writer.buffer(Group.GRAD_SCRATCH, "net.w.grad", "net", "w")
    again = writer.buffer(Group.GRAD, "net.w.grad", "net", "w")
    assert (first, other_group, again) == (0, 1, 0)
    writer.close_step(-1)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        assert len(run.buffers) == 2
        buffer = run.buffers[0]
        assert buffer.key == (Group.GRAD, "net.w.grad")
        assert (buffer.component, buffer.role, buffer.subject) == ("net", "w", "net.w")
        assert (buffer.location, buffer.kind) == ("model.py:12", "torch.nn.Linear")
        assert run.buffers[1].group is Group.GRAD_SCRATCH


@pytest.mark.parametrize(
    "name",
    [
        "größe.日本語.🙂",
        "with space, [brackets] and #marks/and/slashes",
        "\x1b[31mred\x1b[0m\r\n",
        "nul\0inside",
        "half a pair \udcff",
        "",
        "ends in nul\0",
    ],
)
def test_hostile_names_stay_apart_and_verify(tmp_path: Path, name: str) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"))
    for text in (name, name + "x"):
        see(writer, text, content(1, 2, 3))
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        names = [buffer.name for buffer in run.buffers]
        shown = name.replace("\0", "\\x00").replace("\udcff", "\\udcff")
        assert names == [shown, shown + "x"]
        assert verify(run) == 2


def test_names_that_are_too_long_keep_their_difference(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    long = "ü" * 2000
    for tail in "ab":
        see(writer, long + tail, content(1))
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        first, second = (buffer.name for buffer in run.buffers)
        assert first != second
        assert first[:400] == second[:400] == "ü" * 400
        assert len(first.encode()) <= schema.NAME_BYTES
        # A step's digest counts the names that are in the file, so a stranger can check it.
        verify(run)


def test_content_is_kept_once_and_found_by_digest(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"))
    for step in range(3):
        see(writer, "same", content(1, 2, 3))
        see(writer, "moving", content(step, 0, 0))
        writer.close_step(step)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        assert verify(run) == 6
        last = run.events(2)
        moving = run.payload(last.digest[1], VECTOR)
        assert moving is not None
        assert moving.tolist() == [2, 0, 0]
    with h5py.File(tmp_path / "a.h5", "r") as file:
        # One of the same, three that move.
        assert len(file["payload/index/digest"]) == 4
        assert len(file["payload/values/float32"]) == 12


def test_the_caller_may_reuse_its_memory_at_once(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=1e9)
    live = np.array([1, 2, 3], dtype="<f4")
    writer.close_step(-1)
    for value in range(4):
        live[:] = value
        see(writer, "live", live.view(np.uint8))
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        events = run.events(1)
        kept = [run.payload(digest, VECTOR) for digest in events.digest]
        assert [found.tolist() for found in kept if found is not None] == [
            [value] * 3 for value in range(4)
        ]


def test_coarse_keeps_the_digests_of_steps_and_no_events(tmp_path: Path) -> None:
    for level in ("coarse", "digest"):
        writer = RunWriter(tmp_path / f"{level}.h5", Header(level=level))
        for step in range(-1, 3):
            see(writer, "x", content(step), keep=False)
            writer.close_step(step)
        writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "coarse.h5") as coarse, open_run(tmp_path / "digest.h5") as digest:
        assert (coarse.event_count, digest.event_count) == (0, 4)
        assert [coarse.running_digest(row) for row in range(4)] == [
            digest.running_digest(row) for row in range(4)
        ]
        assert len(coarse.events(2)) == 0


def test_numbers_stand_beside_their_events(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="stats"))
    buffer = writer.buffer(Group.LOSS, "loss", "loss", "loss")
    for stats in ((5.0, 4.0, 1, 2), None, (0.5, 0.25, 0, 0)):
        writer.event(buffer, VECTOR, bytes(16), stats=stats)
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with h5py.File(tmp_path / "a.h5", "r") as file:
        np.testing.assert_array_equal(file["stats/l2_norm"][:], [5.0, np.nan, 0.5])
        np.testing.assert_array_equal(file["stats/abs_max"][:], [4.0, np.nan, 0.25])
        assert file["stats/nan_count"][:].tolist() == [1, 0, 0]
        assert file["stats/inf_count"][:].tolist() == [2, 0, 0]


def test_a_step_says_when_and_by_whom_it_was_closed(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    writer.close_step(-1)
    writer.close_step(0, optimizer=1)
    writer.close_step(1, closed=False)
    writer.finish(schema.END_INCOMPLETE, "the trainer raised ValueError: no")
    with open_run(tmp_path / "a.h5") as run:
        steps = run.steps(0, 3)
        assert steps.step.tolist() == [-1, 0, 1]
        assert steps.closed.tolist() == [True, True, False]
        assert (np.diff(steps.elapsed_seconds) >= 0).all()
        assert run.facts.end_reason == "the trainer raised ValueError: no"
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["steps/optimizer"][:].tolist() == [0, 1, 0]


def test_edges_seeding_and_gaps_come_back(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    writer.seeding("torch.manual_seed", "42", "train.py:3", -1)
    writer.edge(0, 5, 1, 4, 0, differentiable=True)
    writer.edge(0, 6, 0, 4, 0, differentiable=False)
    for _ in range(3):
        writer.uncovered("net.mask: a meta or fake tensor")
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        (seeding,) = run.facts.seeding
        assert (seeding.call, seeding.argument) == ("torch.manual_seed", "42")
        assert (seeding.location, seeding.step) == ("train.py:3", -1)
        assert run.edges().tolist() == [[0, 5, 1, 4, 0, 1], [0, 6, 0, 4, 0, 0]]
        assert run.facts.uncovered == ("net.mask: a meta or fake tensor",)


def numbers_of_threads(path: Path, names: Iterable[str]) -> list[int]:
    """Main, then a thread per name, then main: the numbers that their events have."""
    writer = RunWriter(path, Header())
    see(writer, "main", content(0), keep=False)
    # One after the other: the system gives the ident of a thread that ended to the next one.
    for name in names:
        thread = threading.Thread(target=see, args=(writer, name, content(1)), name=name)
        thread.start()
        thread.join()
    see(writer, "main", content(0), keep=False)
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(path) as run:
        verify(run)
        numbers: list[int] = run.events(0).thread.tolist()
        return numbers


def test_a_thread_has_the_same_number_whenever_it_comes(tmp_path: Path) -> None:
    first = numbers_of_threads(tmp_path / "a.h5", ["actor", "replay", "prefetch"])
    assert first[0] == first[-1] == 0
    assert len(set(first)) == 4
    second = numbers_of_threads(tmp_path / "b.h5", ["prefetch", "actor", "replay"])
    assert second == [0, first[3], first[1], first[2], 0]


def test_a_thread_that_takes_over_a_name_takes_over_its_number(tmp_path: Path) -> None:
    first = numbers_of_threads(tmp_path / "a.h5", ["actor", "replay", "actor"])
    assert first[1] == first[3] != first[2]


def test_threads_that_python_did_not_start_are_not_made_known_to_it() -> None:
    numbers, found = ThreadNumbers(), []
    for _ in range(2):
        done = threading.Event()

        def work(done: threading.Event = done) -> None:
            found.append(numbers.current())
            done.set()

        _thread.start_new_thread(work, ())
        assert done.wait(10)
    assert len(set(found) - {0}) == 2
    assert numbers.foreign == set(found)
    assert not any(isinstance(one, threading._DummyThread) for one in threading.enumerate())


def test_events_of_many_threads_are_all_kept(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=0.0)
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for value in range(25):
            see(writer, f"worker {number}", content(number, value, 0))
            writer.close_step(25 * number + value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        assert (run.step_count, run.event_count) == (100, 100)
        assert verify(run) == 100


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    file, folder, link = tmp_path / "a.h5", tmp_path / "folder", tmp_path / "link.h5"
    file.write_text("precious")
    folder.mkdir()
    link.symlink_to(tmp_path / "nowhere.h5")
    for path in (file, folder, link):
        with pytest.raises(UsageError, match=r"exists already .* name another file or remove it"):
            RunWriter(path, Header())
    assert file.read_text() == "precious"
    assert not (tmp_path / "nowhere.h5").exists()


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be created .* name a file in a folder"):
        RunWriter(tmp_path / "missing" / "a.h5", Header())


def test_finish_is_done_once_and_later_calls_do_nothing(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    see(writer, "x", content(1), keep=False)
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    size = writer.path.stat().st_size
    see(writer, "x", content(2), keep=False)
    writer.close_step(1)
    writer.uncovered("late")
    writer.finish(schema.END_INCOMPLETE, "late")
    assert writer.path.stat().st_size == size
    with open_run(tmp_path / "a.h5") as run:
        assert (run.step_count, run.facts.complete, run.facts.uncovered) == (1, True, ())


def test_reserved_room_goes_back_at_the_end(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    writer.finish(schema.END_COMPLETE)
    status = writer.path.stat()
    # A mebibyte was reserved at the start; blocks are counted in 512 bytes.
    assert status.st_blocks * 512 < status.st_size + 65536


def test_a_close_that_fails_leaves_a_descriptor_alone_that_is_another_s_by_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between HDF5's close and the failure a thread of the trainer may open a file."""
    opened = list[int]()

    def refuse(descriptor: int, size: int) -> None:
        opened.append(os.open(tmp_path / "trainer", os.O_CREAT | os.O_WRONLY))
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    writer = RunWriter(tmp_path / "a.h5", Header())
    open_ones = Path("/proc/self/fd")
    number = next(fd.name for fd in open_ones.iterdir() if _leads_to(fd, tmp_path / "a.h5"))
    monkeypatch.setattr("os.ftruncate", refuse)
    writer.finish(schema.END_COMPLETE)
    assert os.strerror(errno.EIO) in writer.failed
    assert opened == [int(number)]
    os.write(opened[0], b"precious")
    os.close(opened[0])
    assert (tmp_path / "trainer").read_bytes() == b"precious"


def _leads_to(descriptor: Path, path: Path) -> bool:
    try:
        return descriptor.readlink() == path
    except OSError:
        return False
