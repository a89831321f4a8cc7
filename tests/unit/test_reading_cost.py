"""What searching a long pair of runs costs, as counts of rows and bytes, and the zoomed ribbon."""

import math
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.diagnosis import Verdict, diagnose_pair
from bisect_debugger.diagnosis.survey import STEP_LIMIT
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from bisect_debugger.runs import Run, open_run
from bisect_debugger.runs.finding import BLOCK_ROWS
from bisect_debugger.twins import Pair, Status, open_pair
from bisect_debugger.twins.bands import bands
from probes.writer import Header, RunWriter

STEPS = 10_000
PARTED = 7_500


def looks(steps: int) -> int:
    """Rows of each run that one binary search looks at."""
    return math.ceil(math.log2(steps)) + 1


SCALAR = Layout("int64", ())
NAMES = ((Group.DATA, "data.net.in[0]"), (Group.FORWARD, "net.out"), (Group.GRAD, "net.w.grad"))


def write_long(path: Path, steps: int = STEPS, differs_from: int | None = None) -> Path:
    """A run of three events a step, whose forward and gradient differ from a step on."""
    writer = RunWriter(path, Header(level="digest"), flush_seconds=60.0)
    buffers = [writer.buffer(group, name, "net", "out") for group, name in NAMES]
    for step in range(-1, steps - 1):
        other = differs_from is not None and step >= differs_from
        for place, buffer in enumerate(buffers):
            number = 3 * step + place + (1 << 40 if other and place else 0)
            raw = np.array([number], dtype="<i8").view(np.uint8)
            writer.event(buffer, SCALAR, content_digest(raw, SCALAR))
        writer.close_step(step)
    writer.finish(END_COMPLETE)
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_long(tmp_path_factory.mktemp("long") / "a.h5")


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_long(tmp_path_factory.mktemp("parted") / "b.h5", differs_from=PARTED)


def rows(pair: Pair, table: str = "steps") -> int:
    """Rows of the run that was read more."""
    return max(run.rows_read.get(table, 0) for run in (pair.a, pair.b))


@pytest.mark.parametrize("at", [-1, 0, 777, 1022])
def test_the_first_different_step_costs_a_binary_search(tmp_path: Path, at: int) -> None:
    a, b = write_long(tmp_path / "a.h5", 1024), write_long(tmp_path / "b.h5", 1024, at)
    with open_pair(a, b) as pair:
        before = rows(pair)
        row = pair.first_different_row()
        assert row is not None
        assert pair.step_number(row) == at
        # One search for the whole and one for the groups, which part together; then the one
        # step is aligned.
        assert rows(pair) - before <= 2 * looks(1024) + 8
        before = rows(pair)
        found = {group: pair.first_different_row_of(group) for group in Group}
        assert found == {
            group: row if group in (Group.FORWARD, Group.GRAD) else None for group in Group
        }
        assert rows(pair) == before


def test_equal_runs_cost_a_look_at_their_ends(long: Path, tmp_path: Path) -> None:
    with open_pair(long, shutil.copy(long, tmp_path / "b.h5")) as pair:
        diagnosis = diagnose_pair(pair)
        assert diagnosis.verdict is Verdict.BIT_EQUAL
        assert diagnosis.runs[0].steps == STEPS - 1
        assert rows(pair) <= 40
        assert rows(pair, "events") == 0
        assert pair.a.longest_read <= 1 << 14


def test_a_diagnosis_reads_few_rows_of_a_long_run(long: Path, parted: Path) -> None:
    with open_pair(long, parted) as pair:
        diagnosis = diagnose_pair(pair)
        assert diagnosis.onset is not None
        assert diagnosis.onset.step == PARTED
        # The one module reaches no other, so the walk goes to its limit: a scan of the digests of
        # the steps after the onset, and three rows of each that is walked.
        after = STEPS - PARTED
        assert rows(pair) <= after + 3 * STEP_LIMIT + 4 * looks(STEPS) + 100
        # Five columns of each walked step, and one up to where a buffer is first seen.
        assert rows(pair, "events") <= 5 * 3 * (STEP_LIMIT + 10) + 3 * STEPS
        assert pair.a.longest_read <= BLOCK_ROWS * 16


def test_steps_and_events_are_found_by_number(long: Path) -> None:
    with open_run(long) as run:
        run.row_of_event(0)
        before = run.rows_read["steps"]
        events = (0, 2, 3, 3 * PARTED + 1, 3 * STEPS - 1)
        assert [run.row_of_event(event) for event in events] == [0, 0, 1, PARTED, STEPS - 1]
        assert run.rows_read["steps"] - before <= 5 * looks(STEPS)
        assert run.step_numbers(5, 8).tolist() == [4, 5, 6]
        assert run.event_counts(STEPS - 2, STEPS + 5).tolist() == [3, 3]
        assert run.closed_step_count == STEPS - 1
        assert_digests_agree(run)


def assert_digests_agree(run: Run) -> None:
    block = run.steps(100, 110)
    assert np.array_equal(run.step_digests(100, 110), block.digest)
    assert np.array_equal(run.group_digests(100, 110), block.group_digest)


def test_a_zoomed_ribbon_says_what_its_steps_say(long: Path, parted: Path) -> None:
    with open_pair(long, parted) as pair:
        pair.first_different_row()
        before = rows(pair)
        found = list(bands(pair, 0, pair.step_count, 80))
        read = rows(pair) - before
        assert [found[0].first_row, found[-1].last_row] == [0, STEPS - 1]
        assert all(one.last_row + 1 == two.first_row for one, two in pairwise(found))
        onset = pair.row_of_step(PARTED)
        assert onset is not None
        for band in found:
            cells = [cells for _, cells in pair.cells(band.first_row, band.last_row + 1)]
            for group in Group:
                statuses = {cell[group] for cell in cells}
                wanted = Status.DIFFERS if Status.DIFFERS in statuses else cells[0][group]
                assert band.statuses[group] is wanted
            assert band.diverges == (band.last_row >= onset)
            assert band.first_step == band.first_row - 1
        # Two step numbers a band, and its first rows; one band is read to where it parts.
        assert read <= 80 * (64 + 2) + STEPS // 80 + 64
        assert pair.a.longest_read <= 4096 * 96


def test_a_stretch_that_parts_for_one_step_is_not_taken_for_equal(tmp_path: Path) -> None:
    paths = []
    for name, other in (("a", False), ("b", True)):
        writer = RunWriter(tmp_path / f"{name}.h5", Header(), flush_seconds=60.0)
        steady = writer.buffer(Group.FORWARD, "net.out", "net", "out")
        rare = writer.buffer(Group.USER, "metric", "metric", "metric")
        for step in range(-1, 999):
            number = np.array([step + 10_000 * (other and step == 700)], dtype="<i8")
            raw = number.view(np.uint8)
            writer.event(steady, SCALAR, content_digest(raw, SCALAR))
            if step == 900 or (other and step == 300):
                writer.event(rare, SCALAR, content_digest(raw, SCALAR))
            writer.close_step(step)
        writer.finish(END_COMPLETE)
        paths.append(writer.path)
    with open_pair(*paths) as pair:
        found = list(bands(pair, 0, 1000, 4))
        forward = [band.statuses[Group.FORWARD].symbol for band in found]
        user = [band.statuses[Group.USER].symbol for band in found]
        assert (forward, user) == (["=", "=", "≠", "="], ["·", "∅", "·", "="])
        assert {band.statuses[Group.LOSS] for band in found} == {Status.NOT_RECORDED}
        assert [band.last_step for band in found] == [248, 498, 748, 998]
        assert list(pair.different_rows_before(1000)) == [701, 301]
        assert list(pair.different_rows_before(701)) == [301]
        assert list(pair.different_rows(0)) == [301, 701]
        # More columns than rows, and a stretch past the end.
        assert [band.first_row for band in bands(pair, 998, 2000, 80)] == [998, 999]
        assert list(bands(pair, 1000, 2000, 80)) == []
