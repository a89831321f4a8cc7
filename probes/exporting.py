"""Taking what stands around calls of modules aside while a program is exported.

`torch.export` in its strict mode follows each module call into whatever stands around it, also
where that does nothing, and refuses what it then meets. Nothing is computed meanwhile, so
nothing is missed.
"""

import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from probes.stand_ins import beneath, retire


class Exporting:
    """Stands in for `torch.export.export` while installed."""

    def __init__(self, aside: Callable[[], AbstractContextManager[None]]) -> None:
        """Install, where torch has it.

        Args:
            aside: a context without the hooks.
        """
        module: Any = sys.modules.get("torch.export")
        self._module = module
        original = self._original = getattr(module, "export", None)
        if original is None:
            return

        @functools.wraps(original)
        def export(*args: Any, **kwargs: Any) -> Any:
            with aside():
                return original(*args, **kwargs)

        self._stand_in = module.export = export

    def remove(self) -> None:
        """Put torch's own function back."""
        if self._original is None:
            return
        if self._module.export is self._stand_in:
            self._module.export = beneath(self._original)
        else:
            retire(self._stand_in, self._original)
