"""Growth of a difference over steps, from values or from shares, never past the last step."""

import math
from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.format.groups import Group
from bisect_debugger.twins import open_pair
from bisect_debugger.views.growth import (
    Growth,
    Measure,
    growth_points,
    growth_words,
    rows_to_look_at,
)
from tests.runs import nudged, plain_steps, values, write_run

OUT = (Group.FORWARD, "net.head.out")


def _growth(tmp_path: Path, level: str) -> Growth:
    steps = plain_steps(4)
    other = plain_steps(4, s1_out=nudged(values(21), by=1e-4), s2_out=nudged(values(22), by=1e-2))
    a = write_run(tmp_path / "a.h5", steps, level=level)
    b = write_run(tmp_path / "b.h5", other, level=level)
    with open_pair(a, b) as pair:
        points = tuple(growth_points(pair, range(pair.step_count), OUT))
        return Growth(OUT[1], OUT[0], points, pair.step_number(4), pair.step_count)


def test_distances_from_values(tmp_path: Path) -> None:
    growth = _growth(tmp_path, "full")
    assert growth.measure is Measure.REL_FRO
    found = dict(growth.values())
    assert found[-1] is None, "the buffer is not in init"
    assert found[0] == found[3] == 0.0
    assert found[1] == pytest.approx(1e-4 / _norm(21), rel=1e-2)
    assert found[2] == pytest.approx(1e-2 / _norm(22), rel=1e-2)
    assert growth_words(growth).startswith("relFro ")
    assert "in step 2" in growth_words(growth)


def test_a_distance_that_no_finite_number_measures(tmp_path: Path) -> None:
    zeros = np.zeros_like(values(21))
    first, second = plain_steps(2, s1_out=zeros), plain_steps(2, s1_out=nudged(zeros, by=1e-3))
    a = write_run(tmp_path / "a.h5", first, level="full")
    b = write_run(tmp_path / "b.h5", second, level="full")
    with open_pair(a, b) as pair:
        points = tuple(growth_points(pair, range(pair.step_count), OUT))
    growth = Growth(OUT[1], OUT[0], points, 1, 3)
    assert dict(growth.values())[1] == math.inf
    assert growth_words(growth) == "relFro inf in step 1."


def test_shares_where_no_values_were_kept(tmp_path: Path) -> None:
    growth = _growth(tmp_path, "digest")
    assert growth.measure is Measure.SHARE
    assert dict(growth.values()) == {-1: 0.0, 0: 0.0, 1: 0.2, 2: 0.2, 3: 0.0}
    assert growth.unmeasured == 2
    assert "were not recorded" in growth_words(growth)


def test_a_coarse_run_says_that_nothing_was_recorded(tmp_path: Path) -> None:
    growth = _growth(tmp_path, "coarse")
    assert growth.measure is Measure.NONE
    assert growth_words(growth).startswith("Not recorded")


def test_a_long_run_is_looked_at_evenly_and_closely_at_its_onset() -> None:
    rows = rows_to_look_at(1_000_000, 600_000, 100)
    assert rows[0] == 0
    assert rows[-1] == 999_999
    assert set(range(599_998, 600_024)) <= set(rows)
    assert len(rows) <= 130
    assert rows_to_look_at(5, 2, 100) == (0, 1, 2, 3, 4)
    assert len(rows_to_look_at(200_000_000, 0, 100)) <= 130


def _norm(seed: int) -> float:
    return float((values(seed).astype(float) ** 2).sum() ** 0.5)
