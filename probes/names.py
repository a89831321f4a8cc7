"""Names: full paths of modules and parameters, where their code stands, what class they are."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from bisect_debugger.errors import UsageError


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module as it is called in a run.

    Attributes:
        path: full path, ``model.encoder.gru``.
        root: name of the root module it was found under.
        is_root: it was handed to `attach` itself.
        location: ``file:line`` of its code, or of the nearest enclosing user class.
        kind: its class, e.g. ``torch.nn.modules.linear.Linear``.
    """

    path: str
    root: str
    is_root: bool
    location: str
    kind: str


@dataclass(frozen=True, slots=True)
class TensorName:
    """A parameter or module buffer: its full name and the module that owns it."""

    name: str
    owner: ModuleName
    role: str
    aliases: tuple[tuple[str, ModuleName, str], ...] = ()
    """(name, owner, role) of every other place where the same tensor is registered."""


@dataclass(slots=True)
class Names:
    """Everything that has a name under the roots. First name wins for what is shared."""

    modules: dict[torch.nn.Module, ModuleName] = field(default_factory=dict)
    parameters: dict[torch.Tensor, TensorName] = field(default_factory=dict)
    buffers: dict[torch.Tensor, TensorName] = field(default_factory=dict)
    compiled: list[str] = field(default_factory=list)

    def add_root(self, name: str, root: torch.nn.Module) -> None:
        """Name a root module, all modules below it, their parameters and buffers."""
        owners: dict[str, ModuleName] = {}
        for path, module in root.named_modules(remove_duplicate=False):
            full = _join(name, path)
            entry = self.modules.get(module)
            if entry is None:
                entry = ModuleName(full, name, module is root, "", kind_of(module))
                location = _location_of(module) or _enclosing_location(owners, full)
                entry = ModuleName(full, name, module is root, location, entry.kind)
                self.modules[module] = entry
                if _is_compiled(module):
                    self.compiled.append(full)
            owners[full] = ModuleName(full, name, module is root, entry.location, entry.kind)
        self._add(self.parameters, root.named_parameters(remove_duplicate=False), name, owners)
        self._add(self.buffers, root.named_buffers(remove_duplicate=False), name, owners)

    def _add(
        self,
        table: dict[torch.Tensor, TensorName],
        found: Iterable[tuple[str, torch.Tensor]],
        root: str,
        owners: Mapping[str, ModuleName],
    ) -> None:
        for path, tensor in found:
            full = _join(root, path)
            owner_path, _, role = full.rpartition(".")
            owner = owners.get(owner_path) or owners[root]
            known = table.get(tensor)
            if known is None:
                table[tensor] = TensorName(full, owner, role)
            elif full != known.name:
                aliases = (*known.aliases, (full, owner, role))
                table[tensor] = TensorName(known.name, known.owner, known.role, aliases)


def named_roots(
    model: torch.nn.Module | Mapping[str, torch.nn.Module] | Iterable[torch.nn.Module],
) -> dict[str, torch.nn.Module]:
    """Root modules by name: ``model`` for one, ``model[i]`` for a list, keys for a mapping.

    Raises:
        UsageError: something handed over is not a module.
    """
    if isinstance(model, torch.nn.Module):
        roots: dict[str, torch.nn.Module] = {"model": model}
    elif isinstance(model, Mapping):
        roots = {str(name): module for name, module in model.items()}
    elif isinstance(model, (list, tuple)):
        roots = {f"model[{index}]": module for index, module in enumerate(model)}
    else:
        roots = {"model": model}  # type: ignore[dict-item]
    for name, module in roots.items():
        if not isinstance(module, torch.nn.Module):
            raise UsageError(
                f"attach was given a {type(module).__name__} as {name!r}, which is not a "
                "torch.nn.Module; hand over the model, or a dict of names and models."
            )
    if not roots:
        raise UsageError("attach was given no model; hand over at least one torch.nn.Module.")
    return roots


def kind_of(module: object) -> str:
    """The class of an object with its module, e.g. ``torch.nn.modules.linear.Linear``."""
    return f"{type(module).__module__}.{type(module).__qualname__}"


def short_path(path: str) -> str:
    """A path relative to the working directory where it lies below it."""
    if not path.startswith("/"):
        return path
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def _join(root: str, path: str) -> str:
    parts = [part for part in path.split(".") if part and part != "_orig_mod"]
    return ".".join([root, *parts])


def _enclosing_location(owners: Mapping[str, ModuleName], full: str) -> str:
    path = full
    while "." in path:
        path = path.rpartition(".")[0]
        if path in owners:
            return owners[path].location
    return ""


def _location_of(module: torch.nn.Module) -> str:
    """Where the forward of the module's class stands; empty for torch's own classes."""
    kind = type(module)
    if kind.__module__.split(".")[0] in ("torch", "torchvision"):
        return ""
    try:
        code = inspect.unwrap(kind.forward).__code__
    except AttributeError:
        return ""
    return f"{short_path(code.co_filename)}:{code.co_firstlineno}"


def _is_compiled(module: torch.nn.Module) -> bool:
    wrapped = type(module).__name__ == "OptimizedModule"
    return wrapped or getattr(module, "_compiled_call_impl", None) is not None
