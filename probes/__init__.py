"""Probes: record what a PyTorch trainer computes, without changing it.

import probes

with probes.attach(model, optimizer, out="a.h5") as recording:
    train(...)
"""

from probes.attach import attach
from probes.recording import Recording, current

__all__ = ["Recording", "attach", "record", "watch"]


def record(name: str, value: object, component: str = "") -> None:
    """Record a value by hand in the current recording; see `Recording.record`."""
    current().record(name, value, component)


def watch(target: object, method: str, name: str = "") -> None:
    """Record what a method returns in the current recording; see `Recording.watch`."""
    current().watch(target, method, name)
