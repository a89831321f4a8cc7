"""Arguments of `attach` that make no sense, and places that are no more: one clear sentence."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import probes
from bisect_debugger.errors import UsageError
from tests.unit.recorded import read


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"out": None}, "out was given a NoneType; name the file"),
        ({"out": b"a.h5"}, "out was given a bytes"),
        ({"out": 5}, "out was given a int"),
        ({"out": "a\0b.h5"}, "cannot be created"),
        ({"out": "a" * 300}, "cannot be created"),
        ({"groups": 3}, "There is no group '3'"),
        ({"heads": 5}, "heads was given a int; hand over a name or a list of names"),
        ({"include": [1]}, "include was given a int"),
        ({"exclude": b"x"}, "exclude was given a bytes"),
        ({"exclude": None}, "exclude was given a NoneType"),
        ({"flush_seconds": "a"}, "flush_seconds was given a str; it is a number of seconds"),
        ({"flush_seconds": None}, "flush_seconds was given a NoneType"),
        ({"flush_seconds": float("nan")}, "flush_seconds was given nan"),
        ({"flush_seconds": -1}, "flush_seconds was given -1"),
        ({"level": ["full"]}, "There is no level"),
        ({"steps": (1, 2)}, "is not a window of steps"),
        ({"optimizer": 3}, "attach was given a int as 'optimizer'"),
    ],
)
def test_it_is_refused_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = torch.manual_seed
    arguments = {"optimizer": None, "out": "a.h5", **given}
    with pytest.raises(UsageError) as caught:
        probes.attach(torch.nn.Linear(1, 1), **arguments)
    assert message in str(caught.value)
    assert torch.manual_seed is before
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def gone(tmp_path: Path) -> Iterator[Path]:
    """A working directory that was removed."""
    before, folder = Path.cwd(), tmp_path / "gone"
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()
    yield folder
    os.chdir(before)


def test_without_a_working_directory_a_full_path_is_needed(tmp_path: Path, gone: Path) -> None:
    model = torch.nn.Linear(1, 1)
    with pytest.raises(UsageError, match=r"The working directory is no more, so a\.h5 lies"):
        probes.attach(model, out="a.h5")
    probes.attach(model, out=tmp_path / "a.h5").close()
    assert read(tmp_path / "a.h5").facts.complete
