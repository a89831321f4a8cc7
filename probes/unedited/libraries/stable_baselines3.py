"""stable-baselines3: indices and samples of replay and rollout buffers."""

from typing import Any

from stable_baselines3.common.buffers import BaseBuffer

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.unedited.libraries.methods import Depth, hook
from probes.unedited.libraries.numbered import Numbered


def install(session: Any) -> None:
    """Hook every buffer."""
    names = Numbered("replay_buffer")
    inside_a_sample = Depth()

    def see(buffer: Any, role: str, value: Any) -> None:
        if session.recording is not None:
            name, kind = names.of(buffer), kind_of(buffer)
            session.recording.observe(Group.REPLAY, name, role, value, kind)

    def taken(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        see(buffer, "indices", args[0] if args else kwargs.get("batch_inds"))
        # A rollout buffer hands this out itself; a replay buffer's sample may change it first.
        if not inside_a_sample.value:
            see(buffer, "sample", result)

    def sampled(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        see(buffer, "sample", result)

    hook(BaseBuffer, {"_get_samples": taken})
    hook(BaseBuffer, {"sample": sampled}, inside_a_sample)
