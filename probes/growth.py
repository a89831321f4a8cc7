"""What is put below a named module after its names were given.

torch tells of everything that is registered anywhere. Replacing what has a name already is no
news: a name belongs to the place, whatever stands there.
"""

import torch
from torch.compiler import is_compiling
from torch.nn.modules import module as torch_module

from probes.names import Names


class Growth:
    """Notices new parameters, buffers and modules while installed.

    Attributes:
        is_due: something has no name yet.
    """

    def __init__(self, names: Names) -> None:
        """Listen to torch.

        Args:
            names: what has a name.
        """
        self._names = names
        self.is_due = False
        self._handles = [
            torch_module.register_module_parameter_registration_hook(self._parameter),
            torch_module.register_module_buffer_registration_hook(self._buffer),
            torch_module.register_module_module_registration_hook(self._module),
        ]

    def remove(self) -> None:
        """Listen no more."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _parameter(self, module: torch.nn.Module, name: str, value: object) -> None:
        if not is_compiling() and module._parameters.get(name) is None:
            self._is_due_for(module)

    def _buffer(self, module: torch.nn.Module, name: str, value: object) -> None:
        if not is_compiling() and module._buffers.get(name) is None:
            self._is_due_for(module)

    def _module(self, module: torch.nn.Module, name: str, value: object) -> None:
        if not is_compiling():
            self._is_due_for(module)

    def _is_due_for(self, module: torch.nn.Module) -> None:
        self.is_due = self.is_due or module in self._names.modules
