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
    """What a parameter or module buffer is called, and the module that owns it."""

    name: str
    owner: ModuleName
    role: str


@dataclass(slots=True)
class Held:
    """A parameter or module buffer in its place.

    The place counts and not the tensor: a module may put another tensor there at any time.

    Attributes:
        name: what it is called.
        holder: the module's own table that it stands in.
        aliases: every other place where the same tensor is registered.
    """

    name: TensorName
    holder: Mapping[str, torch.Tensor | None]
    aliases: list[TensorName] = field(default_factory=list)

    @property
    def tensor(self) -> torch.Tensor | None:
        """What stands there now."""
        try:
            return self.holder[self.name.role]
        except KeyError:
            return None


@dataclass(slots=True)
class Names:
    """Everything that has a name under the roots. First name wins for what is shared."""

    modules: dict[torch.nn.Module, ModuleName] = field(default_factory=dict)
    parameters: dict[torch.Tensor, Held] = field(default_factory=dict)
    buffers: dict[torch.Tensor, Held] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What a reader of the run should know: shared modules, compiled regions."""

    def add_root(self, name: str, root: torch.nn.Module) -> None:
        """Name a root module, all modules below it, their parameters and buffers."""
        owners: dict[str, ModuleName] = {}
        found = [
            (_join(name, path), module)
            for path, module in root.named_modules(remove_duplicate=False)
        ]
        for full, module in found:
            known = self.modules.get(module)
            location = known.location if known else _location_of(module)
            owner = ModuleName(
                full,
                name,
                module is root,
                location or _enclosing_location(owners, full),
                kind_of(module),
            )
            # A compiled module and what it wraps have one path; the outer one was there first.
            owners.setdefault(full, owner)
            if known is None:
                self.modules[module] = owner
                self._note_blind_spots(full, module)
            elif known.path != full:
                self.notes.append(f"{full} is the same module as {known.path} and has no own rows")
        for table, holders in (
            (self.parameters, [(full, module._parameters) for full, module in found]),
            (self.buffers, [(full, module._buffers) for full, module in found]),
        ):
            for full, holder in holders:
                _add_tensors(table, holder, full, owners[full])

    def replaced(self, before: torch.Tensor, now: torch.Tensor) -> None:
        """Note that a module holds another parameter in the same place."""
        self.parameters[now] = self.parameters.pop(before)

    def _note_blind_spots(self, path: str, module: torch.nn.Module) -> None:
        if _is_compiled(module):
            self.notes.append(f"{path} is compiled: what happens inside it is one component")
        elif isinstance(module, torch.jit.ScriptModule):
            self.notes.append(f"{path} is a script module: the modules inside it are not seen")


def _add_tensors(
    table: dict[torch.Tensor, Held],
    holder: Mapping[str, torch.Tensor | None],
    path: str,
    owner: ModuleName,
) -> None:
    for role, tensor in holder.items():
        if tensor is None:
            continue
        name = TensorName(f"{path}.{role}", owner, role)
        held = table.setdefault(tensor, Held(name, holder))
        if held.name.name != name.name:
            held.aliases.append(name)


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
