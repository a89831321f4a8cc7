"""The first hooks, which wait for the training to begin.

They are light, because a process that imports torch need not train: a loader's worker, a
tokenizer, a plot. The recorder is imported, and a file made, when an optimizer is built or a
module with parameters is called.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, MutableMapping
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils.weak import WeakIdKeyDictionary

from bisect_debugger.format.schema import OPTIMIZER_LOADED
from probes.module_calls import ignore, listen
from probes.seeding import caller
from probes.unedited import libraries, witness
from probes.unedited.discovery import holds_parameters
from probes.unedited.early_seeds import EarlySeeds
from probes.unedited.optimizers_built import when_built


class Session:
    """What this process knows before, and while, it records.

    Attributes:
        settings: of the bootstrap; `note` tells the command how things stand.
        recording: the recording, once the training began.
    """

    def __init__(self, settings: Any, seeds: EarlySeeds) -> None:
        """Install the first hooks.

        Args:
            settings: of the session.
            seeds: what was seeded before torch was imported.
        """
        self.settings = settings
        self._seeds = seeds
        self.recording: Any = None
        # By identity: a module may compare by value, and then it has no hash.
        self._created: MutableMapping[torch.nn.Module, tuple[str, int]] = WeakIdKeyDictionary()
        """Where each module was created, and in which thread."""
        self.zoom: Any = None
        """Sees the operators of some steps, where the session asks for it."""
        self.generators: dict[str, Any] = {}
        """Generators that numpy made, by the line that asked for them."""
        self._over = False
        self._pid = os.getpid()
        register_module_parameter_registration_hook(self._parameter_registered)
        listen(self)
        when_built(self._optimizer_built)
        self._watch_the_end()
        if settings.values.get("zoom"):
            self._begin_zoom()
        os.register_at_fork(after_in_child=self._forked)
        seeds.hand_over(self.note_seeding, self.generator_made)

    def created(self, module: torch.nn.Module) -> str:
        """``file:line`` of the call that created a module; empty where that was not seen."""
        return self._created.get(module, ("", 0))[0]

    def creator(self, module: torch.nn.Module) -> int | None:
        """Ident of the thread that created a module; None where that was not seen."""
        made = self._created.get(module)
        return None if made is None else made[1]

    def give_up(self, error: BaseException) -> None:
        """An error of our own: say so once, and do nothing more."""
        self._over = True
        ignore(self)
        self.settings.note("failed", reason=f"{type(error).__name__}: {error}")
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(
                f"bisect-debugger: nothing is recorded ({type(error).__name__}: {error}); the "
                "training goes on unchanged.\n"
            )

    def _begin(self) -> None:
        """Import the recorder and begin the run."""
        if self.recording is not None or self._over or os.getpid() != self._pid:
            return
        self._over = True
        from probes.recording import offer
        from probes.unedited.recording import UneditedRecording

        self.recording = UneditedRecording(self)
        # Not before: the call that goes on is told to those who listen when it ends.
        ignore(self)
        offer(self.recording)
        for call in self._seeds.calls:
            self.recording.note_seeding(*call)
        self._seeds.calls.clear()

    def _begin_zoom(self) -> None:
        """See the operators of init, if they are wanted; it begins here."""
        try:
            from probes.zoom.window import Zoom

            self.zoom = Zoom(frozenset(self.settings.values["zoom"]), at_end=True)
            processes: Any = sys.modules.get("multiprocessing.process")
            # A worker imports torch as well, and prepares nothing that is trained.
            if processes is None or processes.parent_process() is None:
                self.zoom.begin()
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.settings.note("no-zoom", reason=f"{type(error).__name__}: {error}")

    def note_seeding(self, call: str, argument: str, location: str) -> None:
        """A generator was seeded; also before there is a run to note it in."""
        if self.recording is not None:
            self.recording.note_seeding(call, argument, location)
        else:
            self._seeds.keep(call, argument, location)

    def generator_made(self, generator: Any, call: str, location: str) -> None:
        """A generator was made; one made anew at the same line takes its place."""
        name = f"{call.rpartition('random.')[2].removeprefix('torch.')}[{location}]"
        if name not in self.generators and len(self.generators) >= _MOST_GENERATORS:
            return
        if threading.current_thread() is not threading.main_thread():
            # How far such a thread has come at a boundary of the training is chance, and so is what
            # its generator holds there.
            return
        self.generators[name] = generator
        if self.recording is not None and not self.recording.recorder.failed:
            self.recording.register_generator(name, generator)

    def _parameter_registered(self, module: torch.nn.Module, name: str, parameter: Any) -> None:
        if is_compiling() or (self._over and self.recording is None):
            return
        try:
            if module not in self._created:
                self._created[module] = caller(), threading.get_ident()
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.give_up(error)

    def before(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Begin with the first call of a module that can be trained."""
        if torch._C._is_tracing() or self._over:
            return
        try:
            if not holds_parameters(module):
                return
            self._begin()
            if self.recording is not None:
                self.recording.first_call(module, args, kwargs)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.give_up(error)

    def after(self, module: torch.nn.Module, output: Any) -> None:
        """Nothing is recorded yet."""

    def _optimizer_built(self, optimizer: torch.optim.Optimizer) -> None:
        try:
            self._begin()
            optimizer.register_load_state_dict_post_hook(self._state_loaded)
            if self.recording is not None and os.getpid() == self._pid:
                self.recording.optimizer_built(optimizer)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.give_up(error)

    def _state_loaded(self, optimizer: torch.optim.Optimizer) -> None:
        try:
            self.note_seeding(OPTIMIZER_LOADED, "", caller())
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.give_up(error)

    def _forked(self) -> None:
        """In a forked child: where the parent had not begun to train, the child may."""
        if self.recording is None and not self._over:
            self._pid = os.getpid()

    def _watch_the_end(self) -> None:
        """`os._exit` skips what Python does at its end; the run is closed before it."""
        original: Any = os._exit

        def _exit(status: int) -> Any:
            if self.recording is not None and os.getpid() == self._pid:
                self.recording.close()
            return original(status)

        os._exit = _exit
        self.exit_now = original


_MOST_GENERATORS = 32
session: Session | None = None


def begin(
    settings: Any,
    seeds: EarlySeeds,
    when_imported: Callable[[str, Callable[[], None]], None],
) -> None:
    """Wait in this process for a training to begin.

    Args:
        settings: of the session.
        seeds: what was seeded before torch was imported.
        when_imported: calls back after a module was loaded.
    """
    global session  # noqa: PLW0603 - one session a process, as there is one torch
    if settings.values.get("mode") == "witness":
        witness.watch(settings)
        return
    if settings.values.get("witness"):
        witness.watch(settings)
    session = Session(settings, seeds)
    libraries.watch(session, when_imported)
