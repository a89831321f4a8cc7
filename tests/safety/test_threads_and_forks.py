"""Hooks in several threads at once, and children of every kind, in real processes."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Run, open_run
from tests.safety.processes import environment
from tests.unit.recorded import digest_of
from tests.verification import verify

THREADS = """
import asyncio, random, sys, threading
import numpy, torch, probes

CALLS, WORKERS = 150, 4


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * 2


torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
numpy.random.seed(0)
sys.setswitchinterval(1e-5)
shared, learner = Scale(), torch.nn.Linear(1, 1)
replicas = {f"worker{number}": Scale() for number in range(WORKERS)}
evaluator = Scale()
optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
models = {"shared": shared, "learner": learner, "evaluator": evaluator, **replicas}
with probes.attach(models, optimizer, out=sys.argv[1], level=sys.argv[2], flush_seconds=0.0):
    start = threading.Barrier(WORKERS + 2)

    def work(number):
        start.wait()
        for call in range(CALLS):
            value = torch.full((64,), float(1000 * number + call))
            replicas[f"worker{number}"](value)
            shared(value)

    def evaluate():
        start.wait()
        with torch.no_grad():
            for call in range(CALLS):
                evaluator(torch.full((64,), float(call)))

    async def actor(number):
        for call in range(3):
            shared(torch.full((64,), float(-10 * number - call - 1)))
            await asyncio.sleep(0)

    async def actors():
        await asyncio.gather(*map(actor, range(3)))

    # Made in another order each time: a thread is known by its name.
    order = list(range(WORKERS))[:: int(sys.argv[3])]
    threads = [threading.Thread(target=work, args=(n,), name=f"worker {n}") for n in order]
    threads.append(threading.Thread(target=evaluate, name="evaluator"))
    for thread in threads:
        thread.start()
    start.wait()
    for step in range(60):
        learner(torch.ones(1, 1)).sum().backward()
        optimizer.step()
        if step == 30:
            asyncio.run(actors())
    for thread in threads:
        thread.join()
"""


def threaded(path: Path, level: str, order: int) -> dict[str, int]:
    """Run it, prove it, and return the number of the thread of each worker and the evaluator."""
    command = [sys.executable, "-c", THREADS, str(path), level, str(order)]
    subprocess.run(command, env=environment(), check=True, timeout=250)
    with open_run(path) as run:
        assert run.facts.complete
        assert run.facts.uncovered == ()
        verify(run)
        return _check_threads(run)


def _check_threads(run: Run) -> dict[str, int]:
    seen: dict[str, list[tuple[bytes, int]]] = {}
    for row in range(run.step_count):
        block = run.events(row)
        for buffer, digest, thread, flags in zip(
            block.buffer, block.digest, block.thread, block.flags, strict=True
        ):
            name = run.buffers[int(buffer)].name
            seen.setdefault(name, []).append((digest.astype(">u8").tobytes(), int(thread)))
            assert bool(flags & EventFlag.BACKGROUND) == bool(thread), name
    numbers = {}
    for worker in [f"worker{number}" for number in range(4)] + ["evaluator"]:
        first = 1000 * int(worker[-1]) if worker != "evaluator" else 0
        outputs = seen[f"{worker}.out"]
        # None is lost or torn, they stand in the order of their thread, and it is known.
        expected = [digest_of(torch.full((64,), 2.0 * (first + call))) for call in range(150)]
        assert [digest for digest, _ in outputs] == expected
        (numbers[worker],) = {thread for _, thread in outputs}
    assert len(set(numbers.values()) | {0}) == 6
    for number in range(4):
        thread = numbers[f"worker{number}"]
        own = [digest for digest, of in seen["shared.out"] if of == thread]
        assert own == [digest for digest, _ in seen[f"worker{number}.out"]]
    main = Counter(digest for digest, of in seen["shared.out"] if of == 0)
    acted = [2.0 * (-10 * number - call - 1) for number in range(3) for call in range(3)]
    assert main == Counter(digest_of(torch.full((64,), value)) for value in acted)
    return numbers


@pytest.mark.parametrize("level", ["digest", "full"])
def test_no_event_is_lost_and_none_is_torn(tmp_path: Path, level: str) -> None:
    numbers = threaded(tmp_path / "a.h5", level, 1)
    if level == "digest":
        assert threaded(tmp_path / "b.h5", level, -1) == numbers
        with open_run(tmp_path / "a.h5") as a, open_run(tmp_path / "b.h5") as b:
            ends = [run.running_digest(run.step_count - 1) for run in (a, b)]
        assert ends[0] == ends[1]


FORKS = """
import multiprocessing, os, subprocess, sys, threading, time
import torch, probes


def double(x):
    # A child trains too, and nothing of it is the parent's.
    model = torch.nn.Linear(1, 1)
    model(torch.ones(1, 1)).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return 2 * x


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1,), float(index))


def main():
    torch.set_num_threads(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    recording = probes.attach(model, optimizer, out=sys.argv[1], flush_seconds=0.0)
    writer = recording.recorder.writer

    def step():
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()

    with recording:
        step()
        loader = torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=2)
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
        for method in sys.argv[2].split(","):
            with multiprocessing.get_context(method).Pool(2) as pool:
                assert pool.map(double, [1, 2, 3]) == [2, 4, 6]
            step()
        # Another thread holds the writer's lock and the recorder's while this one forks.
        held, over = threading.Event(), threading.Event()

        def hold():
            with writer._lock, recording.recorder.lock:
                held.set()
                over.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        child = os.fork()
        if child == 0:
            step()
            recording.record("by the child", 1)
            recording.close()
            sys.exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
        over.set()
        holder.join()
        step()
        done = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True)
        assert done.stdout.split() == [b"42"]
        child = os.fork()
        if child == 0:
            os.execv(sys.executable, [sys.executable, "-c", "raise SystemExit(9)"])
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        step()


if __name__ == "__main__":
    main()
"""


def test_children_of_every_kind_leave_the_run_alone(tmp_path: Path) -> None:
    program, out = tmp_path / "train.py", tmp_path / "a.h5"
    program.write_text(FORKS)
    done = subprocess.run(
        [sys.executable, str(program), str(out), "fork,spawn,forkserver"],
        env=environment(PYTHONWARNINGS="ignore"),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert "bisect-debugger" not in done.stderr
    with open_run(out) as run:
        assert run.facts.complete
        steps = run.steps(0, run.step_count)
        # One, four batches, one after each pool, two at the end.
        assert steps.step.tolist() == list(range(-1, 1 + 4 + 3 + 2))
        assert np.all(steps.closed)
        assert "by the child" not in {buffer.name for buffer in run.buffers}
        verify(run)
    assert sorted(found.name for found in tmp_path.glob("*.h5")) == ["a.h5"]
