"""Isolation: the culprit taken out of its training, so that it can be executed again and again.

One more run goes as far as the origin's step. There one module call, or one operator, is taken
down: its inputs, parameters, buffers, the state of every generator, and the gradient that came back
to its outputs. What is written is a folder with a script and its inputs, which runs without this
tool: it executes forward and backward again, apart, and counts how often they differ. `twin` runs
this very script, in a process of its own; nothing is executed twice in the training.

Nothing is pickled. A module is written as a recipe of plain values, from which the script makes it
without calling its constructor; the classes of the program's own main file stand in the script, as
much of the source as they need, and others are imported. What no recipe can hold is refused with
the reason: a module with hooks of its own, an attribute that is a socket, a class in a function.

recipes      plain values from which modules and other objects are made again
definitions  the part of a source file that some names need
capture      takes down a module call
operator     takes down an operator
folder       writes the folder
script       the script, as it is written
"""

from collections.abc import Callable


class NotIsolated(Exception):
    """The culprit cannot be taken out; the message is a clause that says why."""


def trouble(call: Callable[[], None]) -> str:
    """Do something on the way to an isolation; why it could not be done, or empty."""
    try:
        call()
    except NotIsolated as reason:
        return str(reason)
    except Exception as error:  # noqa: BLE001 - a probe must never change the run
        return f"{type(error).__name__}: {error}"[:300]
    return ""
