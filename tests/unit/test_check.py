"""What `check-probe` makes of the tensors that bare and recorded runs ended with."""

import pytest

from bisect_debugger.driver.check import Neutrality, judge


def ended(digest: str) -> dict[int, list[tuple[str, str, str]]]:
    return {0: [("w", "float32[3]", digest)]}


@pytest.mark.parametrize(
    ("bare", "probed", "expected"),
    [
        ("xxx", "xxx", Neutrality.UNCHANGED),
        ("xxx", "yyy", Neutrality.CHANGED),
        ("xyx", "xxx", Neutrality.INCONCLUSIVE),
        ("xxx", "xxy", Neutrality.INCONCLUSIVE),
        ("xxx", "xyx", Neutrality.INCONCLUSIVE),
    ],
)
def test_runs_that_differ_among_themselves_accuse_nobody(
    bare: str, probed: str, expected: Neutrality
) -> None:
    found = judge([ended(one) for one in bare], [ended(one) for one in probed])
    assert found.result is expected
