"""torchrl: samples of replay buffers with their indices and weights, and new priorities."""

from typing import Any

from torchrl.data.replay_buffers.replay_buffers import ReplayBuffer

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.unedited.libraries.methods import hook
from probes.unedited.libraries.numbered import Numbered


def install(session: Any) -> None:
    """Hook every replay buffer."""
    names = Numbered("replay_buffer")

    def see(buffer: Any, role: str, value: Any) -> None:
        if session.recording is not None:
            name, kind = names.of(buffer), kind_of(buffer)
            session.recording.observe(Group.REPLAY, name, role, value, kind)

    def sampled(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        see(buffer, "sample", result)

    def weighed(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        see(buffer, "priority", args or tuple(kwargs.values()))

    hook(ReplayBuffer, {"sample": sampled})
    hook(ReplayBuffer, {"update_priority": weighed, "update_tensordict_priority": weighed})
