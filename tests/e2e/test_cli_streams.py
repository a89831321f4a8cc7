"""stdout, stderr and exit codes where a shell, a full disk or an impatient person is involved."""

import array
import fcntl
import os
import signal
import subprocess
import termios
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.e2e.command_line import COMMAND, cli, in_bash
from tests.runs import nudged, plain_steps, values, write_run

PIPE_BYTES = 64 << 10


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Twins that diverge in step 1."""
    a = write_run(tmp_path / "a.h5", plain_steps())
    return a, write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))


@pytest.fixture
def talkative(tmp_path: Path) -> Path:
    """A run about which `info` says more than a pipe holds."""
    run = write_run(tmp_path / "talkative.h5", plain_steps())
    with h5py.File(run, "r+") as file:
        lines = [f"{number} {'x' * 900}".encode() for number in range(200)]
        uncovered = file["uncovered/what"]
        uncovered.resize((len(lines),))
        uncovered[:] = np.array(lines, dtype=uncovered.dtype)
    return run


def test_json_stands_alone_on_stdout(twins: tuple[Path, Path]) -> None:
    done = in_bash('bd compare "$1" "$2" --json - 2>/dev/null | python3 -m json.tool', *twins)
    assert done.returncode == 0
    assert '"verdict": "diverged"' in done.stdout


def test_verbose_goes_beside_the_data(twins: tuple[Path, Path]) -> None:
    done = cli("compare", "-v", *twins, "--note", "-")
    assert done.returncode == 1
    assert done.stdout.startswith("# Comparison of twins: diverged\n")
    assert done.stdout.endswith("```\n")
    assert "Groups by step" in done.stderr


def test_a_reader_that_goes_away_is_neither_an_error_nor_an_equal_pair(talkative: Path) -> None:
    done = in_bash('set -o pipefail; bd info "$1" | head -n 1', talkative)
    assert done.returncode == 141
    assert done.stdout == f"path: {talkative}\n"
    assert done.stderr == ""


def test_a_full_disk_is_one_sentence(twins: tuple[Path, Path]) -> None:
    done = in_bash('bd compare "$1" "$2" > /dev/full', *twins)
    assert done.returncode == 2
    assert done.stderr == (
        "bisect-debugger: stdout cannot be written (No space left on device); send it to another "
        "place.\n"
    )


def test_a_file_that_could_not_be_finished_is_taken_away(
    twins: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "diagnosis.json"
    done = in_bash('ulimit -f 1; bd compare "$1" "$2" --json "$3"', *twins, target)
    assert done.returncode == 2
    assert done.stderr == (
        f"bisect-debugger: {target} cannot be written (File too large); name a file in a folder "
        "that you can write to.\n"
    )
    assert not target.exists()


def test_a_closed_stdout_leaves_the_verdict_in_the_exit_code(twins: tuple[Path, Path]) -> None:
    done = in_bash('bd compare "$1" "$2" >&-', *twins)
    assert (done.returncode, done.stderr) == (1, "")


def test_another_encoding_than_utf_8(twins: tuple[Path, Path]) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = cli("compare", "-v", *twins, env=environment)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "\\u2260 1/2" in done.stdout


def test_interrupted_while_it_prints(talkative: Path) -> None:
    running = subprocess.Popen(
        [*COMMAND, "info", str(talkative)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    # A full pipe shows that the command waits inside of its print.
    while _waiting(running.stdout.fileno()) < PIPE_BYTES:
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    assert running.stderr.read() == "bisect-debugger: interrupted.\n"
    running.stdout.close()
    running.stderr.close()


def _waiting(descriptor: int) -> int:
    """Bytes that wait in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]


def test_the_note_goes_into_a_named_pipe(twins: tuple[Path, Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = in_bash('head -n 1 "$3" & bd note "$1" "$2" -o "$3" 2>/dev/null && wait', *twins, pipe)
    assert done.returncode == 0
    assert done.stdout == "# Comparison of twins: diverged\n"
