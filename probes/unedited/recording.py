"""A recording that finds models and optimizers by itself.

Init lasts until the training's first event after an optimizer was built: a forward, a batch, a
backward. Parameters are digested when their optimizer is built, and named when init ends, because
only then do the program's variables lead to what it built.
"""

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch.utils.weak import WeakTensorKeyDictionary

from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from probes import environment
from probes.module_calls import CALL
from probes.names import Added, Names, modules_below
from probes.nests import leaves
from probes.recorder import flags_now, guarded
from probes.recording import Recording
from probes.seeding import caller
from probes.selection import Selection, groups_of, known_digest, known_level, window_of
from probes.slots import Slot
from probes.unedited.beside import ThreadsBeside
from probes.unedited.discovery import Reached, holds_parameters, outermost, search
from probes.unedited.free_names import FreeNames
from probes.unedited.limits import Limits
from probes.unedited.optimizers import AllOptimizers
from probes.unedited.output import OutputFile
from probes.writer import Header, RunWriter

if TYPE_CHECKING:
    from probes.isolation.capture import ModuleCapture


class UneditedRecording(Recording):
    """The recording of a process whose program was not edited."""

    def __init__(self, session: Any) -> None:
        """Make the file and install every hook.

        Raises:
            UsageError: the file cannot be made.
        """
        values = session.settings.values
        self._session = session
        self._output = OutputFile(Path(values["out"]), values.get("names", ()))
        self._pid = os.getpid()
        self._free = FreeNames()
        self._early: Any = WeakTensorKeyDictionary()
        """Digests of parameters when their optimizer was built."""
        self._ready = False
        self._slots: dict[tuple[str, str, str], Slot] = {}
        self._passing: set[tuple[type, str, str]] = set()
        """Of modules that no variable leads to: class, line that made them, line that called."""
        selection = _selection(values)
        header = Header.of(selection, {**environment.collect(), "recorded_by": "command"})
        self.rank, self.world_size = header.rank, header.world_size
        # Told before, because the process may be killed at any moment.
        session.settings.note("makes", path=str(self._output.path))
        writer = RunWriter(self._output.path, header, fsync=values.get("fsync", False))
        super().__init__(
            writer, selection, Names(session.created), self._introduce, session.generators
        )
        self._parameters.early = self._early.get
        self._modules.ask_enclosed(_inside_a_module)
        self._all_optimizers = AllOptimizers(self.recorder, self.optimizers, self._name_optimizer)
        self.add_probe(self._all_optimizers)
        self._capture: ModuleCapture | None = None
        if session.settings.values.get("isolate") and not self.rank:
            from probes.unedited.isolation import isolate

            self._capture = isolate(self, self.names, session.settings)
        self._limits = Limits(self, session.settings, self._output)
        self.recorder.at_begin.insert(0, self._end_of_init)
        if session.zoom is not None:
            session.zoom.follow(self.recorder, self.names)
            self.add_probe(session.zoom)
        self.recorder.at_end.append(ThreadsBeside(writer.uncovered).step_closed)
        # Last: it may end the process.
        self.recorder.at_end.append(self._limits.step_closed)
        session.settings.note("started", path=str(self._output.path), rank=self.rank)

    def first_call(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Record the call that the recording began with."""
        self._modules.before(module, args, kwargs)
        if self._capture is not None:
            self._capture.before(module, args, kwargs)

    def optimizer_built(self, optimizer: torch.optim.Optimizer) -> None:
        """Digest the optimizer's parameters, before anybody has a chance to step it."""
        if self.recorder.closed or self.recorder.failed:
            return
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter not in self.names.parameters and parameter not in self._early:
                    found = self.recorder.loose_slot().read(parameter)
                    if found is not None:
                        self._early[parameter] = found
        if self.recorder.step == schema.INIT_STEP:
            self._ready = True
            self.recorder.begun = False
        else:
            self._cover_everything()

    @guarded
    def observe(
        self, group: Group, component: str, role: str, value: object, kind: str = ""
    ) -> None:
        """Record what a library hands over: a batch, a sample, a simulator's answer."""
        # Before there is an optimizer it belongs to init, which it does not end.
        if self._ready:
            self.recorder.begin_step()
        if not self.recorder.active:
            return
        for path, leaf in leaves(_as_array(value)):
            place = (component, role, path)
            slot = self._slots.get(place)
            if slot is None:
                slot = self._slots[place] = self.recorder.slot(
                    group,
                    f"{component}.{role}{path}",
                    component,
                    f"{role}{path}",
                    location=caller(_LIBRARIES),
                    kind=kind,
                )
            self.recorder.see(slot, leaf, flags_now())

    def exit_now(self, status: int) -> None:
        """End the process without what Python does at its end."""
        self._session.exit_now(status)

    def close(self, reason: str = "") -> None:
        """Close the file; one without a single step of training is removed."""
        # A forked child ends too, and the file is its parent's.
        if self.recorder.closed or os.getpid() != self._pid:
            return
        super().close(reason)
        if not self._output.is_named:
            self._output.discard()
            self._session.settings.note("no-steps", taken=self._limits.last + 1)
        else:
            self._limits.tell_last()
            writer = self.recorder.writer
            last = writer.last_written if writer.failed else self._limits.last
            self._session.settings.note(
                "ended", path=str(self._output.path), step=last, reason=reason
            )

    def _end_of_init(self) -> None:
        if self.recorder.step != schema.INIT_STEP:
            return
        self._cover_everything()
        # Those that threads beside the training called too early.
        self._modules.ask_again()
        self.end_init()
        self.recorder.begun = True

    def _cover_everything(self) -> None:
        """Name all modules that variables lead to, and what optimizers hold beside them."""
        reached = search(sys._getframe())
        for path, module in outermost(reached.modules):
            if module not in self.names.modules:
                self._cover_root(path, module)
        self._cover_loose(reached)

    def _introduce(self, module: torch.nn.Module) -> None:
        """A module without a name is called: find the outermost one that holds it."""
        early = self.recorder.step == schema.INIT_STEP and not self.recorder.is_steppers()
        if early and not self._early:
            return
        site = (type(module), self._session.created(module), caller())
        is_alone = not module._modules and not holds_parameters(module)
        if is_alone and site in self._passing:
            # Made anew in every call; what variables lead to need not be searched each time.
            self._cover_root(type(module).__name__, module)
            return
        roots = search(sys._getframe()).roots_of([module])
        if early and not self._is_all_that_is_trained([root for _, root in roots] or [module]):
            return
        for path, root in roots:
            self._cover_root(path, root)
        if module not in self.names.modules:
            self._cover_root(type(module).__name__, module)
            if is_alone and len(self._passing) < _MOST_PASSING:
                self._passing.add(site)

    def _is_all_that_is_trained(self, roots: list[torch.nn.Module]) -> bool:
        """Everything that optimizers hold lies in these modules.

        Before init ends a thread beside the training names nothing else. Which thread calls its
        module first, and whether before the training names what its variables lead to, is chance,
        and so would be the order of several models, and the names of what no optimizer holds.
        """
        held = {
            id(parameter)
            for root in roots
            for _, each in modules_below(root)
            for parameter in each._parameters.values()
        }
        try:
            return all(id(parameter) in held for parameter in self._early)
        except RuntimeError:
            # The training is building another optimizer just now.
            return False

    def _cover_root(self, path: str, root: torch.nn.Module) -> None:
        added = self.names.add_root(self._free_name(path, root), root)
        self.cover(added, of_thread=self._is_of_thread(root))

    def _is_of_thread(self, root: torch.nn.Module) -> bool:
        """A thread beside the training made it for itself, as one that copies a model for a job."""
        if self.recorder.is_steppers():
            return False
        training = (threading.main_thread().ident, self.recorder.stepper_ident)
        return not any(self._session.creator(each) in training for _, each in modules_below(root))

    def _cover_loose(self, reached: Reached) -> None:
        """Parameters that an optimizer holds and no module does."""
        paths = {id(tensor): path for path, tensor in reversed(reached.tensors)}
        added = Added()
        for tensor in list(self._early):
            if tensor not in self.names.parameters and id(tensor) in paths:
                path = self._free_name(paths[id(tensor)], tensor)
                added.tensors.append(self.names.add_loose(path, tensor, path))
        self.cover(added)

    def _free_name(self, path: str, thing: object) -> str:
        origin, shared = "", False
        if isinstance(thing, torch.nn.Module):
            origin, shared = self._session.created(thing), not holds_parameters(thing)
        # Init and the step after it are one training step to the program.
        return self._free.name(path, thing, origin, max(self.recorder.step, 0), shared=shared)

    def _name_optimizer(self, optimizer: torch.optim.Optimizer, number: int) -> str:
        """By the variable that leads to it, else by its number in order of first step."""
        for path, found in search(sys._getframe()).optimizers:
            if found is optimizer:
                return self._free_name(path, optimizer)
        return self._free_name(f"optimizer[{number}]" if number else "optimizer", optimizer)


_MOST_PASSING = 1000

_LIBRARIES = frozenset(
    ("gymnasium", "stable_baselines3", "sb3_contrib", "tianshou", "torchrl", "tensordict")
)
"""What stands between the program and its data; the line that is wanted is the program's own."""


def _selection(values: dict[str, Any]) -> Selection:
    first, last = window_of(values.get("steps"))
    payload = values.get("payload")
    return Selection(
        level=known_level(values.get("level", "digest")),
        first=first,
        last=last,
        groups=groups_of(values.get("groups")),
        include=tuple(values.get("include", ())),
        exclude=tuple(values.get("exclude", ())),
        heads=tuple(values.get("heads", ())),
        payload=(payload[0], payload[1]) if payload else None,
        digest=known_digest(None),
    )


def _inside_a_module() -> bool:
    """The module call that goes on is made by the forward of another module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is CALL:
            return True
        frame = frame.f_back
    return False


def _as_array(value: object) -> object:
    """A list of numbers is one array and not a buffer for each."""
    if type(value) not in (list, tuple):
        return value
    items = cast("Sequence[object]", value)
    numbers = bool(items) and all(type(item) in _NUMBERS for item in items)
    return np.asarray(items) if numbers else value


_NUMBERS = (int, float, bool)
