"""What one call was given or gave back, as a set: a dict has an order that means nothing.

The arguments of one call are recorded one after the other, in the order of a dict or of keywords,
which may follow that of a set. Such an order is no divergence of the training.
"""

from collections.abc import Callable, Sequence

from bisect_debugger.format.groups import Group
from bisect_debugger.runs import Buffer

_GROUPS = (Group.DATA, Group.FORWARD, Group.REPLAY, Group.USER)
"""Groups of which one call leaves several events."""


def in_canonical_order(keys: Sequence[int], buffer_of: Callable[[int], Buffer]) -> list[int]:
    """Indices of events with those of each call sorted by their buffer.

    Args:
        keys: identity of each event's buffer, common to both runs, in execution order.
        buffer_of: the buffer that a key stands for.
    """
    order: list[int] = []
    stretch: list[int] = []
    call: tuple[object, ...] | None = None
    met: set[int] = set()
    for index, key in enumerate(keys):
        now = _call(buffer_of(key))
        # A buffer that comes again is of the next call.
        if now is None or now != call or key in met:
            order += sorted(stretch, key=lambda i: keys[i])
            stretch, met = [], set()
        call = now
        stretch.append(index)
        met.add(key)
    return order + sorted(stretch, key=lambda i: keys[i])


def _call(buffer: Buffer) -> tuple[object, ...] | None:
    """Whom a call belongs to and on which side of it the buffer stands; None for other events."""
    if buffer.group not in _GROUPS:
        return None
    if buffer.group is Group.REPLAY:
        return buffer.group, buffer.component, ""
    side = next((word for word in ("in", "out") if buffer.role.startswith(word)), "")
    # A batch is of the component `data`, whatever root it enters.
    root = buffer.name.removesuffix(buffer.role) if buffer.group is Group.DATA else ""
    return buffer.group, buffer.component, side, root
