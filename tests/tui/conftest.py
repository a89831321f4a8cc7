"""What holds for every test of the UI: no cache folder of the user, and not the first time here."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _cache_of_the_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    (folder / "bisect-debugger").mkdir()
    (folder / "bisect-debugger" / "seen").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder
