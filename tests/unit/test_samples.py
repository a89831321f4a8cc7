"""Whether two runs hold the same samples elsewhere, or under other numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Cause, Origin
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from probes.writer import Header, RunWriter

Batches = Sequence[npt.NDArray[np.generic]]
RNG = np.random.default_rng(4)
ROWS = RNG.standard_normal((60, 5)).astype(np.float32)
WORDS = RNG.integers(0, 9, (3, 4, 10))


def write(path: Path, batches: Batches, role: str = "batch") -> Path:
    writer = RunWriter(path, Header(level="full"))
    buffer = writer.buffer(Group.DATA, f"loader.{role}", "loader", role, "")
    writer.close_step(-1, closed=True)
    for step, batch in enumerate(batches):
        layout = Layout(str(batch.dtype), batch.shape)
        raw = np.ascontiguousarray(batch).reshape(-1).view(np.uint8)
        writer.event(buffer, layout, content_digest(raw, layout), 0, content=raw)
        writer.close_step(step, closed=True)
    writer.finish(END_COMPLETE, "")
    return path


def told(tmp_path: Path, a: Batches, b: Batches, role: str = "batch") -> Origin:
    files = (write(tmp_path / "a.h5", a, role), write(tmp_path / "b.h5", b, role))
    return diagnose(files).origins[0]


def split(rows: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    return np.split(rows, 4)


def test_rows_in_another_order_over_the_steps(tmp_path: Path) -> None:
    found = told(tmp_path, split(ROWS), split(ROWS[RNG.permutation(60)]))
    assert found.cause is Cause.DATA_ORDER
    assert any("met in the second" in step.evidence for step in found.trail)


def test_other_rows_are_another_draw(tmp_path: Path) -> None:
    noise = RNG.standard_normal((60, 5)).astype(np.float32)
    assert told(tmp_path, split(ROWS), split(noise)).cause is Cause.RNG_STREAM


def test_a_draw_with_replacement_is_no_order(tmp_path: Path) -> None:
    a, b = (ROWS[RNG.integers(0, 60, 60)] for _ in "ab")
    assert told(tmp_path, split(a), split(b)).cause is Cause.RNG_STREAM


def test_whole_batches_in_another_order_may_have_other_shapes(tmp_path: Path) -> None:
    batches = [ROWS[:12], ROWS[12:30], ROWS[30:36], ROWS[36:60]]
    assert told(tmp_path, batches, batches[::-1]).cause is Cause.DATA_ORDER


def test_indices_in_another_order_are_a_samplers(tmp_path: Path) -> None:
    a, b = np.arange(60), RNG.permutation(60)
    assert told(tmp_path, split(a), split(b), "indices").cause is Cause.SAMPLER_ORDER


def test_numbers_that_stand_for_one_another(tmp_path: Path) -> None:
    renumbered = RNG.permutation(9)[WORDS]
    found = told(tmp_path, list(WORDS), list(renumbered))
    assert found.cause is Cause.DATA_ORDER
    assert any("one to one" in step.evidence for step in found.trail)


@pytest.mark.parametrize("changed", [1, 20])
def test_numbers_that_do_not_map_onto_each_other(tmp_path: Path, changed: int) -> None:
    other = RNG.permutation(9)[WORDS].copy()
    other.reshape(-1)[:changed] = RNG.integers(0, 9, changed)
    other[0, 0, 0] = (other[0, 0, 0] + 1) % 9
    assert told(tmp_path, list(WORDS), list(other)).cause is Cause.RNG_STREAM


def test_columns_in_another_order(tmp_path: Path) -> None:
    found = told(tmp_path, split(ROWS), split(ROWS[:, [1, 2, 0, 4, 3]]))
    assert found.cause is Cause.DATA_ORDER
    assert any("5 columns of both runs" in step.evidence for step in found.trail)


def test_a_batch_that_one_run_left_out_is_control_flow(tmp_path: Path) -> None:
    batches = np.split(ROWS, 10)
    found = told(tmp_path, batches[:8], [*batches[:2], *batches[3:9]])
    assert found.cause is Cause.CONTROL_FLOW
    assert any("second run is 1 batches ahead" in step.evidence for step in found.trail)


def test_batches_of_another_type_are_told_and_not_sorted(tmp_path: Path) -> None:
    """As a row of bytes, numbers of other widths have no order among each other."""
    rows = np.arange(64).reshape(16, 4)
    found = told(tmp_path, split(rows.astype(np.float32)), split(rows.astype(np.float64)))
    assert found.cause is Cause.CONTROL_FLOW
