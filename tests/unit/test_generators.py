"""A generator that an operator drew from is never said not to have reached the training."""

from dataclasses import replace

from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.generators import drawn_from
from bisect_debugger.diagnosis.model import Zoom
from bisect_debugger.format.groups import Group
from tests.builders import origin
from tests.unit.test_tree import row


def _stream(component: str) -> Found:
    return Found(replace(row(Group.RNG, step=-1), component=component), component)


OWN, PYTHON = _stream("rng.Generator.seed[train.py:3]"), _stream("rng.python")
DRAWN = Zoom("draw", "aten::normal_", "", "train.py:4", "", "", 0, None)


def test_where_an_operator_drew_the_programs_generators_are_told_with_it() -> None:
    plain = origin(evidence=("It draws.", "All else is equal."))
    drawn = replace(plain, zoom=DRAWN)
    told, silent = drawn_from([drawn, plain], [OWN, PYTHON])
    assert told[0].evidence == (
        "It draws.",
        "Generators of the program's own that differ: rng.Generator.seed[train.py:3].",
        "All else is equal.",
    )
    assert told[1] == plain
    assert silent == [PYTHON]


def test_without_a_draw_nothing_is_told_of_them() -> None:
    kernel = origin(zoom=replace(DRAWN, found="kernel"))
    assert drawn_from([kernel], [OWN, PYTHON]) == ((kernel,), [OWN, PYTHON])
    drawn = origin(zoom=DRAWN)
    assert drawn_from([drawn], [PYTHON]) == ((drawn,), [PYTHON])
