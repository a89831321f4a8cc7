"""docs/metrics.md: its example is executed, and it names every number and every part."""

import re
import subprocess
import sys
from dataclasses import fields

from bisect_debugger.checkpoints.model import Part
from bisect_debugger.metrics import Difference
from bisect_debugger.metrics.compare import BLOCK_ELEMENTS
from bisect_debugger.metrics.difference import DIFFERENT_SEED_REL_FRO, SAME_SEED_REL_FRO
from bisect_debugger.metrics.sums import CHUNK
from tests.docs.project import ROOT

PAGE = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
EXPLAINED_BY_NAME_ALONE = {"dtype", "shape", "elements", "differing", "rel_fro"}


def test_the_example_prints_what_the_page_shows() -> None:
    code, shown = (_block(language) for language in ("python", "text"))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == shown


def _block(language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


def test_every_number_is_explained() -> None:
    names = {field.name for field in fields(Difference)} - EXPLAINED_BY_NAME_ALONE
    assert {name for name in names if f"`{name}`" not in PAGE} == set()


def test_the_thresholds_and_sizes_are_those_of_the_code() -> None:
    table = re.findall(r"^\| at (most|least) (\S+) \|", PAGE, re.MULTILINE)
    assert {kind: float(value) for kind, value in table} == {
        "most": SAME_SEED_REL_FRO,
        "least": DIFFERENT_SEED_REL_FRO,
    }
    assert f"blocks of {BLOCK_ELEMENTS:,} elements" in PAGE
    assert f"chunks of {CHUNK} elements" in PAGE


def test_every_part_of_a_checkpoint_is_named() -> None:
    assert [part.value for part in Part if f"`{part.value}`" not in PAGE] == []
