"""What a process costs, from the system's own account of it."""

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """One process, or the median of several.

    Attributes:
        seconds: from its start to its end.
        cpu: seconds of all its threads, its own and the system's.
        megabytes: most that was resident.
        code: exit code.
    """

    seconds: float
    cpu: float
    megabytes: float
    code: int


_LAUNCHER = """
import os, sys, time
began = time.perf_counter()
null = os.open(os.devnull, os.O_RDWR)
spawned = os.posix_spawnp(
    sys.argv[1], sys.argv[1:], os.environ,
    file_actions=[(os.POSIX_SPAWN_DUP2, null, stream) for stream in range(3)],
)
_, status, used = os.wait4(spawned, 0)
print(
    time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024,
    os.waitstatus_to_exitcode(status),
)
"""


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end; what it prints goes nowhere.

    The system counts the memory of whoever starts a process as the process's own, so a bare
    interpreter does it.
    """
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    environment = compiled_once()
    done = subprocess.run(launcher, capture_output=True, text=True, check=True, env=environment)
    seconds, cpu, megabytes, code = done.stdout.split()
    return Cost(float(seconds), float(cpu), float(megabytes), int(code))


def compiled_once() -> dict[str, str]:
    """The environment, in which Python compiles a module once, as where a package is installed.

    Compiling the modules of a command at each start takes longer than importing them.
    """
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def interleaved(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, Cost]:
    """Run commands in turns, and take the median of each: what disturbs meets all of them.

    The first run of each fills caches, and compiles; it does not count.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for command in commands.values():
        run(command)
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command))
    return {name: _median(found) for name, found in costs.items()}


def python(*arguments: str) -> list[str]:
    """A command of this interpreter."""
    return [sys.executable, *arguments]


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.seconds for cost in costs),
        statistics.median(cost.cpu for cost in costs),
        max(cost.megabytes for cost in costs),
        costs[0].code,
    )
