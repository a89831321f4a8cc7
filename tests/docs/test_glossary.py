"""docs/glossary.md against the words that the code uses."""

from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.format.groups import Group
from bisect_debugger.twins.model import Status
from tests.docs.project import ROOT, table_rows

GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")


def test_groups_are_those_of_the_code_in_causal_order() -> None:
    assert table_rows(GLOSSARY, "group") == [
        (group.label, group.letter, group.meaning) for group in Group
    ]


def test_statuses_are_those_of_the_code() -> None:
    assert table_rows(GLOSSARY, "status") == [
        (status.name, status.symbol, status.ascii_symbol, status.word) for status in Status
    ]


def test_verdicts_are_those_of_the_code() -> None:
    assert [row[0] for row in table_rows(GLOSSARY, "verdict")] == [
        verdict.value for verdict in Verdict
    ]
