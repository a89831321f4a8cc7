"""Damaged and hostile files: a sentence and exit code 3, or a correct reading; nothing else.

Each is read by another process in bounds of memory, twice: by `info`, and by `compare -v` against
the sound file. What makes HDF5 itself crash is read once more by the command as users start it,
which has to survive that.
"""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest

from bisect_debugger.guard import CRASHES
from bisect_debugger.runs import open_run
from tests.runs import plain_steps, write_run
from tests.safety.damage import damaged
from tests.safety.hostile_files import CRAFTS
from tests.safety.processes import ROOT, environment

SECONDS = 60.0
"""After so long without an answer a reader hangs; it takes a tenth of a second otherwise."""

KINDS_OF_ACCIDENTS = ("flip", "wipe", "swap", "swap_blocks", "truncated")
"""What happens to files by itself. No checksum agrees then, and HDF5 has to notice."""


class Reader:
    """A process that reads one file after the other, started anew when it died."""

    def __init__(self) -> None:
        self._process = self._start()

    def read(self, path: Path, sound: Path) -> list[dict[str, Any]] | int:
        """How the commands ended over a file; the exit code where the process died of it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([str(path), str(sound)]) + "\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], SECONDS)[0], f"{path} is read for ever"
        line = process.stdout.readline()
        if line:
            answers: list[dict[str, Any]] = json.loads(line)
            return answers
        self.close()
        self._process = self._start()
        return process.returncode

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "tests.safety.reader"],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """One for all files of this module."""
    reader = Reader()
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was closed in order."""
    return write_run(tmp_path_factory.mktemp("sound") / "sound.h5", plain_steps(6))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose process died, which HDF5 reads in another mode."""
    path = tmp_path_factory.mktemp("killed") / "killed.h5"
    program = (
        "import os, sys; from pathlib import Path; from tests.runs import plain_steps, write_run\n"
        "from probes.writer import RunWriter\n"
        "RunWriter.finish = lambda writer, *_: (writer._flush(), os._exit(0))\n"
        "write_run(Path(sys.argv[1]), plain_steps(6))\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
    with open_run(path) as run:
        assert run.facts.killed
    return path


def check_answer(answer: dict[str, Any]) -> None:
    """The command ended as commands end."""
    code, said = answer["code"], answer["stderr"]
    assert code in (0, 1, 3), answer
    assert "unexpected" not in said, answer
    assert "Traceback" not in said, answer
    # Exit code 3 without a sentence on stderr is the verdict `inconclusive`, which is on stdout.
    assert len(said.splitlines()) <= 1, answer
    assert all(character.isprintable() or character == "\n" for character in said), answer


def check(reader: Reader, path: Path, sound: Path, kind: str) -> None:
    """Have it read, by the command itself where the library died of it."""
    answers = reader.read(path, sound)
    if isinstance(answers, int):
        assert kind not in KINDS_OF_ACCIDENTS, f"{kind} in {path} ended a reader: {answers}"
        assert -answers in CRASHES, answers
        answers = [
            by_command("info", str(path)),
            by_command("compare", "-v", str(sound), str(path)),
        ]
    for answer in answers:
        check_answer(answer)


def by_command(*arguments: str) -> dict[str, Any]:
    """How a command ends that is started as users start it."""
    done = subprocess.run(
        [sys.executable, "-m", "bisect_debugger.cli", *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    # What the C library says on its way down is not ours.
    said = "".join(
        line for line in done.stderr.splitlines(True) if line.startswith("bisect-debugger")
    )
    return {"command": arguments[0], "code": done.returncode, "stderr": said}


def check_seeds(reader: Reader, base: Path, sound: Path, folder: Path, seeds: range) -> None:
    raw, path = base.read_bytes(), folder / "damaged.h5"
    for seed in seeds:
        kind, harmed = damaged(raw, seed)
        path.write_bytes(harmed)
        try:
            check(reader, path, sound, kind)
        except AssertionError:
            shutil.copy(path, folder / f"seed-{seed}.h5")
            raise


def test_damaged_files(reader: Reader, sound: Path, tmp_path: Path) -> None:
    check_seeds(reader, sound, sound, tmp_path, range(63))


def test_damaged_files_of_killed_processes(
    reader: Reader, sound: Path, killed: Path, tmp_path: Path
) -> None:
    check_seeds(reader, killed, sound, tmp_path, range(1000, 1042))


def test_damaged_files_that_cannot_be_closed(
    reader: Reader, sound: Path, killed: Path, tmp_path: Path
) -> None:
    for seed in (10799, 11589):
        check_seeds(reader, sound, sound, tmp_path, range(seed, seed + 1))
    for seed in (20094, 20948):
        check_seeds(reader, killed, sound, tmp_path, range(seed, seed + 1))


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("block", range(10))
def test_thousands_of_damaged_files(
    reader: Reader, sound: Path, killed: Path, tmp_path: Path, block: int
) -> None:
    for base, first in ((sound, 10_000), (killed, 20_000)):
        seeds = range(first + 300 * block, first + 300 * (block + 1))
        check_seeds(reader, base, sound, tmp_path, seeds)


@pytest.mark.parametrize("of", ["sound", "killed"])
def test_truncated_files(
    reader: Reader, sound: Path, killed: Path, tmp_path: Path, of: str
) -> None:
    raw, path = (sound if of == "sound" else killed).read_bytes(), tmp_path / "cut.h5"
    step = 1024 if os.environ.get("BISECT_DEBUGGER_EVERY_KILOBYTE") else 4096
    for kept in range(1, len(raw), step):
        path.write_bytes(raw[:kept])
        check(reader, path, sound, "truncated")


@pytest.mark.long
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("of", ["sound", "killed"])
def test_truncated_at_every_kilobyte(
    reader: Reader,
    sound: Path,
    killed: Path,
    tmp_path: Path,
    of: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BISECT_DEBUGGER_EVERY_KILOBYTE", "1")
    test_truncated_files(reader, sound, killed, tmp_path, of)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that hostile files point to, in which somebody looking would find something."""
    folder = tmp_path / "outside"
    folder.mkdir()
    with h5py.File(folder / "canary.h5", "w") as file:
        file["data"] = [1, 2, 3, 4]
        file.attrs["secret"] = "the canary sings"
    # Older than its last change, so that reading it shows in the time of the last access.
    os.utime(folder / "canary.h5", (1, 2))
    os.utime(folder, (1, 2))
    return folder / "canary.h5"


@pytest.mark.parametrize("what", CRAFTS)
def test_files_made_on_purpose(
    reader: Reader, sound: Path, outside: Path, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "crafted.h5"
    shutil.copy(sound, path)
    with h5py.File(path, "r+") as file:
        CRAFTS[what](file, outside)
    os.utime(outside, (1, 2))
    os.utime(outside.parent, (1, 2))
    check(reader, path, sound, "crafted")
    status = outside.stat()
    assert (status.st_atime, status.st_mtime) == (1, 2)
    assert [found.name for found in outside.parent.iterdir()] == ["canary.h5"]
    assert sorted(found.name for found in tmp_path.iterdir()) == ["crafted.h5", "outside"]


def test_the_canary_would_tell(outside: Path) -> None:
    # On a file system that keeps no times of access the test above sees writes alone.
    outside.read_bytes()
    kept = {"relatime", "strictatime", "lazytime"}
    if outside.stat().st_atime == 1:
        mounts = Path("/proc/mounts").read_text()
        assert "noatime" in mounts or not any(word in mounts for word in kept)
