"""A trainer that dies in a chosen way at a chosen moment; and tells a side channel how far it came.

Its arguments are key=value: ``out`` records by hand into that file, and without it the trainer is
bare, or recorded from outside. The last line that it writes is the digest of its parameters.
"""

import ctypes
import hashlib
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch


def die(way: str) -> None:
    """End the process in one of the ways in which trainers end."""
    if way == "abort":
        os.abort()
    elif way == "segfault":
        ctypes.string_at(0)
    elif way == "_exit":
        os._exit(7)
    elif way == "raise":
        raise ValueError("the loss is not a number")
    elif way == "memory":
        limit = 1 << 40
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + (256 << 20), limit))
        torch.empty(1 << 34)
    elif way == "cpu":
        # What a batch system does: SIGXCPU, and a second later SIGKILL.
        used = int(time.process_time()) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used, used))
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True:
            pass
    else:
        os.kill(os.getpid(), getattr(signal, way))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def final(model: torch.nn.Module) -> str:
    """Digest of all parameters."""
    raw = b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters())
    return hashlib.sha256(raw).hexdigest()


def train(options: dict[str, str], recording: Any = None) -> str:
    """Train, and die where that was asked for."""
    torch.manual_seed(0)
    width = int(options.get("width", "16"))
    model = torch.nn.Sequential(
        torch.nn.Linear(8, width), torch.nn.Tanh(), torch.nn.Linear(width, 2)
    )
    optimizer = torch.optim.Adam(model.parameters())
    if "out" in options:
        import probes

        recording = probes.attach(
            model,
            optimizer,
            out=options["out"],
            level=options.get("level", "digest"),
            flush_seconds=float(options.get("flush", "1.0")),
            fsync=options.get("fsync") == "1",
        )
    channel = os.open(options["told"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    steps, way = int(options["steps"]), options.get("way", "")
    at, pause = int(options.get("at", "-1")), float(options.get("pause", "0"))
    for step in range(steps):
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        if step == at and options.get("when") == "within":
            die(way)
        optimizer.step()
        optimizer.zero_grad()
        os.write(channel, f"{step} {time.monotonic()}\n".encode())
        if step == at:
            die(way)
        time.sleep(pause)
    if recording is not None:
        recording.close()
    return final(model)


if __name__ == "__main__":
    print(train(dict(argument.split("=", 1) for argument in sys.argv[1:])))
