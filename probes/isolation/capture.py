"""Takes down one module call of a training: what went in, the state it met, what came back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._C import _current_graph_task_id

from bisect_debugger.format.schema import INIT_STEP
from probes.isolation import trouble
from probes.isolation.folder import autocast, settings, streams, write
from probes.isolation.recipes import Recipes
from probes.isolation.script import tensors_in
from probes.memory import unseen
from probes.module_calls import ignore, listen
from probes.names import Names
from probes.recorder import Recorder

Note = Callable[[str], None]
"""Called once, with why nothing was taken down, or an empty text."""


class ModuleCapture:
    """Waits for a call of a module in a step, and writes it down when the step is over."""

    def __init__(
        self,
        recorder: Recorder,
        names: Names,
        asked: dict[str, Any],
        note: Note,
    ) -> None:
        """Wait.

        Args:
            recorder: tells the step.
            names: tells the module's path.
            asked: ``component``, ``step``, ``init`` (the call came before step 0), ``occurrence``
                and ``folder``.
            note: told what came of it.
        """
        self._recorder, self._names, self._asked = recorder, names, asked
        self._step = INIT_STEP if asked["init"] else asked["step"]
        self._note: Note | None = note
        self._calls = 0
        self._module: torch.nn.Module | None = None
        self._done = False
        self._recipes = Recipes()
        self._saved: dict[str, Any] = {}
        self._upstream: dict[int, torch.Tensor] = {}
        self._failed = ""
        listen(self)
        recorder.at_end.insert(0, self._step_closed)

    def remove(self) -> None:
        """Wait no longer."""
        ignore(self)
        self._finish()

    def before(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Save what goes into the call that is waited for."""
        if self._module is not None or self._done:
            return
        named = self._names.modules.get(module)
        if (
            named is None
            or named.path != self._asked["component"]
            or self._recorder.step != self._step
            or _current_graph_task_id() != -1
        ):
            return
        self._calls += 1
        if self._calls <= self._asked["occurrence"]:
            return
        self._module = module
        self._failed = trouble(lambda: self._take(module, args, kwargs)) or self._failed

    def _take(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        recipes, path = self._recipes, self._asked["component"]
        self._saved = {
            "streams": streams(recipes),
            "settings": settings(),
            "autocast": autocast(),
            "grad": torch.is_grad_enabled(),
            "function": recipes.of(module, path),
            "args": recipes.of(args, "its arguments"),
            "kwargs": recipes.of(dict(kwargs), "its arguments"),
        }

    def after(self, module: torch.nn.Module, output: Any) -> None:
        """Save what came of it."""
        if module is not self._module or self._done or self._failed:
            return
        self._done = True
        self._failed = trouble(lambda: self._take_output(output)) or self._failed

    def _take_output(self, output: Any) -> None:
        outputs = tensors_in(output)
        with unseen():
            self._saved["outputs"] = [tensor.detach().clone() for tensor in outputs]
        for index, tensor in enumerate(outputs):
            if tensor.requires_grad:
                tensor.register_hook(self._keeper(index))  # type: ignore[no-untyped-call]

    def _keeper(self, index: int) -> Callable[[torch.Tensor], None]:
        def keep(gradient: torch.Tensor) -> None:
            # Only the first backward pass: a graph may be gone through again.
            if index not in self._upstream:
                with unseen():
                    self._upstream[index] = gradient.detach().clone()

        return keep

    def _step_closed(self, step: int, digests: Any) -> None:
        if step >= self._step:
            self._finish()

    def _finish(self) -> None:
        note, self._note = self._note, None
        if note is None:
            return
        if not self._done and not self._failed:
            self._failed = "its module was not called in that step"
        if not self._failed:
            self._failed = trouble(self._write) or self._failed
        note(self._failed)

    def _write(self) -> None:
        self._saved["upstream"] = [
            [index, self._recipes.of(gradient, "a gradient")]
            for index, gradient in sorted(self._upstream.items())
        ]
        what = f"the module {self._asked['component']} of step {self._asked['step']}"
        write(Path(self._asked["folder"]), what, self._recipes, self._saved)
