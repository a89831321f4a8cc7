"""From a value to an event: read, hashed, and handed to the writer.

What is recorded of a value depends on the level: its digest, also numbers, also the content.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import printable
from bisect_debugger.format.digests import DEVICE_ALGORITHM, DEVICE_EVERYWHERE
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import INIT_STEP
from probes.content import Part, Unsupported, parts
from probes.known import KnownTensors, unless_written
from probes.selection import Selection
from probes.slots import LEFT_OUT, DeviceSlot, Form, Forms, Slot, content_of
from probes.stats import KnownStats
from probes.writer import RunWriter

Place = tuple[int, int]
"""(buffer id, occurrence in the step)."""

Piece = tuple[Part, bytes, int]
"""A dense part of a value, its digest, and the flag of the algorithm that made it."""

REUSE_BYTES = 16384
"""Size from which looking a content up is cheaper than hashing it again (about 1 us)."""

MOST_OPEN_EVENTS = 1 << 20
"""Most events of one step (about 100 MB while it is closed): memory never grows without bound."""

_EMPTY = np.empty(0, dtype=np.uint8)


class Seeing:
    """Records values into the step that goes on.

    Attributes:
        writer: where events go.
        selection: what is recorded.
        step: the step that is going on.
        known: tensors that were hashed in this step already.
    """

    def __init__(self, writer: RunWriter, selection: Selection) -> None:
        """Record into a writer what the selection takes."""
        self.writer = writer
        self.selection = selection
        self.step = INIT_STEP
        # By number and not by ident, which a new thread may be given again or not.
        self._thread, self._own = writer.threads.current, writer.threads.own
        self._slots: dict[tuple[Group, str], Slot] = {}
        self.known = KnownTensors()
        self._event, self._pack = writer.event, writer.pack
        self._open, self._append = writer.open_step, writer.open_step.extend
        self._look_at = writer.bytes_per_look
        self._looked_at = 0
        self._forms = Forms(writer.layout)
        self._on_host = selection.digest != "device"
        self._new_slot: type[Slot] = Slot if self._on_host else DeviceSlot
        self._other_algorithm = DEVICE_ALGORITHM if self._on_host else DEVICE_EVERYWHERE
        self._is_coarse = selection.level == "coarse"
        self._stats = KnownStats().of
        self._keep_content()

    def fail(self, reason: str) -> None:
        """Stop recording for good, say so once, and let the training go on."""
        raise NotImplementedError

    def slot(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        subject: str = "",
        location: str = "",
        kind: str = "",
    ) -> Slot:
        """The slot of a buffer; the same (group, name) gives the same one again."""
        key = (group, name)
        found = self._slots.get(key)
        if found is None:
            found = self._new_slot(
                group, name, component, role, subject, location, kind, self._forms
            )
            self._slots[key] = found
        return found

    def loose_slot(self) -> Slot:
        """A slot of no buffer, to read a value before it has a name."""
        return self._new_slot(Group.PARAM, "", "", "", forms=self._forms)

    def see(
        self, slot: Slot, value: object, flags: int = 0, made: bool | None = None
    ) -> Place | None:
        """Record a value of any kind.

        Args:
            slot: the buffer it belongs to.
            value: a tensor of any kind, an array, a number, text or bytes.
            flags: `EventFlag` bits.
            made: given, a tensor object that was hashed in this step, and not written to since as
                far as torch counts, is not hashed again; see `KnownTensors.remember`.

        Returns:
            Buffer of its first part and how often `see` saw it in this step before, or None where
            nothing was recorded.
        """
        known = None if made is None else self.known.get(id(value))
        found = None if known is None else unless_written(known, value)
        buffer = slot.buffer
        if found is None:
            if buffer == LEFT_OUT:
                return None
            found = slot.read(value)
            if found is None:
                return self.see_pieces(slot, self.pieces_of(slot, value), flags)
            # Content that is kept has to be read anyway.
            if made is not None and found[1].nbytes >= REUSE_BYTES and not self._keeps_content:
                self.known.remember(value, found, made)  # type: ignore[arg-type]
            elif known is not None:
                self.known.forget(value)
        elif self._is_coarse:
            # Its digest is part of the step's already.
            return None
        if buffer < 0 or self._keeps_content:
            self.see_again(slot, value, *found, flags)
            buffer = slot.buffer
            if buffer < 0:
                return None
        else:
            # As in `_note`, of which the call alone would double the cost.
            digest, form = found
            try:
                thread = self._own.number
            except AttributeError:
                thread = self._thread()
            self._append(self._pack(buffer, form.number, digest, flags, thread))
            if not len(self._open) % self._look_at:
                self._look()
        if slot.seen_in != self.step:
            slot.seen_in, slot.seen = self.step, 0
            return buffer, 0
        slot.seen += 1
        return buffer, slot.seen

    def see_all(self, several: Iterable[tuple[Slot, object]], flags: int = 0) -> None:
        """Record several values, in their order; cheaper than one by one."""
        append, pack, thread = self._append, self._pack, self._thread()
        plainly = not self._keeps_content
        for slot, value in several:
            buffer = slot.buffer
            if buffer == LEFT_OUT:
                continue
            found = slot.read(value)
            if found is None:
                self.see_pieces(slot, self.pieces_of(slot, value), flags)
            elif plainly and buffer >= 0:
                append(pack(buffer, found[1].number, found[0], flags, thread))
            else:
                self.see_again(slot, value, *found, flags)
        self._look_if_due()

    def see_again(self, slot: Slot, value: object, digest: bytes, form: Form, flags: int) -> None:
        """Record a value that the slot has just read."""
        if slot.buffer < 0:
            slot.buffer = self._resolve(slot)
        if slot.buffer >= 0:
            if self._keeps_content:
                self.write(slot, form.layout, content_of(value), digest, flags)
            else:
                self._note(slot.buffer, form, digest, flags)

    def see_digest(self, slot: Slot, digest: bytes, form: Form, flags: int = 0) -> None:
        """Record content of which only digest and form are known, or told."""
        if slot.buffer < 0:
            slot.buffer = self._resolve(slot)
        if slot.buffer >= 0:
            self._note(slot.buffer, form, digest, flags)

    def see_digests(self, several: Iterable[tuple[Slot, bytes, Form]], flags: int = 0) -> None:
        """The same for several, in their order; cheaper than one by one."""
        append, pack, thread = self._append, self._pack, self._thread()
        for slot, digest, form in several:
            if slot.buffer < 0:
                slot.buffer = self._resolve(slot)
            if slot.buffer >= 0:
                append(pack(slot.buffer, form.number, digest, flags, thread))
        self._look_if_due()

    @property
    def keeps_content(self) -> bool:
        """Numbers or contents of the events of this step are kept beside their digests."""
        return self._keeps_content

    def value(
        self, group: Group, name: str, component: str, role: str, value: object, flags: int = 0
    ) -> Place | None:
        """Record a value under a name that is looked up; for what is seen rarely."""
        return self.see(self.slot(group, name, component, role), value, flags)

    def write(
        self,
        slot: Slot,
        layout: Layout,
        content: npt.NDArray[np.uint8],
        digest: bytes,
        flags: int,
    ) -> None:
        """Write one event with what the level keeps of its content."""
        # A generator's state tells by its digest alone, and it is large.
        if not self._keeps_content or slot.group is Group.RNG:
            self._event(slot.buffer, layout, digest, flags)
            return
        self._event(
            slot.buffer,
            layout,
            digest,
            flags,
            content=content if self._payload else None,
            stats=self._stats(digest, content, layout),
        )

    def _keep_content(self) -> None:
        level, now = self.selection.level, self.selection.keeps_content(self.step)
        self._payload = level == "full" and now
        self._keeps_content = level in ("stats", "full") and now

    def _resolve(self, slot: Slot) -> int:
        if slot.buffer == LEFT_OUT or not self.selection.takes(
            slot.group, slot.name, slot.component
        ):
            return LEFT_OUT
        return self.writer.buffer(slot.group, *slot.texts())

    def pieces_of(self, slot: Slot, value: object) -> list[Piece]:
        """The dense parts of any value with their digests; none where it cannot be read."""
        try:
            return [(piece, *piece.digest(on_host=self._on_host)) for piece in parts(value)]
        except Exception as reason:  # noqa: BLE001 - what a value refuses is its own affair
            what = (
                str(reason) if isinstance(reason, Unsupported) else f"it cannot be read ({reason})"
            )
            self.writer.uncovered(f"{slot.name}: {printable(what)}")
            return []

    def see_pieces(self, slot: Slot, pieces: Iterable[Piece], flags: int) -> Place | None:
        """Record what `pieces_of` returned; the place of its first part, as `see` tells it."""
        first: Slot | None = None
        for piece, digest, on_device in pieces:
            part = slot
            if piece.suffix:
                part = self.slot(slot.group, *slot.texts(piece.suffix))
            if part.buffer < 0:
                part.buffer = self._resolve(part)
                if part.buffer == LEFT_OUT:
                    continue
            if on_device:
                self.writer.algorithm(self._other_algorithm)
            content = piece.content if self._keeps_content else _EMPTY
            self.write(part, piece.layout, content, digest, flags | on_device)
            first = first or part
        if first is None:
            return None
        first.seen = first.seen + 1 if first.seen_in == self.step else 0
        first.seen_in = self.step
        return first.buffer, first.seen

    def _note(self, buffer: int, form: Form, digest: bytes, flags: int) -> None:
        """Write an event of which nothing but the digest is kept; the fast one of two ways.

        A row is appended in one call, which neither an interrupt nor another thread can divide.
        """
        self._append(self._pack(buffer, form.number, digest, flags, self._thread()))
        if not len(self._open) % self._look_at:
            self._look()

    def _look_if_due(self) -> None:
        """Look where several events were appended at once and may have passed the time."""
        if not 0 <= len(self._open) - self._looked_at < self._look_at:
            self._look()

    def _look(self) -> None:
        """Once in a while within a step: is it time to write, and may it go on so?"""
        self._looked_at = len(self._open)
        self.writer.look()
        if self.writer.failed:
            self.fail(self.writer.failed)
        elif self.writer.waiting_events > MOST_OPEN_EVENTS:
            self.fail(
                f"one step has more than {MOST_OPEN_EVENTS} events; record fewer groups, or leave "
                "out what runs between two steps of the optimizer"
            )
