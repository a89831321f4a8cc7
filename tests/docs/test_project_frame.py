"""The rules of the house that a machine can check, and what the project says of itself."""

import ast
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.docs.project import PACKAGES, ROOT, pyproject, python_files, tree

RUN_TIME = {"torch", "numpy", "h5py", "xxhash", "rich", "textual", "psutil"}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
FORBIDDEN_CALLS = {"eval", "exec"}
CHANGE_KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

# Spelt in parts, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile("/(?:" + "|".join(("work", "root", "home", "Users")) + r")/\w")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_are_short() -> None:
    lengths = {
        _name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*PACKAGES, "tests", "sample_runs")
    }
    assert {name: length for name, length in lengths.items() if length > 400} == {}
    assert statistics.median(lengths.values()) <= 200


def test_functions_are_short() -> None:
    long = {
        f"{_name(path)}:{node.lineno} {node.name}": length
        for path in python_files(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > 65
    }
    assert long == {}


def test_packages_neither_unpickle_nor_evaluate() -> None:
    found = [
        f"{_name(path)}:{line} {what}"
        for path in python_files(*PACKAGES)
        for line, what in _dangers(tree(path))
    ]
    assert found == []


def _dangers(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            yield from ((node.lineno, name) for name in names & FORBIDDEN_MODULES)
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").partition(".")[0] in FORBIDDEN_MODULES:
                yield node.lineno, str(node.module)
        elif isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if function in FORBIDDEN_CALLS or keywords.get("allow_pickle") == "True":
                yield node.lineno, function
            if function == "torch.load" and keywords.get("weights_only") != "True":
                yield node.lineno, function


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "eval('1')",
        "numpy.load(path, allow_pickle=True)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
    ],
)
def test_a_danger_would_be_seen(source: str) -> None:
    assert [line for line, _ in _dangers(ast.parse(source))] == [1]


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    assert "pyproject.toml" in names
    found = [
        f"{name}: {match.group()}"
        for name in names
        if (ROOT / name).is_file()
        for match in MACHINE_PATH.finditer((ROOT / name).read_bytes().decode("utf-8", "replace"))
    ]
    assert found == []


def test_importing_the_analysis_side_loads_neither_torch_nor_textual() -> None:
    modules = [
        _name(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in python_files("bisect_debugger")
        if "tui" not in Path(_name(path)).parts and path.name != "__main__.py"
    ]
    assert "bisect_debugger.twins.pair" in modules
    script = (
        "import importlib, json, sys\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(modules)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(done.stdout))
    assert "h5py" in loaded
    assert loaded & {"torch", "textual", "probes"} == set()


def test_the_command_line_starts_without_torch_and_textual() -> None:
    compare = ("bisect_debugger.cli", "compare", "no-such-run.h5", "nor-this-one.h5")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", *compare],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "bisect_debugger" in imported
    assert imported & {"torch", "textual"} == set()


def test_run_time_dependencies_are_the_seven() -> None:
    requirements = [Requirement(text) for text in pyproject()["project"]["dependencies"]]
    assert sorted(requirement.name for requirement in requirements) == sorted(RUN_TIME)
    assert all(requirement.specifier for requirement in requirements)


def test_every_dependency_is_pinned_at_a_version_that_its_bounds_allow() -> None:
    project = pyproject()["project"]
    pins = _pins()
    extras = project["optional-dependencies"]
    for text in (*project["dependencies"], *extras["dev"], *extras["integration"]):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[requirement.name]), text


def test_the_pin_of_torch_fits_any_build_of_it() -> None:
    assert _pins()["torch"] == "2.13.0"


def _pins() -> dict[str, str]:
    """Name -> version of constraints.txt; every line that is no comment is one exact pin."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    operators = {(len(pin.specifier), *(part.operator for part in pin.specifier)) for pin in pins}
    assert operators == {(1, "==")}
    return {pin.name: next(iter(pin.specifier)).version for pin in pins}


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", h) for h in headings[1:]]
    assert all(released)
    dates = [match.group(2) for match in released if match]
    assert dates == sorted(dates, reverse=True)
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= CHANGE_KINDS
    for section in re.split(r"^### .+$", text, flags=re.MULTILINE)[1:]:
        assert section.strip().startswith("- ")


def test_every_test_folder_is_on_the_map() -> None:
    text = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}
    mapped = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert folders <= mapped


def test_test_files_have_unique_names() -> None:
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
