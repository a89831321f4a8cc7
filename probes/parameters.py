"""Parameters and module buffers: at init, after each step, and changed by no optimizer."""

import weakref
from collections.abc import Callable, Collection, Iterable, Sequence

import torch

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from probes.known import version_of
from probes.names import Held, TensorName
from probes.recorder import Piece, Recorder
from probes.slots import LEFT_OUT, Form, Slot

_INIT = int(EventFlag.INIT)
_OUTSIDE_STEP = int(EventFlag.OUTSIDE_STEP)


class Parameters:
    """Records every named parameter and module buffer."""

    def __init__(self, recorder: Recorder) -> None:
        """Record into this recorder."""
        self._recorder = recorder
        self._known_at = INIT_STEP
        self._watched: list[_Watched] = []
        self._of_threads: list[_Watched] = []
        """Those that a thread beside the training made for itself, as long as nobody steps them."""
        self._counted: dict[str, tuple[_Watched, ...]] = {}
        """Parameters by the path of a module that holds them."""
        self.early: Callable[[torch.Tensor], tuple[bytes, Form] | None] = lambda tensor: None
        """Tells what was read of a parameter when somebody looked before it was added."""

    def add(self, tensors: Iterable[Held], of_thread: bool = False) -> None:
        """Record these from now on, and their values at this moment as their first.

        A shared one is recorded also under its other names, this once.

        Args:
            tensors: what to record.
            of_thread: the calling thread made them for itself.
        """
        new = []
        for held in tensors:
            aliases = [self._slot(alias, held.name.name) for alias in held.aliases]
            new.append(_Watched(held, self._slot(held.name), aliases))
        for watched in new:
            self._see_first(watched)
            for slot in watched.aliases:
                self._recorder.see(slot, watched.held.tensor, _INIT)
        if of_thread:
            self._leave_to_thread(new)
            return
        # A module that was put in another's place brings parameters of the same names.
        slots = {id(watched.slot) for watched in new}
        # A thread beside the training may call a new module while the training ends a step.
        with self._recorder.lock:
            kept = [watched for watched in self._watched if id(watched.slot) not in slots]
            self._watched = kept + new
        self._count(new)

    def after_step(self, stepped: Collection[torch.Tensor]) -> None:
        """Their values after an optimizer step, where they took part in it or changed.

        A module that nobody holds any more lives on until Python collects the cycle that it is
        part of, in each run at another step. It does not run, no optimizer steps it and nothing
        changes it, so nothing is recorded of it.

        Args:
            stepped: the parameters of the optimizer that made the step.
        """
        if self._of_threads:
            self._take_over(stepped)
        self._see_all(0, stepped)

    def before_step(self) -> None:
        """Those that somebody changed since the end of the last step.

        They are hashed again: a write through `.data` or shared memory does not raise the
        tensor's version, so the version cannot tell. After steps outside the window nothing is
        known, and all are recorded. Level ``coarse`` tells steps apart and not places in them: it
        leaves them to the step's end, where whatever changed is hashed in any case.
        """
        if self._recorder.step > self._known_at + 1:
            self._see_all(0)
            for watched in self._watched:
                if not watched.held.is_buffer:
                    watched.note_writes(watched.held.tensor)
            return
        tells_places = self._recorder.selection.level != "coarse"
        for watched in self._watched:
            tensor, slot = watched.held.tensor, watched.slot
            if tensor is None or watched.digest is None or slot.buffer == LEFT_OUT:
                continue
            if tells_places:
                found = slot.read(tensor)
                if found is None or found[0] != watched.digest:
                    self._see_changed(watched, tensor)
            if watched.counted is not None and watched.counted() is tensor:
                watched.version = tensor._version
            elif not watched.held.is_buffer:
                watched.note_writes(tensor)

    def before_call(self, module: str) -> None:
        """Those of a module that somebody wrote in the middle of a step, ahead of its call.

        What an optimizer writes while it steps is its own affair. Only writes that torch counts
        are seen; all others are at the next step's begin.

        Args:
            module: the module's path.
        """
        if self._recorder.stepping:
            return
        for watched in self._counted.get(module, ()):
            if watched.counted is None:
                continue
            tensor = watched.counted()
            if tensor is None or tensor._version == watched.version:
                continue
            # Another one may stand in its place by now.
            if watched.held.tensor is tensor:
                watched.version = tensor._version
                self._see_changed(watched, tensor)

    def _see_changed(self, watched: "_Watched", tensor: torch.Tensor | None) -> None:
        """Record what is not as it was when it was seen last, though no optimizer stepped."""
        slot = watched.slot
        if tensor is None or watched.digest is None or slot.buffer == LEFT_OUT:
            return
        found = slot.read(tensor)
        if found is None:
            pieces = self._recorder.pieces_of(slot, tensor)
            digest = _joined(pieces)
            if digest != watched.digest:
                self._recorder.see_pieces(slot, pieces, _OUTSIDE_STEP)
            watched.digest = digest
        elif found[0] != watched.digest:
            watched.digest = found[0]
            self._recorder.see_again(slot, tensor, *found, _OUTSIDE_STEP)

    def _leave_to_thread(self, several: Sequence["_Watched"]) -> None:
        """What these hold at a boundary of the training is chance, and is not asked there."""
        self._of_threads += several
        for watched in several:
            for slot in (watched.slot, *watched.aliases):
                if slot.buffer >= 0:
                    self._recorder.writer.leave_to_thread(slot.buffer)

    def _take_over(self, stepped: Collection[torch.Tensor]) -> None:
        """What an optimizer steps is trained, whoever made it."""
        for watched in tuple(self._of_threads):
            tensor = watched.held.tensor
            is_trained = tensor is not None and tensor in stepped
            if is_trained:
                self._watched.append(watched)
                self._count([watched])
            if is_trained or watched.held.is_gone:
                # In place: a thread may add more meanwhile.
                self._of_threads.remove(watched)

    def _count(self, new: Iterable["_Watched"]) -> None:
        """Look for writes to these from now on; what a forward writes by itself is no matter."""
        for watched in new:
            if watched.held.is_buffer:
                continue
            watched.note_writes(watched.held.tensor)
            held = watched.held
            for owner in {name.owner.path for name in (held.name, *held.aliases)}:
                same = [one for one in self._counted.get(owner, ()) if one.slot is not watched.slot]
                self._counted[owner] = (*same, watched)

    def _see_first(self, watched: "_Watched") -> None:
        tensor, slot = watched.held.tensor, watched.slot
        early = None if tensor is None else self.early(tensor)
        if early is None or early[0] == slot.digest(tensor):
            self._see([watched], _INIT)
            return
        # Somebody wrote to it since; its content then is gone, and its digest tells.
        watched.digest = early[0]
        self._recorder.see_digest(slot, *early, _INIT)

    def _see_all(self, flags: int, stepped: Collection[torch.Tensor] | None = None) -> None:
        self._known_at = self._recorder.step
        if self._see(self._watched, flags, stepped):
            self._watched = [watched for watched in self._watched if not watched.held.is_gone]

    def _see(
        self,
        several: Iterable["_Watched"],
        flags: int,
        stepped: Collection[torch.Tensor] | None = None,
    ) -> int:
        """Record their values now; returns how many places are empty.

        Args:
            several: what is recorded.
            flags: of the events.
            stepped: those that are recorded also where they are as they were; None for all.
        """
        recorder, empty = self._recorder, 0
        plainly, plain = not recorder.keeps_content, list[tuple[Slot, bytes, Form]]()
        for watched in several:
            tensor, slot, before = watched.held.tensor, watched.slot, watched.digest
            found = slot.read(tensor)
            watched.digest = None if found is None else found[0]
            if tensor is None:
                empty += 1
                continue
            pieces: list[Piece] = []
            if found is None and slot.buffer != LEFT_OUT:
                pieces = recorder.pieces_of(slot, tensor)
                watched.digest = _joined(pieces)
            if stepped is not None and watched.digest == before:
                took_part = watched.held.name.owner.root in recorder.ran
                if not took_part and tensor not in stepped:
                    continue
            if found is not None and plainly:
                plain.append((slot, *found))
                continue
            # In their order.
            recorder.see_digests(plain, flags)
            plain.clear()
            if found is not None:
                recorder.see_again(slot, tensor, *found, flags)
            else:
                recorder.see_pieces(slot, pieces, flags)
        recorder.see_digests(plain, flags)
        return empty

    def _slot(self, name: TensorName, subject: str = "") -> Slot:
        owner = name.owner
        return self._recorder.slot(
            Group.PARAM,
            name.name,
            owner.path,
            name.role,
            subject,
            owner.created or owner.location,
            owner.kind,
        )


class _Watched:
    """A parameter or buffer with the digest it was last seen with.

    Another tensor may stand in its place within a step, as functional calls put one there: only
    writes to the one that was there count.
    """

    __slots__ = ("aliases", "counted", "digest", "held", "slot", "version")

    def __init__(self, held: Held, slot: Slot, aliases: list[Slot]) -> None:
        self.held, self.slot, self.aliases = held, slot, aliases
        self.digest: bytes | None = None
        self.version = 0
        self.counted: weakref.ref[torch.Tensor] | None = None
        """The tensor whose writes torch counts, `version` by now; None where it counts none."""

    def note_writes(self, tensor: torch.Tensor | None) -> None:
        """Count writes from now on; a tensor of a class of its own would notice being asked."""
        self.counted = None
        if tensor is not None and type(tensor) in (torch.nn.Parameter, torch.Tensor):
            self.version = version_of(tensor)
            if self.version >= 0:
                self.counted = weakref.ref(tensor)


def _joined(pieces: Iterable[Piece]) -> bytes | None:
    """One digest for several parts: of a sharded, sparse or wrapped tensor, or one on a device."""
    return b"".join(digest for _, digest, _ in pieces) or None
