"""Recipes: plain values from which a script makes modules and their attributes again.

Each value is a pair of a word and what it needs. Tensors and objects with a state of their own go
into tables, so that what is shared stays shared. The other half, which makes the values again, is
`probes.isolation.script`.
"""

import enum
import functools
import random
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from bisect_debugger.errors import printable
from probes.isolation import NotIsolated
from probes.memory import unseen

MAIN = "__main__"

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_MAPPINGS = (dict, OrderedDict)
_MOST_OBJECTS = 20_000
_BUILT_IN = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "builtins", "math")


class Recipes:
    """Writes values as recipes.

    Attributes:
        tensors: every tensor once, as a dict of its content and kind.
        objects: every module and object once, as a dict of its class and state.
        main: names of the main file that are needed.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.tensors: list[dict[str, Any]] = []
        self.objects: list[dict[str, Any]] = []
        self.main: dict[str, None] = {}
        self._seen: dict[int, tuple[str, int]] = {}
        self._kept: list[object] = []

    def of(self, value: Any, where: str) -> list[Any]:
        """The recipe of a value.

        Args:
            value: what is to be made again.
            where: what it is called, for the reason of a refusal.

        Raises:
            NotIsolated: there is none.
        """
        kind = type(value)
        if kind in _PLAIN:
            return ["value", value]
        known = self._seen.get(id(value))
        if known is not None:
            return list(known)
        if isinstance(value, torch.Tensor):
            return self._tensor(value, where)
        if kind in _SEQUENCES:
            items = [self.of(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return [_SEQUENCES[kind], items]
        if kind in _MAPPINGS:
            return ["dict", self._items(value, where), kind is OrderedDict]
        if kind is torch.Size:
            return ["size", list(value)]
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return ["torch", str(value).removeprefix("torch.")]
        if kind is torch.device:
            return ["device", str(value)]
        found = self._library(value, where) or self._named(value) or self._object(value, where)
        if found is None:
            raise NotIsolated(f"{printable(where)} is a {printable(kind.__name__)}")
        return found

    def _items(self, value: Any, where: str) -> list[list[Any]]:
        return [
            [self.of(key, where), self.of(item, f"{where}.{key}")]
            for key, item in list(value.items())
        ]

    def _remember(self, value: object, word: str, index: int) -> list[Any]:
        # Kept, so that its id stays its own.
        self._kept.append(value)
        self._seen[id(value)] = (word, index)
        return [word, index]

    def _tensor(self, tensor: torch.Tensor, where: str) -> list[Any]:
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise NotIsolated(f"{printable(where)} is a {printable(type(tensor).__name__)}")
        with unseen():
            content = tensor.detach().clone()
        self.tensors.append(
            {
                "data": content,
                "parameter": isinstance(tensor, torch.nn.Parameter),
                "requires_grad": tensor.requires_grad,
                "leaf": tensor.is_leaf,
            }
        )
        return self._remember(tensor, "tensor", len(self.tensors) - 1)

    def _library(self, value: Any, where: str) -> list[Any] | None:
        """Things of Python, numpy and torch that have a state which can be read."""
        kind = type(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            return ["array", self._tensor(torch.from_numpy(value.copy()), where)[1]]
        if isinstance(value, np.generic):
            return ["scalar", str(value.dtype), value.item()]
        if kind is np.random.Generator:
            state = value.bit_generator.state
            return ["numpy_generator", type(value.bit_generator).__name__, self.of(state, where)]
        if kind is random.Random:
            return ["random", self.of(value.getstate(), where)]
        if kind is torch.Generator:
            with unseen():
                return ["generator", str(value.device), self._tensor(value.get_state(), where)[1]]
        if kind is ThreadPoolExecutor:
            return ["pool", value._max_workers]
        if kind in _LOCKS:
            return ["lock", kind is _LOCKS[1]]
        if kind is functools.partial:
            parts = (value.func, value.args, dict(value.keywords))
            return ["partial", [self.of(part, where) for part in parts]]
        if kind is defaultdict:
            return ["defaultdict", self.of(value.default_factory, where), self._items(value, where)]
        if kind is deque:
            return ["deque", [self.of(item, where) for item in value], value.maxlen]
        return None

    def _named(self, value: Any) -> list[Any] | None:
        """A function, class or module that can be found again by its name."""
        if isinstance(value, ModuleType):
            return ["import", value.__name__]
        if isinstance(value, enum.Enum):
            kind = type(value)
            return self._name(value, kind.__module__, f"{kind.__qualname__}.{value.name}")
        if not isinstance(value, (FunctionType, BuiltinFunctionType, type)):
            return None
        module = str(getattr(value, "__module__", None) or "builtins")
        places = [(module, str(value.__qualname__))]
        if isinstance(value, BuiltinFunctionType):
            # Functions in C often do not say where they stand.
            places += [(place, value.__name__) for place in _BUILT_IN]
        found = (self._name(value, *place) for place in places)
        return next((one for one in found if one is not None), None)

    def _name(self, value: object, module: str, name: str) -> list[Any] | None:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not value:
            return None
        if module == MAIN:
            self.main.setdefault(name.partition(".")[0])
        return ["name", module, name]

    def _object(self, value: Any, where: str) -> list[Any] | None:
        """A module, or an object of a plain class that keeps its state in a dict."""
        kind = type(value)
        is_module = isinstance(value, torch.nn.Module)
        state = getattr(value, "__dict__", None)
        if type(state) is not dict or not (is_module or _is_plain(kind)):
            return None
        named = self._named(kind)
        if named is None:
            raise NotIsolated(
                f"the class {printable(kind.__qualname__)} of {printable(where)} is defined in a "
                "function, or was replaced"
            )
        if len(self.objects) >= _MOST_OBJECTS:
            raise NotIsolated(f"it holds more than {_MOST_OBJECTS} objects")
        entry: dict[str, Any] = {"class": named, "module": is_module}
        self.objects.append(entry)
        found = self._remember(value, "object", len(self.objects) - 1)
        if is_module:
            state = _state_of(value, where)
        entry["state"] = [[key, self.of(item, f"{where}.{key}")] for key, item in state.items()]
        return found


def _state_of(module: Any, where: str) -> dict[str, Any]:
    """The attributes of a module, without torch's tables of hooks.

    Raises:
        NotIsolated: it has hooks of the program's own, which would be called again.
    """
    if any(getattr(module, table, None) for table in _HOOKS):
        raise NotIsolated(f"{printable(where)} has hooks of the program's own")
    state = module.__dict__
    if isinstance(module, torch.nn.RNNBase):
        # They are weak references, which torch makes again.
        state = {name: value for name, value in state.items() if name != "_flat_weight_refs"}
    return {name: value for name, value in state.items() if "_hooks" not in name}


def _is_plain(kind: type) -> bool:
    """All that an instance of the class is stands in its dict: no file, no socket, no slots."""
    ways = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__slots__")
    own = [each for each in kind.__mro__ if each is not object]
    made_plainly = getattr(kind, "__new__", None) is object.__new__
    return made_plainly and not any(way in vars(one) for one in own for way in ways)
