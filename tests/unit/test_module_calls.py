"""Hearing calls of modules: who listens is told, and stand-ins go away in any order."""

from typing import Any

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
