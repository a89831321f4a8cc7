"""Set-up from nothing: the Makefile, the script behind it, and what the wheel holds."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.project import ROOT

# What make hands down to a make below it; the tests may have been started by make.
MAKE_HANDS_DOWN = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "PYTEST_ARGS")
NEEDED_TO_INSTALL = ("Makefile", "pyproject.toml", "constraints.txt")


@pytest.fixture(autouse=True)
def _top_level_make(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MAKE_HANDS_DOWN:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a space in its path that make takes for a checkout already set up."""
    folder = tmp_path / "a checkout"
    (folder / ".venv").mkdir(parents=True)
    for name in NEEDED_TO_INSTALL:
        shutil.copy(ROOT / name, folder / name)
        os.utime(folder / name, (1_000_000, 1_000_000))
    for stamp in (".ready-to-run", ".ready-to-develop"):
        (folder / ".venv" / stamp).touch()
        os.utime(folder / ".venv" / stamp, (2_000_000, 2_000_000))
    return folder


def _would_install(checkout: Path, target: str) -> list[str]:
    """What ``make target`` would install, without doing it."""
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=checkout, capture_output=True, text=True, check=True
    )
    return [line.split("--editable ")[1] for line in done.stdout.splitlines() if "-m pip" in line]


@pytest.mark.parametrize("target", ["demo", "test", "check"])
def test_a_second_call_installs_nothing(checkout: Path, target: str) -> None:
    assert _would_install(checkout, target) == []


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_what_is_installed_installs_again(checkout: Path, changed: str) -> None:
    os.utime(checkout / changed, (3_000_000, 3_000_000))
    assert _would_install(checkout, "demo") == ["."]
    assert _would_install(checkout, "test") == ['".[dev,integration]"']


def test_the_demo_needs_no_development_tools(checkout: Path) -> None:
    (checkout / ".venv/.ready-to-run").unlink()
    assert _would_install(checkout, "demo") == ["."]


def _make_venv(folder: Path, *python: str, path: Path | None = None) -> tuple[int, str]:
    environment = dict(os.environ, **({"PATH": str(path)} if path else {}))
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "scripts/make_venv.sh"), str(folder), *python],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.stdout == "" or done.returncode == 0
    return done.returncode, done.stderr


def test_a_python_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    code, said = _make_venv(tmp_path / "venv", "no-such-python")
    assert code == 1
    assert said == (
        "make: there is no Python called 'no-such-python'; name one of 3.11 or newer: "
        "make PYTHON=/path/to/python3.\n"
    )


def test_a_python_that_is_too_old_is_one_sentence(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text(
        '#!/bin/sh\ncase "$*" in *version_info*) exit 1;; --version) echo Python 3.9.1;; esac\n'
    )
    old.chmod(0o755)
    code, said = _make_venv(tmp_path / "venv", str(old))
    assert code == 1
    assert said.splitlines() == [
        f"make: '{old}' is Python 3.9.1, and this needs 3.11 or newer; name another: "
        "make PYTHON=/path/to/python3."
    ]


def test_no_python_at_all_is_one_sentence(tmp_path: Path) -> None:
    code, said = _make_venv(tmp_path / "venv", path=tmp_path)
    assert code == 1
    assert said.count("\n") == 1
    assert "no Python 3.11 or newer on the PATH" in said


def test_an_environment_that_is_there_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    assert _make_venv(folder, sys.executable) == (0, "")
    kept = folder / "kept"
    kept.touch()
    assert _make_venv(folder, "no-such-python") == (0, "")
    assert kept.exists()


def test_a_wheel_holds_both_packages_typed_and_the_sample_runs(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"bisect_debugger/py.typed", "probes/py.typed", "bisect_debugger/cli.py"} <= names
    samples = {name for name in names if name.startswith("bisect_debugger/_sample_runs/")}
    assert any(name.endswith(".py") for name in samples)
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "bisect_debugger",
        "probes",
    }


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_fresh_clone_sets_itself_up_once(tmp_path: Path) -> None:
    clone = tmp_path / "fresh clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    first = _make(clone, "setup")
    assert "Creating .venv with Python 3." in first
    assert "Installing bisect-debugger" in first
    assert _make(clone, "setup").startswith("make: Nothing to be done for 'setup'.")
    assert (
        "usage: bisect-debugger"
        in subprocess.run(
            [clone / ".venv/bin/bisect-debugger", "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )


def _make(checkout: Path, target: str) -> str:
    done = subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
