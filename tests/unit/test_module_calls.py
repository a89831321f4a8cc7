"""Hearing calls of modules: who listens is told, and stand-ins go away in any order."""

import subprocess
import sys
import threading
from typing import Any

import pytest
import torch
from torch import nn

from probes.module_calls import ignore, listen, listens


class Ear:
    """Notes what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def before(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.heard.append(f"before {len(args)} {sorted(kwargs)}")

    def after(self, module: nn.Module, output: object) -> None:
        self.heard.append("after")


def test_a_call_is_heard_once_with_its_keywords_and_no_longer_than_asked_for() -> None:
    bare, ear, module = nn.Module._call_impl, Ear(), nn.Identity()
    listen(ear)
    listen(ear)
    module(input=torch.ones(1))
    assert ear.heard == ["before 0 ['input']", "after"]
    ignore(ear)
    module(torch.ones(1))
    assert len(ear.heard) == 2
    assert not listens(ear)
    assert nn.Module._call_impl is bare


def test_a_stand_in_that_has_another_over_it_hears_nothing_more_and_goes_in_the_end() -> None:
    bare, ear, module = nn.Module._call_impl, Ear(), nn.Identity()
    listen(ear)
    ours: Any = nn.Module._call_impl

    def over(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return ours(self, *args, **kwargs)

    nn.Module._call_impl = over  # type: ignore[method-assign]
    ignore(ear)
    module(torch.ones(1))
    assert not ear.heard
    listen(ear)
    module(torch.ones(1))
    assert ear.heard == ["before 1 []", "after"]
    ignore(ear)
    assert nn.Module._call_impl is over
    # Whoever stood over it puts back what was there; the next recording finds torch's own below.
    nn.Module._call_impl = ours  # type: ignore[method-assign]
    listen(ear)
    ignore(ear)
    assert nn.Module._call_impl is bare


def test_calls_that_go_on_are_heard_to_their_end_by_who_looks_away_in_between() -> None:
    """As around an export that a forward makes."""
    ear = Ear()

    class Exporting(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            ignore(ear)
            listen(ear)
            return x

    listen(ear)
    Exporting()(torch.ones(1))
    ignore(ear)
    assert ear.heard == ["before 1 []", "after"]


def test_threads_that_begin_and_end_at_once_leave_nothing() -> None:
    bare, errors = nn.Module._call_impl, list[Exception]()

    def churn() -> None:
        try:
            for _ in range(20_000):
                ear = Ear()
                listen(ear)
                ignore(ear)
        except Exception as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=churn) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert nn.Module._call_impl is bare


@pytest.mark.parametrize("late", [False, True])
def test_what_is_compiled_stays_compiled_when_the_window_and_the_recording_end(late: bool) -> None:
    """Also where torch.compile is first used while a recording goes on."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, "late" if late else ""],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1", "1", "1", "1"]


COMPILED = """
import sys
import torch
from probes.module_calls import ignore, listen

class Ear:
    def before(self, module, args, kwargs):
        pass
    def after(self, module, output):
        pass

def backend(graph, examples):
    graphs.append(graph)
    return graph.forward

graphs, ear = [], Ear()
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
if sys.argv[1] != "late":
    import torch._dynamo
listen(ear)
compiled = torch.compile(model, backend=backend)
for step in range(5):
    compiled(torch.ones(2, 3)).sum().backward()
    print(len(graphs))
    if step in (1, 3):
        ignore(ear)
    elif step == 2:
        listen(ear)
"""
