"""Cells of the ribbon at every zoom."""

from pathlib import Path

import pytest

from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Status, open_pair
from bisect_debugger.views.ribbon import Ribbon, read_cells, recorded_groups, zoom_levels
from tests.runs import nudged, plain_steps, values, write_run


@pytest.mark.parametrize(
    ("steps", "columns", "levels"),
    [
        (5, 70, (1,)),
        (100, 70, (1, 2)),
        (1000, 70, (1, 2, 5, 10, 15)),
        (1_000_001, 100, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 10_001)),
        (0, 0, (1,)),
    ],
)
def test_zoom_goes_from_single_steps_to_the_whole_run(
    steps: int, columns: int, levels: tuple[int, ...]
) -> None:
    assert zoom_levels(steps, columns) == levels


def test_a_cell_says_the_worst_of_its_steps(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(9))
    b = write_run(tmp_path / "b.h5", plain_steps(9, s5_out=nudged(values(25))))
    with open_pair(a, b) as pair:
        single = dict(read_cells(pair, 1, 0, 10))
        assert [row for row, cell in single.items() if cell.differing] == [6]
        assert single[6].differing == (Group.FORWARD,)
        assert single[0].first_step == -1
        coarse = dict(read_cells(pair, 4, 0, 3))
        assert [(cell.first_row, cell.last_row) for cell in coarse.values()] == [
            (0, 3),
            (4, 7),
            (8, 9),
        ]
        assert [bool(cell.differing) for cell in coarse.values()] == [False, True, False]
        assert coarse[1].statuses[Group.RNG] is Status.NOT_RECORDED
        assert recorded_groups(pair) == (Group.DATA, Group.PARAM, Group.FORWARD, Group.LOSS)


def test_only_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps(9)) for name in "ab")
    ribbon = Ribbon(10, ())
    with open_pair(a, b) as pair:
        for number, cell in read_cells(pair, 1, 2, 5):
            ribbon.fill(1, number, cell)
    assert ribbon.missing(1, 0, 99) == (0, 1, 5, 6, 7, 8, 9)
    assert ribbon.missing(4, 0, 99) == (0, 1, 2)
    assert ribbon.cell(1, 0) is None
    assert ribbon.cell(1, 2) is not None
