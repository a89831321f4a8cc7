"""The knob `switch` where a thread waits in C, or an event loop for its threads."""

import sys

import pytest

from tests.e2e.test_knobs import run

END = """
from probes.unedited.knobs.taking_turns import TURNS
print(hashlib.sha256(repr(seen).encode()).hexdigest(), TURNS.left_out, TURNS.over)
"""

QUEUES_IN_C = """
import hashlib, threading, time
from _queue import SimpleQueue
ready, back, seen = SimpleQueue(), SimpleQueue(), []
def feed():
    for batch in range(20):
        hashlib.sha256(bytes(1 << 16)).digest()  # lets other threads run meanwhile
        seen.append(("made", batch))
        ready.put(batch)
        back.get()
def average():
    for step in range(30):
        seen.append(("average", step))
        time.sleep(0.001)
threads = [threading.Thread(target=feed), threading.Thread(target=average)]
for thread in threads:
    thread.start()
for _ in range(20):
    seen.append(ready.get())
    hashlib.sha256(bytes(1 << 16)).digest()
    back.put(0)
for thread in threads:
    thread.join()
"""

WOKEN_BY_A_SLEEPER = """
import hashlib, threading, time
from _queue import SimpleQueue
ready, seen = SimpleQueue(), []
def feed(number):
    for batch in range(3):
        time.sleep(0.01)  # it could go on now, had it the turn
        seen.append((number, batch))
        ready.put(number)
threads = [threading.Thread(target=feed, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
seen += [ready.get() for _ in range(6)]
for thread in threads:
    thread.join()
"""

EVENT_LOOP = """
import asyncio, hashlib, threading, time
seen = []
def work(number):
    for part in range(5):
        hashlib.sha256(bytes(1 << 16)).digest()
        seen.append((number, part))
        time.sleep(0.001)
    return number
async def main():
    for _ in range(4):
        jobs = [asyncio.create_task(asyncio.to_thread(work, number)) for number in range(3)]
        for job in jobs:
            job.add_done_callback(lambda job: seen.append(job.result()))
        await asyncio.gather(*jobs)
def average():
    for step in range(30):
        seen.append(("average", step))
        time.sleep(0.001)
thread = threading.Thread(target=average)
thread.start()
asyncio.run(main())
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells where a thread sleeps")
@pytest.mark.parametrize("program", [QUEUES_IN_C, WOKEN_BY_A_SLEEPER], ids=["queues", "sleeper"])
def test_who_waits_in_c_for_a_thread_is_left_out_until_it_is_woken(program: str) -> None:
    command = (sys.executable, "-c", program + END)
    first = run(command, "switch")
    assert {run(command, "switch") for _ in range(3)} == {first}
    _, left_out, over = first.split()
    # It has the turn again where it was woken, so that not every hand-over needs a look.
    assert 1 <= int(left_out) <= 6
    assert over == "False"


def test_an_event_loop_hands_on_the_turn_while_its_threads_work() -> None:
    command = (sys.executable, "-c", EVENT_LOOP + END)
    first = run(command, "switch")
    assert {run(command, "switch") for _ in range(3)} == {first}
    assert first.split()[1:] == ["0", "False"]
    assert len({run(command).split()[0] for _ in range(4)}) > 1


def test_who_waits_for_another_process_keeps_the_turn() -> None:
    program = """
import hashlib, os, subprocess, sys, threading, time
seen = []
def average():
    for step in range(5):
        seen.append(step)
        time.sleep(0.001)
thread = threading.Thread(target=average)
thread.start()
time.sleep(0.0005)
seen.append("asks")
subprocess.run([sys.executable, "-c", "import time; time.sleep(0.7)"], check=True)
seen.append("answered")
thread.join()
print(seen)
"""
    shown = run((sys.executable, "-c", program + END), "switch").splitlines()
    assert shown[0] == str([0, "asks", "answered", 1, 2, 3, 4])
    assert shown[1].split()[1:] == ["0", "False"]
