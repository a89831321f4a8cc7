"""Python numbers as the file holds them: one element of 8 bytes, or of one."""

import struct

from bisect_debugger.format.layouts import Layout

_SCALARS: dict[type, tuple[Layout, struct.Struct]] = {
    float: (Layout("float64", ()), struct.Struct("<d")),
    int: (Layout("int64", ()), struct.Struct("<q")),
    bool: (Layout("bool", ()), struct.Struct("?")),
}


def scalar_bytes(value: object) -> tuple[Layout, bytes] | None:
    """Layout and bytes of a Python number; None for what is none, or an enormous one."""
    found = _SCALARS.get(type(value))
    if found is None:
        return None
    layout, packer = found
    try:
        return layout, packer.pack(value)
    except struct.error:
        return None
