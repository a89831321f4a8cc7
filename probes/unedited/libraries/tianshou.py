"""tianshou: samples of replay buffers with their indices."""

from typing import Any

from tianshou.data.buffer.buffer_base import ReplayBuffer

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.unedited.libraries.methods import hook
from probes.unedited.libraries.numbered import Numbered

names = Numbered("replay_buffer")


def install(session: Any) -> None:
    """Hook every replay buffer."""

    def sampled(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if session.recording is None or not isinstance(result, tuple):
            return
        batch, indices = result
        name, kind = names.of(buffer), kind_of(buffer)
        session.recording.observe(Group.REPLAY, name, "indices", indices, kind)
        session.recording.observe(Group.REPLAY, name, "sample", dict(batch.items()), kind)

    hook(ReplayBuffer, {"sample": sampled})
