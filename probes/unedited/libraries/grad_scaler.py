"""`torch.amp.GradScaler`: the scale after each update."""

from typing import Any

from torch.amp import grad_scaler

from bisect_debugger.format.groups import Group
from probes.unedited.libraries.methods import hook


def install(session: Any) -> None:
    """Hook every scaler's update."""

    def updated(scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scale = getattr(scaler, "_scale", None)
        if session.recording is not None and scale is not None:
            session.recording.observe(Group.OPTIM, "grad_scaler", "scale", scale)

    hook(grad_scaler.GradScaler, {"update": updated})
