"""What a process that is ended on purpose would have removed itself.

Left behind, a temporary folder fills the disk, and under the knob of fixed entropy its name is
taken in the next run, whose names are then others.
"""

import contextlib
import gc
import sys


def remove_temporary_folders() -> None:
    """Remove each `tempfile.TemporaryDirectory` of the program, as the interpreter does at its end.

    A process of `multiprocessing` does not do so: its folders may be those of its parent.
    """
    tempfile = sys.modules.get("tempfile")
    family = sys.modules.get("multiprocessing.process")
    if tempfile is None or (family is not None and family.parent_process() is not None):
        return
    kind = tempfile.TemporaryDirectory
    for made in gc.get_objects():
        # isinstance() would ask objects of the program for their class.
        if issubclass(type(made), kind) and _is_to_go(made):
            with contextlib.suppress(Exception):
                made.cleanup()


def _is_to_go(made: object) -> bool:
    # From Python 3.12 on a folder may be made to stay.
    return bool(getattr(made, "_delete", True))
