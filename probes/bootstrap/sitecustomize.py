"""Loaded by every Python process below `bisect-debugger record`, before anything else.

It leaves a hook for `import torch` and steps aside: its folder leaves the path again, and the
sitecustomize that it stands in front of runs as if it were not there.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to load


def _step_aside() -> None:
    # An entry that names the folder in another way is left alone.
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]


def _run_the_shadowed() -> None:
    """Load the sitecustomize that would have been found without this one."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec(__name__)
    if spec is None or spec.loader is None or spec.origin == __file__:
        return
    module = module_from_spec(spec)
    sys.modules[__name__] = module
    spec.loader.exec_module(module)


if os.environ.get("BISECT_DEBUGGER_SESSION"):
    try:
        import bisect_debugger_bootstrap

        bisect_debugger_bootstrap.wait_for_torch()
    except Exception as error:  # noqa: BLE001 - a trainer must start whatever happens here
        sys.stderr.write(f"bisect-debugger: nothing is recorded in this process ({error}).\n")
_step_aside()
_run_the_shadowed()
