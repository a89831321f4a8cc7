"""Probes: record what a PyTorch trainer computes, without changing it.

import probes

with probes.attach(model, optimizer, out="a.h5") as recording:
    train(...)

torch is imported when a recording is asked for and not before, because parts of this package
run in processes that may never need it.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probes.attach import attach
    from probes.recording import Recording

__all__ = ["Recording", "attach", "record", "watch"]


def record(name: str, value: object, component: str = "") -> None:
    """Record a value by hand in the current recording; see `Recording.record`.

    The current recording is the innermost one that was entered, else the one that
    ``bisect-debugger twin`` or ``record`` makes of this process. Without any nothing is done, so
    the line may stay in the trainer.
    """
    from probes.recording import current

    recording = current()
    if recording is not None:
        recording.record(name, value, component)


def watch(target: object, method: str, name: str = "") -> None:
    """Record what a method returns in the current recording; see `record` and `Recording.watch`.

    Before the recording of the process has begun, the object is kept in mind until then.
    """
    from probes.recording import current, watch_later

    recording = current()
    if recording is not None:
        recording.watch(target, method, name)
    else:
        watch_later(target, method, name)


class _Package(ModuleType):
    """This package. Properties, because importing a submodule would set a plain attribute."""

    @property
    def attach(self) -> Any:
        """The function, which hides the submodule of the same name."""
        from probes.attach import attach

        return attach

    @attach.setter
    def attach(self, submodule: ModuleType) -> None:
        pass

    @property
    def Recording(self) -> Any:  # noqa: N802 - the name of the class
        """The class."""
        from probes.recording import Recording

        return Recording


sys.modules[__name__].__class__ = _Package
