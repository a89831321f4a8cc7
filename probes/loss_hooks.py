"""The loss: the tensors that a backward pass is started from.

`Tensor.backward` looks up `torch.autograd.backward` when it is called, so replacing that one
attribute (and `torch.autograd.grad`) sees every backward, and putting it back undoes it.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.compiler import is_compiling

from bisect_debugger.format.groups import Group
from probes.edges import Edges, node_of
from probes.recorder import Recorder, flags_now, guarded, in_backward
from probes.scripting import pass_for, pass_no_more
from probes.stand_ins import beneath, retire


class LossHooks:
    """Sees every start of a backward pass while installed."""

    def __init__(self, recorder: Recorder, edges: Edges, at_backward: Callable[[], None]) -> None:
        """Install.

        Args:
            recorder: where events go.
            edges: finds the outputs that a loss was computed from.
            at_backward: called before each backward pass.
        """
        self.recorder = recorder
        self._edges = edges
        self._at_backward = at_backward
        self._originals = {name: getattr(torch.autograd, name) for name in ("backward", "grad")}
        self._installed = {name: self._wrap(call) for name, call in self._originals.items()}
        for name, wrapper in self._installed.items():
            setattr(torch.autograd, name, wrapper)
            pass_for(wrapper, self._originals[name])

    def remove(self) -> None:
        """Put torch's own functions back, unless somebody else replaced them since."""
        for name, original in self._originals.items():
            pass_no_more(self._installed[name])
            if getattr(torch.autograd, name) is self._installed[name]:
                setattr(torch.autograd, name, beneath(original))
            else:
                retire(self._installed[name], original)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # Reentrant checkpointing starts a backward inside backward: that is no loss.
            if not is_compiling() and not in_backward():
                self._before(args, kwargs)
            return original(*args, **kwargs)

        return wrapper

    @guarded
    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.begin_step()
        if not self.recorder.active:
            return
        self._at_backward()
        roots = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
        if isinstance(roots, torch.Tensor):
            self._root(0, roots)
        elif isinstance(roots, (tuple, list)):
            for index, root in enumerate(roots):
                self._root(index, root)
        else:
            # Going through an iterator would leave nothing of it for the backward pass.
            self.recorder.writer.uncovered(f"a loss handed over as a {type(roots).__name__}")

    def _root(self, index: int, root: object) -> None:
        if not isinstance(root, torch.Tensor):
            return
        name = f"loss[{index}]" if index else "loss"
        place = self.recorder.value(Group.LOSS, name, "loss", "loss", root, flags_now())
        if place is not None and self._edges.are_kept:
            self._edges.consumed(root, node_of(root), place)
