"""Takes down what a session asks to isolate, and tells the command what came of it."""

import sys
from typing import Any

from probes.isolation.capture import ModuleCapture
from probes.isolation.operator import OperatorCapture
from probes.names import Names
from probes.zoom.log import OperatorLog
from probes.zoom.mode import NameOf, Where
from probes.zoom.window import Zoom


class _Asked(Zoom):
    """Waits for one operator, and tells when it goes what came of it."""

    def __init__(self, asked: dict[str, Any], settings: Any) -> None:
        self._settings = settings
        self._capture: OperatorCapture | None = None

        def make(log: OperatorLog, where: Where, name_of: NameOf) -> OperatorCapture:
            self._capture = OperatorCapture(log, where, name_of, asked)
            return self._capture

        super().__init__(frozenset((asked["step"],)), at_end=True, make=make)

    def remove(self) -> None:
        """Take the mode away, and tell."""
        super().remove()
        reason = "its step was not reached" if self._capture is None else self._capture.reason
        _tell(self._settings, reason)


def isolate(recording: Any, names: Names, settings: Any) -> ModuleCapture | None:
    """Wait for the module call or the operator that the session asks for.

    Args:
        recording: of the process.
        names: what modules are called.
        settings: of the session.

    Returns:
        What waits for a module call, and has to be told of the one that goes on; None where it is
        an operator.
    """
    asked = settings.values["isolate"]
    if "operator" in asked:
        zoom = _Asked(asked, settings)
        zoom.follow(recording.recorder, names)
        recording.add_probe(zoom)
        return None
    capture = ModuleCapture(
        recording.recorder, names, asked, lambda reason: _tell(settings, reason)
    )
    recording.add_probe(capture)
    return capture


def _tell(settings: Any, reason: str) -> None:
    if reason:
        settings.note("not-isolated", reason=reason)
    else:
        settings.note("isolated", python=sys.executable)
