"""A run with zoom ends in the same bits as the run without, for every trainer that there is."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bisect_debugger.runs.operators import read_operators
from tests.e2e.test_probe_changes_nothing import NAMES, start

COMPILED = {name for name in NAMES if "compil" in name}


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("zoomed")
    runs = {
        "bare": start("bare", folder / "bare.json"),
        "zoomed": start("probed", folder / "zoomed.json", folder, "digest", "zoom"),
    }
    found: dict[str, Any] = {"folder": folder}
    for name, process in runs.items():
        _, errors = process.communicate(timeout=280)
        assert process.returncode == 0, errors
        found[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_bit_is_as_without(ends: Mapping[str, Any], name: str) -> None:
    assert ends["zoomed"][name]["end"] == ends["bare"][name]["end"]
    assert ends["zoomed"][name]["left"] == []


def test_the_operators_were_seen(ends: Mapping[str, Any]) -> None:
    seen = {}
    for name in NAMES:
        streams = read_operators(ends["folder"] / f"{name}.h5")
        seen[name] = sum(len(stream.operators) for stream in streams.values())
        if not seen[name]:
            assert all(stream.refused for stream in streams.values()), name
    assert sum(count > 50 for count in seen.values()) >= len(NAMES) / 2
