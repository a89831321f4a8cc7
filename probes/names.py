"""Names: full paths of modules and parameters, where their code stands, what class they are."""

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

import torch
from torch.utils.weak import WeakIdKeyDictionary, WeakTensorKeyDictionary

from bisect_debugger.errors import UsageError
from probes.paths import short_path


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module as it is called in a run.

    Attributes:
        path: full path, ``model.encoder.gru``.
        root: name of the root module it was found under.
        is_root: it was handed to `attach` itself.
        location: ``file:line`` of its code, or of the nearest enclosing user class.
        kind: its class, e.g. ``torch.nn.modules.linear.Linear``.
        created: ``file:line`` of the call that created it, where that was seen.
    """

    path: str
    root: str
    is_root: bool
    location: str
    kind: str
    created: str = ""


@dataclass(frozen=True, slots=True)
class TensorName:
    """What a parameter or module buffer is called, and the module that owns it."""

    name: str
    owner: ModuleName
    role: str


class Held:
    """A parameter or module buffer in its place.

    The place counts and not the tensor: a module may put another tensor there at any time.
    Neither module nor tensor is kept alive.
    """

    __slots__ = ("_holder", "aliases", "is_buffer", "name")

    def __init__(self, name: TensorName, holder: torch.nn.Module, is_buffer: bool) -> None:
        """Know the place.

        Args:
            name: what it is called.
            holder: the module that it stands in.
            is_buffer: it is a module buffer and no parameter.
        """
        self.name = name
        self.aliases: list[TensorName] = []
        """Every other place where the same tensor is registered."""
        self._holder = weakref.ref(holder)
        self.is_buffer = is_buffer

    @property
    def is_gone(self) -> bool:
        """The module is no more."""
        return self._holder() is None

    def is_reached_again(self, module: torch.nn.Module, owner: ModuleName) -> bool:
        """The same module was found under another root, as a wrapper's content is."""
        return self._holder() is module and self.name.owner.root != owner.root

    @property
    def tensor(self) -> torch.Tensor | None:
        """What stands there now."""
        module = self._holder()
        if module is None:
            return None
        table = module._buffers if self.is_buffer else module._parameters
        try:
            # A script module's table has no `get`.
            return table[self.name.role]
        except KeyError:
            return None


class LooseHeld(Held):
    """A parameter of no module: what an optimizer was handed directly."""

    __slots__ = ("_tensor",)

    def __init__(self, name: TensorName, tensor: torch.Tensor) -> None:
        """Know the tensor itself."""
        self.name, self.aliases, self.is_buffer = name, [], False
        self._tensor = weakref.ref(tensor)

    def is_reached_again(self, module: torch.nn.Module, owner: ModuleName) -> bool:
        """No module holds it, so whichever does now is new."""
        return False

    @property
    def is_gone(self) -> bool:
        """The tensor is no more."""
        return self._tensor() is None

    @property
    def tensor(self) -> torch.Tensor | None:
        """The tensor, while it lives."""
        return self._tensor()


class Names:
    """Everything that has a name under the roots. First name wins for what is shared.

    Nothing that has a name is kept alive by it.
    """

    def __init__(self, created: Callable[[torch.nn.Module], str] | None = None) -> None:
        """Know nothing yet.

        Args:
            created: tells the ``file:line`` that created a module, or an empty string.
        """
        self._created = created or (lambda module: "")
        # By identity: a module may compare by value, and then it has no hash.
        self.modules: MutableMapping[torch.nn.Module, ModuleName] = WeakIdKeyDictionary()
        self._roots: dict[str, weakref.ref[torch.nn.Module]] = {}
        self.parameters: MutableMapping[torch.Tensor, Held] = WeakTensorKeyDictionary()
        self.buffers: MutableMapping[torch.Tensor, Held] = WeakTensorKeyDictionary()
        self.notes: list[str] = []
        """What a reader of the run should know: shared modules, compiled regions."""

    def add_root(self, name: str, root: torch.nn.Module) -> "Added":
        """Name a root module, all modules below it, their parameters and buffers.

        Returns:
            What had no name before.
        """
        owners: dict[str, ModuleName] = {}
        added = Added()
        self._roots[name] = weakref.ref(root)
        found = [(_join(name, path), module) for path, module in modules_below(root)]
        for full, module in found:
            known = self.modules.get(module)
            location = known.location if known else _location_of(module)
            owner = ModuleName(
                full,
                name,
                module is root,
                location or _enclosing_location(owners, full),
                kind_of(module),
                self._created(module),
            )
            # A compiled module and what it wraps have one path; the outer one was there first.
            owners.setdefault(full, owner)
            if known is None:
                self.modules[module] = owner
                added.modules.append((module, owner))
                self._note_blind_spots(full, module)
            elif known.path != full and known.root == name:
                self.notes.append(f"{full} is the same module as {known.path} and has no own rows")
        for is_buffer, table in ((False, self.parameters), (True, self.buffers)):
            for full, module in found:
                added.tensors += _add_tensors(table, module, is_buffer, full, owners[full])
        return added

    def grown(self, module: torch.nn.Module | None = None) -> list["Added"]:
        """Name what was put below the roots since.

        Args:
            module: what has to be part of a root for it to be looked at; None looks at all.
        """
        roots = [
            (name, root) for name, ref in list(self._roots.items()) if (root := ref()) is not None
        ]
        return [
            self.add_root(name, root)
            for name, root in roots
            if module is None or any(one is module for _, one in modules_below(root))
        ]

    def add_loose(self, name: str, tensor: torch.Tensor, component: str) -> Held:
        """Name a parameter of no module."""
        owner = ModuleName(component, component, False, "", "")
        held = self.parameters[tensor] = LooseHeld(TensorName(name, owner, name), tensor)
        return held

    def replaced(self, before: torch.Tensor | None, now: torch.Tensor, held: Held) -> None:
        """Note that a module holds another parameter in the same place."""
        # Where two change places, the other place may have this tensor by now.
        if before is not None and self.parameters.get(before) is held:
            del self.parameters[before]
        self.parameters[now] = held

    def _note_blind_spots(self, path: str, module: torch.nn.Module) -> None:
        if _is_compiled(module):
            self.notes.append(f"{path} is compiled: what happens inside it is one component")
        elif isinstance(module, torch.jit.ScriptModule):
            self.notes.append(f"{path} is a script module: the modules inside it are not seen")


@dataclass(slots=True)
class Added:
    """What got a name with a root: modules, and the places of parameters and buffers."""

    modules: list[tuple[torch.nn.Module, ModuleName]] = field(default_factory=list)
    tensors: list[Held] = field(default_factory=list)


def _add_tensors(
    table: MutableMapping[torch.Tensor, Held],
    module: torch.nn.Module,
    is_buffer: bool,
    path: str,
    owner: ModuleName,
) -> list[Held]:
    added = []
    for role, tensor in (module._buffers if is_buffer else module._parameters).items():
        if tensor is None:
            continue
        name = TensorName(f"{path}.{role}", owner, role)
        held = table.get(tensor)
        if held is None:
            held = table[tensor] = Held(name, module, is_buffer)
            added.append(held)
        elif (
            held.name.name != name.name
            and name not in held.aliases
            and not held.is_reached_again(module, owner)
        ):
            held.aliases.append(name)
    return added


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


def modules_below(
    module: torch.nn.Module, path: str = "", above: tuple[int, ...] = ()
) -> Iterator[tuple[str, torch.nn.Module]]:
    """A module and all below it with their paths, each as often as it stands there.

    As `named_modules` does, which however asks modules for their hash.

    Args:
        module: where the walk begins.
        path: its path.
        above: ids of the modules that it is reached through; one that stands below itself is
            not gone into again.
    """
    yield path, module
    for name, child in module._modules.items():
        if child is not None and child is not module and id(child) not in above:
            below = f"{path}.{name}" if path else name
            yield from modules_below(child, below, (*above, id(module)))


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
