"""stable-baselines3: indices and samples of replay and rollout buffers."""

from typing import Any

from stable_baselines3.common.buffers import BaseBuffer

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.unedited.libraries.methods import hook
from probes.unedited.libraries.numbered import Numbered


def install(session: Any) -> None:
    """Hook every buffer."""
    names = Numbered("replay_buffer")

    def sampled(buffer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if session.recording is None:
            return
        name, kind = names.of(buffer), kind_of(buffer)
        indices = args[0] if args else kwargs.get("batch_inds")
        session.recording.observe(Group.REPLAY, name, "indices", indices, kind)
        session.recording.observe(Group.REPLAY, name, "sample", result, kind)

    hook(BaseBuffer, {"_get_samples": sampled})
