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
    """Record a value by hand in the current recording; see `Recording.record`."""
    from probes.recording import current

    current().record(name, value, component)


def watch(target: object, method: str, name: str = "") -> None:
    """Record what a method returns in the current recording; see `Recording.watch`."""
    from probes.recording import current

    current().watch(target, method, name)


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
