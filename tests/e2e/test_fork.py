"""Forked children never write into their parent's file, and never hang on its locks."""

import subprocess
import sys
from pathlib import Path

from bisect_debugger.runs import open_run
from tests.verification import verify

ROOT = Path(__file__).resolve().parents[2]

PARENT = """
import hashlib, os, sys, threading, time
from pathlib import Path
from bisect_debugger.format import schema
from probes.writer import Header, RunWriter
from tests.e2e.writing import write_step


def digest():
    return hashlib.sha256(path.read_bytes()).hexdigest()


path = Path(sys.argv[1])
writer = RunWriter(path, Header(level="full"), flush_seconds=1e9)
write_step(writer, -1)
write_step(writer, 0)  # waits in memory, in HDF5's or in ours

before = digest()
child = os.fork()
if child == 0:
    write_step(writer, 1)
    writer.uncovered("written by the child")
    writer.finish(schema.END_INCOMPLETE, "written by the child")
    sys.exit(0)  # with everything that an interpreter does at its end
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("untouched", digest() == before)

# Forks in the middle of flushes of another thread.
writer._flush_seconds = 0.0
stop = threading.Event()


def train():
    step = 1
    while not stop.is_set():
        write_step(writer, step)
        step += 1
        time.sleep(0.01)
    print("steps", step)


thread = threading.Thread(target=train)
thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        write_step(writer, 1000)
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
thread.join()
writer.finish(schema.END_COMPLETE)
"""


def test_children_leave_the_file_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path / "a.h5")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    untouched, steps = done.stdout.splitlines()
    assert untouched == "untouched True"
    with open_run(tmp_path / "a.h5") as run:
        assert run.facts.complete
        assert run.facts.uncovered == ()
        assert run.steps(0, 9999).step.tolist() == list(range(-1, int(steps.split()[1])))
        assert verify(run) == run.event_count
