"""The dispatch mode that sees every operator of a step and changes none."""

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._C import _current_autograd_node, _is_tracing
from torch._C._autograd import _get_sequence_nr
from torch._C._functorch import maybe_current_level
from torch.compiler import is_compiling
from torch.utils._python_dispatch import TorchDispatchMode

from probes.zoom.contents import (
    Contents,
    MemoryNumbers,
    Signature,
    generator_state,
    tensors_in,
    words_of,
)
from probes.zoom.log import OperatorLog
from probes.zoom.source import Place, place_of

Where = Callable[[], tuple[int, int]]
"""Events of the step that goes on, and number of the thread."""

NameOf = Callable[[Any], str]
"""Path of a module."""


_Given = tuple[str, Any, bool, bool]
"""(name, value, whether it is written to, whether its content is read) of an argument."""


@dataclass(frozen=True, slots=True)
class _Forward:
    """What made an autograd node."""

    line: str
    module: str
    operator: str


class OperatorMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Writes down every operator."""

    def __init__(self, log: OperatorLog, where: Where, name_of: NameOf) -> None:
        """See nothing yet.

        Args:
            log: takes what is seen.
            where: tells the place in the run.
            name_of: tells a module's path.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self.log = log
        self.component = ""
        """Path of the module whose operators are wanted; empty for all."""
        self._where, self._name_of = where, name_of
        self.memory = MemoryNumbers()
        """Numbers of memory, which the modes of successive steps may share."""
        self.on_host = True
        """What lies on the host is hashed by its own algorithm; as in the recording's events."""
        self._signatures: dict[Any, Signature] = {}
        self._own = threading.local()

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Torch's compiler works as if this mode were not there."""
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call the operator as it is; note what went in and what came out."""
        kwargs = kwargs or {}
        noted = None
        if not self.log.refused and not self.log.closed and not _is_transformed():
            try:
                noted = self._before(func, args, kwargs, sys._getframe(1))
            except Exception as error:  # noqa: BLE001 - a probe must never change the run
                self.log.refused = f"{type(error).__name__}: {error}"[:300]
        result = func(*args, **kwargs)
        if noted is not None:
            try:
                self._after(noted, args, kwargs, result)
            except Exception as error:  # noqa: BLE001 - a probe must never change the run
                self.log.refused = f"{type(error).__name__}: {error}"[:300]
        return result

    def _before(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any
    ) -> tuple[Signature, dict[str, Any]] | None:
        place = place_of(frame)
        signature = self._signatures.get(function)
        if signature is None:
            signature = self._signatures[function] = Signature.of(function)
        noted = self._placed(signature, place)
        if self.component and not _lies_in(noted["module"], self.component):
            return None
        self.log.line(place.line, place.file, place.number)
        given = _by_name(signature, args, kwargs)
        # Read before the call: an operator may write to what it was given.
        noted["in"] = [
            [self._contents.memory(tensor), self._contents.digest(tensor) if is_read else ""]
            for _, value, _, is_read in given
            for tensor in tensors_in(value)
        ]
        noted["args"] = ", ".join(f"{name}={words_of(value)}" for name, value, *_ in given)
        if signature.draws:
            noted["generator"] = _generator(given)
        return signature, noted

    @property
    def _contents(self) -> Contents:
        """This thread's; what it works out for a layout is no other thread's."""
        try:
            return self._own.contents  # type: ignore[no-any-return]
        except AttributeError:
            found = self._own.contents = Contents(self.memory, on_host=self.on_host)
            return found

    @property
    def _made(self) -> dict[int, _Forward]:
        """What made an autograd node, by its number; each thread counts for itself."""
        try:
            return self._own.made  # type: ignore[no-any-return]
        except AttributeError:
            # A node made before is none of this step's.
            found = self._own.made = {_get_sequence_nr() - 1: _Forward("", "", "")}
            return found

    def _placed(self, signature: Signature, place: Place) -> dict[str, Any]:
        events, thread = self._where()
        noted: dict[str, Any] = {
            "op": signature.name,
            "overload": signature.overload,
            "line": place.line,
            "made": "",
            "module": "" if place.module is None else self._name_of(place.module),
            "node": "",
            "event": events,
            "thread": thread,
        }
        node: Any = _current_autograd_node()
        if node is None:
            number = _get_sequence_nr() - 1
            if number not in self._made:
                self._made[number] = _Forward(place.line, noted["module"], signature.name)
            return noted
        noted["node"] = node.name()
        made = self._made.get(node._sequence_nr())
        if made is not None and _made_by(noted["node"], made.operator, node):
            noted["made"] = made.line
            noted["module"] = noted["module"] or made.module
            if not place.inside:
                noted["line"] = made.line
        return noted

    def _after(
        self,
        found: tuple[Signature, dict[str, Any]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: object,
    ) -> None:
        signature, noted = found
        before = {memory for memory, _ in noted["in"]}
        outputs = []
        written = [
            tensor
            for _, value, is_written, _ in _by_name(signature, args, kwargs)
            if is_written
            for tensor in tensors_in(value)
        ]
        seen: set[int] = set()
        for tensor in (*written, *tensors_in(result)):
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            memory = self._contents.memory(tensor)
            digest = "" if signature.unread else self._contents.digest(tensor)
            is_write = any(tensor is one for one in written) or memory not in before
            outputs.append([memory, digest, is_write])
        noted["out"] = outputs
        self.log.add(noted)


def _by_name(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[_Given]:
    """Every argument that was given."""
    given = []
    for index, (name, is_written, is_read) in enumerate(signature.arguments):
        if index < len(args):
            given.append((name, args[index], is_written, is_read))
        elif name in kwargs:
            given.append((name, kwargs[name], is_written, is_read))
    return given


def _generator(given: list[_Given]) -> str:
    values = {name: value for name, value, *_ in given}
    tensor = next((one for _, value, *_ in given for one in tensors_in(value)), None)
    device = tensor.device if tensor is not None else values.get("device")
    if not isinstance(device, torch.device):
        device = torch.device("cpu")
    return generator_state(values.get("generator"), device)


def _lies_in(module: str, component: str) -> bool:
    return module == component or module.startswith(f"{component}.")


def _is_transformed() -> bool:
    """A tracer, compiler or functorch transform is at work: these are not the program's tensors."""
    return is_compiling() or _is_tracing() or maybe_current_level() is not None


def _made_by(node: str, operator: str, made: Any) -> bool:
    """The operator that was seen with a node's number can have made it.

    An operator that makes no node is seen with the number of the one before.
    """
    if not type(made).__module__.startswith("torch") or hasattr(made, "_forward_cls"):
        # A function of the program's own; the first operator in its forward stands for it.
        return True
    name = operator.partition("::")[2].replace("_", "").lower()
    return node.replace("_", "").lower().startswith(name)
