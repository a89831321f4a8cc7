"""gymnasium's vectors of environments; see `gymnasium` of this package."""

from typing import Any

from gymnasium.vector.vector_env import VectorEnv

from probes.unedited.libraries.gymnasium import hook_environments
from probes.unedited.libraries.numbered import Numbered


def install(session: Any) -> None:
    """Hook every vector of environments."""
    hook_environments(session, VectorEnv, Numbered("envs"), "gymnasium.vector.VectorEnv.reset")
