"""tianshou's prioritized replay buffers: new priorities."""

from typing import Any

from tianshou.data.buffer.prio import PrioritizedReplayBuffer

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.unedited.libraries.methods import hook
from probes.unedited.libraries.tianshou import names


def install(session: Any) -> None:
    """Hook every prioritized buffer."""

    def weighed(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if session.recording is not None:
            values = args or tuple(kwargs.values())
            name, kind = names.of(buffer), kind_of(buffer)
            session.recording.observe(Group.REPLAY, name, "priority", values, kind)

    hook(PrioritizedReplayBuffer, {"update_weight": weighed})
