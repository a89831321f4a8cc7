"""gymnasium: actions that go into environments, and what comes out of resets and steps.

The ``info`` dicts are left out: wrappers put wall-clock times in there.
"""

from typing import Any

from gymnasium.core import Env

from bisect_debugger.format.groups import Group
from probes.names import kind_of
from probes.seeding import ENTROPY, caller
from probes.unedited.libraries.methods import Depth, hook
from probes.unedited.libraries.numbered import Numbered

_STEP = ("observation", "reward", "terminated", "truncated")

depth = Depth()
"""An environment's step runs inside that of a vector of environments."""


def install(session: Any) -> None:
    """Hook every environment."""
    hook_environments(session, Env, Numbered("env"), "gymnasium.Env.reset")


def hook_environments(session: Any, base: type, names: Numbered, reset_call: str) -> None:
    """Hook `reset` and `step` of a tree of environment classes.

    Args:
        session: of this process.
        base: the class that all derive from.
        names: names the environments.
        reset_call: what a reset is called among the seeding calls.
    """

    def was_reset(env: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        seed = kwargs.get("seed", args[0] if args else None)
        session.note_seeding(reset_call, ENTROPY if seed is None else repr(seed)[:100], caller())
        if session.recording is not None and isinstance(result, tuple) and result:
            name, kind = names.of(env), kind_of(env)
            see = session.recording.observe
            see(Group.SIMULATOR, name, "reset.observation", result[0], kind)

    def stepped(env: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if session.recording is None or not isinstance(result, tuple):
            return
        name, kind = names.of(env), kind_of(env)
        see = session.recording.observe
        action = args[0] if args else kwargs.get("action", kwargs.get("actions"))
        see(Group.DATA, name, "action", action, kind)
        for part, value in zip(_STEP, result, strict=False):
            see(Group.SIMULATOR, name, f"step.{part}", value, kind)

    hook(base, {"reset": was_reset, "step": stepped}, depth)
