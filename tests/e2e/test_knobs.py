"""Each knob takes effect in a real process, and leaves a clean trainer's bits alone."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bisect_debugger.driver.addresses import fixed_for, why_not
from bisect_debugger.driver.session import Settings, session
from tests.e2e.trained import SUPERVISED, parameters_line

PROGRAMS = {
    "hashseed": "print(hash('a'), list({'a', 'b', 'c', 'd', 'e'}))",
    "addresses": """
import torch
class Item:
    pass
numbers = {Item(): number for number in range(40)}
tensors = {torch.nn.Parameter(torch.ones(300)): number for number in range(40)}
print(id(Item()), list(map(numbers.get, set(numbers))), list(map(tensors.get, set(tensors))))
print([tensors[each] for each in sorted(tensors, key=torch.Tensor.data_ptr)])
""",
    "entropy": """
import os, random, secrets, uuid
print(os.urandom(4), secrets.token_hex(4), uuid.uuid4(), random.SystemRandom().random())
print(random.random(), random.Random().random())
import numpy as np
print(np.random.rand(), np.random.default_rng().random(), np.random.RandomState().rand())
import torch
generator = torch.Generator()
print(torch.rand(1), torch.seed(), generator.seed(), torch.rand(1, generator=generator))
""",
    "seed-all": """
import random
import numpy as np
import torch
print(random.random(), np.random.rand(), torch.rand(1))
""",
    "clock": """
import time, datetime
print(time.time(), time.time_ns(), time.perf_counter(), time.monotonic())
print(datetime.datetime.now(), datetime.datetime.today(), datetime.date.today())
start = time.time()
while time.time() < start + 1:
    pass
""",
    "switch": """
import hashlib, queue, threading, time
from concurrent.futures import ThreadPoolExecutor, as_completed
seen, lock, over, ready = [], threading.Lock(), threading.Event(), queue.Queue(2)
def feed(number):
    for batch in range(40):
        hashlib.sha256(bytes(1 << 16)).digest()  # lets other threads run meanwhile
        seen.append((number, batch))
        ready.put(batch)
def average():
    while not over.is_set():
        seen.append("average")
        time.sleep(0.0005)
def hold(number):
    with lock:
        seen.append(number)
        time.sleep(0.001)
        seen.append(-number)
threads = [threading.Thread(target=feed, args=(number,)) for number in range(3)]
threads += [threading.Thread(target=hold, args=(number,)) for number in range(1, 4)]
threads.append(threading.Thread(target=average))
for thread in threads:
    thread.start()
for _ in range(120):
    seen.append(ready.get())
with ThreadPoolExecutor(3) as pool:
    both = threading.Barrier(3)
    jobs = [pool.submit(lambda n: (both.wait(), seen.append(n)), n) for n in range(3)]
    seen += [jobs.index(job) for job in as_completed(jobs)]
over.set()
for thread in threads:
    thread.join()
try:
    ready.get(timeout=0.01)
except queue.Empty:
    seen.append(threading.Condition(threading.RLock()).acquire())
print(len(seen) > 200, hashlib.sha256(repr(seen).encode()).hexdigest())
""",
    "turns": """
import random, threading, time
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.pool import ThreadPool
def work(number):
    time.sleep(0.02 * (4 - number))
    return number
with ThreadPoolExecutor(4) as pool:
    jobs = {pool.submit(work, number) for number in range(4)}
    seen = [job.result() for job in as_completed(jobs)]
with ThreadPool(4) as pool:
    seen += pool.imap_unordered(work, range(4))
order = []
threads = [
    threading.Thread(target=lambda n=number: order.append(work(n))) for number in range(4)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(seen + order)
""",
    "threads": """
import torch
torch.set_num_threads(2)
print(torch.get_num_threads())
""",
    "deterministic": """
import torch
print(torch.are_deterministic_algorithms_enabled())
""",
    "fill-memory": """
import numpy as np, torch
kept = [torch.full((1000,), 7.0) for _ in range(50)]
del kept
print({float(torch.empty(1000).abs().sum()) for _ in range(50)})
print(torch.ones(3).new_empty(5), torch.empty_like(torch.ones(3)), np.empty(4))
""",
    "workers": """
import os, torch
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return os.getpid()
loader = torch.utils.data.DataLoader(Rows(), 2, num_workers=2, persistent_workers=True)
print({int(pid) for batch in loader for pid in batch} == {os.getpid()})
""",
    "simulator-seed": """
import gymnasium
env = gymnasium.make("CartPole-v1")
print(env.reset()[0], env.action_space.sample(), env.reset()[0])
""",
}
SHOWS = {
    "turns": str([0, 1, 2, 3] * 3),
    "threads": "1",
    "deterministic": "True",
    "workers": "True",
}
"""What a program prints under its knob, and not without; the others print the same twice."""


def run(command: Sequence[str], *knobs: str) -> str:
    """What a command prints under knobs; it is not recorded."""
    asked = Settings(Path("none.h5"), mode="witness", knobs=knobs)
    with session(asked) as running, fixed_for(knobs):
        done = subprocess.run(
            command, env=running.environment(), capture_output=True, text=True, check=True
        )
    return done.stdout


NEEDS_ADDRESSES = pytest.mark.skipif(bool(why_not()), reason=f"addresses: {why_not()}")
EACH_KNOB = [
    pytest.param(knob, marks=NEEDS_ADDRESSES if knob == "addresses" else ())
    for knob in sorted(PROGRAMS)
]


@pytest.mark.parametrize("knob", EACH_KNOB)
def test_a_knob_takes_effect(knob: str) -> None:
    command = (sys.executable, "-c", PROGRAMS[knob])
    if knob in SHOWS:
        assert run(command).strip() != SHOWS[knob]
        assert run(command, knob).strip() == SHOWS[knob]
        return
    shown = run(command, knob)
    assert shown == run(command, knob)
    if knob == "fill-memory":
        assert shown.startswith("{0.0}\n")
    if knob != "fill-memory":  # what nobody wrote may well be equal
        assert run(command) != run(command)


def test_listings_are_sorted(tmp_path: Path) -> None:
    for name in "hgcabfde":
        (tmp_path / name).touch()
    program = f"""
import glob, os, pathlib
print(os.listdir({str(tmp_path)!r}))
print([entry.name for entry in os.scandir({str(tmp_path)!r})])
print([os.path.basename(path) for path in glob.glob({str(tmp_path)!r} + "/*")])
print([path.name for path in pathlib.Path({str(tmp_path)!r}).iterdir()])
print(next(os.walk({str(tmp_path)!r}))[2])
"""
    shown = run((sys.executable, "-c", program), "listing").splitlines()
    assert shown == [str(list("abcdefgh"))] * 5


def test_temporary_files_that_stay_do_not_change_the_order_of_later_names(tmp_path: Path) -> None:
    """Nor do two processes that were forked from one make the same name."""
    program = f"""
import os, tempfile
folder = tempfile.mkdtemp(dir={str(tmp_path)!r})
for _ in range(12):
    if os.fork() == 0:
        os.close(tempfile.mkstemp(dir={str(tmp_path)!r}, prefix="forked")[0])
        os._exit(0)
    os.wait()
files = [tempfile.NamedTemporaryFile(dir=folder, delete=False).name for _ in range(12)]
print(os.path.basename(folder)[:11], [sorted(files).index(name) for name in files])
"""
    command = (sys.executable, "-c", program)
    shown = run(command, "entropy")
    assert run(command, "entropy") == shown
    assert run(command) != shown
    assert len(list(tmp_path.glob("forked*"))) == 36
    fixed = {path.name[:14] for path in tmp_path.glob("forked*")}
    # Under the knob each begins with the same name; without it each has another.
    assert len(fixed) == 1 + 12


@pytest.mark.parametrize(
    "knobs",
    [
        ("hashseed",),
        pytest.param(("addresses",), marks=NEEDS_ADDRESSES, id="addresses"),
        ("entropy",),
        ("seed-all",),
        ("clock",),
        ("listing", "switch", "turns"),
        ("fill-memory", "workers"),
        ("deterministic",),
        ("simulator-seed",),
    ],
    ids="+".join,
)
def test_a_clean_trainer_ends_with_the_same_bits(knobs: tuple[str, ...]) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    alone = subprocess.run(
        SUPERVISED, env=environment, capture_output=True, text=True, check=True
    ).stdout
    asked = Settings(Path("none.h5"), mode="witness", knobs=knobs)
    with session(asked) as running, fixed_for(knobs):
        below = subprocess.run(
            SUPERVISED,
            env={**running.environment(), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert parameters_line(below) == parameters_line(alone)
