"""The witness of `check-probe`: the final parameters of a run, taken when the process ends.

In a bare run nothing else is there: no hook on a module, a tensor or a step. The optimizers are
kept until the end, and their parameters and state are hashed then.
"""

import atexit
import hashlib
import json
import os
from typing import Any

import torch

from bisect_debugger.format.layouts import Layout
from probes.content import Unsupported, parts
from probes.ranks import rank_and_size
from probes.unedited.optimizers_built import when_built


class Witness:
    """Keeps every optimizer, and tells at the end what they hold."""

    def __init__(self, settings: Any) -> None:
        """Watch from now on."""
        self._settings = settings
        self._optimizers: list[torch.optim.Optimizer] = []
        self._pid = os.getpid()
        self._told = False
        when_built(self._optimizers.append)
        atexit.register(self.tell)
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        """In a forked child: where the parent had no optimizer yet, the child may train."""
        if not self._optimizers:
            self._pid = os.getpid()

    def tell(self) -> None:
        """Write what there is, once, in the process that trained."""
        if self._told or os.getpid() != self._pid or not self._optimizers:
            return
        self._told = True
        rank, _ = rank_and_size()
        tensors = [
            entry
            for number, optimizer in enumerate(self._optimizers)
            for entry in _tensors_of(number, optimizer)
        ]
        path = f"{self._settings.path}.witness.{rank}.{self._pid}"
        with open(path, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a plain text path
            json.dump({"rank": rank, "tensors": tensors}, stream)


def _tensors_of(number: int, optimizer: torch.optim.Optimizer) -> list[tuple[str, str, str]]:
    """(name, layout, digest) of each parameter and each tensor of the optimizer's state."""
    found = []
    position = 0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            name = f"optimizer[{number}].param[{position}]"
            found += _entries(name, parameter)
            for key, value in optimizer.state.get(parameter, {}).items():
                found += _entries(f"{name}.{key}", value)
            position += 1
    return found


def _entries(name: str, value: object) -> list[tuple[str, str, str]]:
    try:
        return [(name + part.suffix, *_words(part.layout, part.content)) for part in parts(value)]
    except Unsupported as reason:
        return [(name, str(reason), "")]


def _words(layout: Layout, content: Any) -> tuple[str, str]:
    return layout.text, hashlib.sha256(content.tobytes()).hexdigest()


def watch(settings: Any) -> None:
    """Be the witness of this process."""
    witness = Witness(settings)
    original = os._exit

    def _exit(status: int) -> Any:
        witness.tell()
        return original(status)

    os._exit = _exit
