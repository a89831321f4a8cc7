"""Functions that stand in for others while a recording goes on, taken away in any order.

Recordings may overlap, and the first one need not end last. A stand-in with another one over it
cannot be taken out from below; it is retired, and whoever takes the upper one away puts back what
stands beneath. torch is not imported: code that runs before it asks.
"""

from typing import Any

_RETIRED = "__bisect_debugger_retired__"


def retire(stand_in: Any, original: object) -> None:
    """Note that a stand-in is of no use any more, though something stands over it."""
    # With itself, because who wraps a function copies its attributes.
    vars(stand_in)[_RETIRED] = (stand_in, original)


def beneath(function: Any) -> Any:
    """What stands beneath all retired stand-ins; most often the function itself."""
    while True:
        found = getattr(function, "__dict__", {}).get(_RETIRED)
        if found is None or found[0] is not function:
            return function
        function = found[1]
