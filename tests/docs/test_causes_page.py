"""docs/causes.md is what the causes and the benchmark say; nothing long is run for it."""

import json

import pytest

from bisect_debugger.causality.causes import Cause
from tests.causes.document import EXAMPLES, TOLD, case_called, page
from tests.docs.project import ROOT

PAGE = ROOT / "docs/causes.md"
HELD = json.loads(TOLD.read_text(encoding="utf-8"))


def test_the_page_is_what_was_told() -> None:
    fresh = "python -m tests.causes.document > docs/causes.md"
    assert PAGE.read_text(encoding="utf-8") == page(HELD), f"print it anew: {fresh}"


def test_every_cause_but_the_unexplained_has_an_example() -> None:
    assert set(EXAMPLES) == set(Cause) - {Cause.UNEXPLAINED}


@pytest.mark.parametrize("cause", EXAMPLES, ids=str)
def test_what_was_told_of_an_example_is_right(cause: Cause) -> None:
    case, told = case_called(EXAMPLES[cause]), HELD[EXAMPLES[cause]]
    assert told["cause"] in case.causes
    assert cause in case.causes
    assert case.is_at(told["component"])
    assert "/" not in told["component"]
