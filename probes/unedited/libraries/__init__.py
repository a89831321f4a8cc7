"""Libraries that hand data to a training, hooked when the program imports them.

Nothing is imported here and no file of theirs is changed; what is not imported costs nothing.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

LIBRARIES = {
    "torch.utils.data.dataloader": "data_loader",
    "torch.amp.grad_scaler": "grad_scaler",
    "gymnasium.core": "gymnasium",
    "gymnasium.vector.vector_env": "gymnasium_vector",
    "stable_baselines3.common.buffers": "stable_baselines3",
    "torchrl.data.replay_buffers.replay_buffers": "torchrl",
    "tianshou.data.buffer.buffer_base": "tianshou",
    "tianshou.data.buffer.prio": "tianshou_prioritized",
}
"""Module of a library -> module of this package that hooks it."""


def watch(session: Any, when_imported: Callable[[str, Callable[[], None]], None]) -> None:
    """Hook each library as soon as it is imported.

    Args:
        session: of this process.
        when_imported: calls back after a module was loaded.
    """
    for library, ours in LIBRARIES.items():
        when_imported(library, functools.partial(_install, ours, session))


def _install(name: str, session: Any) -> None:
    try:
        importlib.import_module(f"{__name__}.{name}").install(session)
    except Exception as error:  # noqa: BLE001 - a probe must never change the run
        session.settings.note("library", name=name, reason=f"{type(error).__name__}: {error}")
