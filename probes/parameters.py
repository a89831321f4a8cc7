"""Parameters and module buffers: at init, after each step, and changed between steps."""

import torch

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from probes.content import dense_bytes, is_plain
from probes.names import Names, TensorName
from probes.recorder import Recorder


class Parameters:
    """Records every named parameter and module buffer."""

    def __init__(self, recorder: Recorder, names: Names) -> None:
        """Record what has a name."""
        self._recorder = recorder
        self._named = {**names.parameters, **names.buffers}
        self._digests: dict[str, bytes] = {}

    def at_init(self) -> None:
        """Their values when recording begins; a shared one also under its other names."""
        for tensor, name in self._named.items():
            self._see(tensor, name, EventFlag.INIT)
            for alias, owner, role in name.aliases:
                self._recorder.value(
                    Group.PARAM,
                    alias,
                    owner.path,
                    role,
                    tensor,
                    subject=name.name,
                    location=owner.location,
                    kind=owner.kind,
                    flags=EventFlag.INIT,
                )

    def after_step(self) -> None:
        """Their values after an optimizer step."""
        for tensor, name in self._named.items():
            self._see(tensor, name, EventFlag.NONE)

    def before_step(self) -> None:
        """Those that somebody changed since the end of the last step.

        They are hashed again: a write through `.data` or shared memory does not raise the
        tensor's version, so the version cannot tell.
        """
        for tensor, name in self._named.items():
            digest = _digest(tensor)
            if digest is not None and self._digests.get(name.name, digest) != digest:
                self._see(tensor, name, EventFlag.OUTSIDE_STEP)

    def forget(self) -> None:
        """Steps outside the window are not watched, so what was known is stale after them."""
        self._digests.clear()

    def _see(self, tensor: torch.Tensor, name: TensorName, flags: EventFlag) -> None:
        owner = name.owner
        if not is_plain(tensor):
            self._recorder.value(
                Group.PARAM,
                name.name,
                owner.path,
                name.role,
                tensor,
                location=owner.location,
                kind=owner.kind,
                flags=flags,
            )
            return
        layout, content = dense_bytes(tensor)
        digest = content_digest(content, layout)
        self._digests[name.name] = digest
        buffer = self._recorder.buffer(
            Group.PARAM, name.name, owner.path, name.role, "", owner.location, owner.kind
        )
        if buffer is not None:
            self._recorder.hashed(buffer, layout, content, digest, flags)


def _digest(tensor: torch.Tensor) -> bytes | None:
    if not is_plain(tensor):
        return None
    layout, content = dense_bytes(tensor)
    return content_digest(content, layout)
