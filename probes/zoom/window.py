"""Puts the mode there for the chosen steps, and takes it away behind them."""

import os
import sys
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch._C import _current_graph_task_id, _get_dispatch_stack_at, _len_torch_dispatch_stack
from torch.utils._python_dispatch import _push_mode

from bisect_debugger.errors import printable
from bisect_debugger.format.schema import INIT_STEP
from probes.descriptor import weak_call
from probes.names import Names
from probes.recorder import Recorder
from probes.selection import known_digest
from probes.zoom.contents import MemoryNumbers
from probes.zoom.log import OperatorLog, beside
from probes.zoom.mode import NameOf, OperatorMode, Where
from probes.zoom.threads import InThreads, take_out


class Zoom:
    """Sees the operators of some steps of a recording."""

    def __init__(
        self,
        steps: Collection[int] | None,
        component: str = "",
        *,
        at_end: bool = False,
        digest: str | None = None,
        make: Callable[[OperatorLog, Where, NameOf], OperatorMode] | None = None,
    ) -> None:
        """See nothing yet.

        Args:
            steps: the steps that are meant; None for all that are recorded.
            component: path of the module whose operators are wanted; empty for all.
            digest: how the recording hashes tensors, so that contents can be held against its
                events; by default what the environment says.
            at_end: write when the recording ends, because its file has no name before.
            make: makes another mode, that writes nothing beside the run.
        """
        self._steps, self._component, self._at_end = steps, component, at_end
        self._on_host = known_digest(digest) != "device"
        self._make, self._writes = make or OperatorMode, make is None
        self._recorder: Recorder | None = None
        self._names: Names | None = None
        self._mode: OperatorMode | None = None
        self._threads: InThreads | None = None
        self._memory = MemoryNumbers()
        self._now = INIT_STEP
        self._done: list[tuple[int, OperatorLog]] = []
        os.register_at_fork(after_in_child=weak_call(self._silence))

    def wants(self, step: int) -> bool:
        """The operators of a step are wanted."""
        return self._steps is None or step in self._steps

    def begin(self) -> None:
        """See the operators of init, in this thread, from now on."""
        if self.wants(INIT_STEP):
            self._push(INIT_STEP)

    def follow(self, recorder: Recorder, names: Names) -> None:
        """See the steps of a recording from now on.

        Args:
            recorder: tells when a step is over.
            names: tells a module's path.
        """
        self._recorder, self._names = recorder, names
        recorder.at_end.append(self._step_closed)
        if recorder.step != INIT_STEP and self._mode is None:
            self._push(recorder.step)

    def remove(self) -> None:
        """Take the mode away, and write down what was seen."""
        self._pop()
        self._write()

    def _step_closed(self, step: int, digests: Any) -> None:
        self._pop()
        if not self._at_end:
            self._write()
        self._push(step + 1)

    def _push(self, step: int) -> None:
        if not self.wants(step):
            return
        log, self._now = OperatorLog(), step
        self._mode = self._make(log, self._where, self._name_of)
        self._mode.component, self._mode.on_host = self._component, self._on_host
        # Init and the first step are one to the program: what one made the other reads.
        if step in (INIT_STEP, 0):
            self._mode.memory = self._memory
        log.refused = _why_not()
        if _current_graph_task_id() != -1:
            # Torch puts the modes of a backward pass back behind each of its nodes.
            log.refused = "an optimizer stepped within the backward pass before it"
        if not log.refused:
            _push_mode(self._mode)
            self._threads = InThreads(self._mode)

    def _silence(self) -> None:
        """In a forked child: its operators are nobody's."""
        if self._mode is not None:
            self._mode.log.refused = "a forked process"
        self._recorder = None

    def _pop(self) -> None:
        if self._mode is None:
            return
        mode, self._mode = self._mode, None
        self._done.append((self._now, mode.log))
        mode.log.closed = True
        take_out(mode)
        if self._threads is not None:
            self._threads.remove()
            self._threads = None

    def _write(self) -> None:
        if self._recorder is None or not self._writes:
            return
        path = beside(self._recorder.writer.path)
        done, self._done = self._done, []
        try:
            for step, log in done:
                log.refused = log.refused or _why_not()
                log.write(path, step)
        except OSError as error:
            self._recorder.writer.uncovered(f"operators: they cannot be written ({error})")

    def _where(self) -> tuple[int, int]:
        if self._recorder is None:
            return 0, 0
        writer = self._recorder.writer
        return writer.waiting_events, writer.threads.current()

    def _name_of(self, module: torch.nn.Module) -> str:
        named = self._names.modules.get(module) if self._names is not None else None
        return printable(type(module).__name__) if named is None else named.path


def _why_not() -> str:
    """Why operators cannot be seen in this program, or empty."""
    compiler: Any = sys.modules.get("torch._dynamo.eval_frame")
    backends = [] if compiler is None else list(compiler.cached_backends.values())
    if any(callable(backend) for backend in backends):
        return "the program is compiled with torch.compile"
    stack = (_get_dispatch_stack_at(index) for index in range(_len_torch_dispatch_stack()))
    # One of ours stays there until the end of a backward pass within which its step was closed.
    if not all(isinstance(mode, OperatorMode) for mode in stack):
        return "the program has a dispatch mode of its own"
    return ""
