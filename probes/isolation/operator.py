"""Takes down one operator of a step, where what differs is not a module's."""

from pathlib import Path
from typing import Any

import torch

from probes.isolation import trouble
from probes.isolation.folder import settings, streams, write
from probes.isolation.recipes import Recipes
from probes.memory import unseen
from probes.zoom.contents import Signature, tensors_in
from probes.zoom.log import OperatorLog
from probes.zoom.mode import NameOf, OperatorMode, Where


class OperatorCapture(OperatorMode):  # type: ignore[no-untyped-call]
    """Sees the operators of a step, and writes the one that is asked for into a folder."""

    def __init__(
        self, log: OperatorLog, where: Where, name_of: NameOf, asked: dict[str, Any]
    ) -> None:
        """Wait for it.

        Args:
            log: where operators would go; nothing is kept.
            where: tells the place in the run.
            name_of: tells a module's path.
            asked: ``operator``, ``overload``, ``line``, ``number``, ``step`` and ``folder``.
        """
        super().__init__(log, where, name_of)
        self._asked = asked
        self._calls = 0
        self._saved: dict[str, Any] = {}
        self._recipes = Recipes()
        self.reason = "the operator was not called in that step"
        """Why it was not taken down; empty once it was."""

    def _before(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any
    ) -> tuple[Signature, dict[str, Any]] | None:
        found = super()._before(function, args, kwargs, frame)
        if found is None or self._saved:
            return found
        _, noted = found
        wanted = [self._asked[key] for key in ("operator", "overload", "line")]
        if [noted["op"], noted["overload"], noted["line"]] == wanted:
            self._calls += 1
            if self._calls > self._asked["number"]:
                self.reason = trouble(lambda: self._take(noted, args, kwargs)) or self.reason
        return found

    def _after(
        self,
        found: tuple[Signature, dict[str, Any]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: object,
    ) -> None:
        if self._saved and "outputs" not in self._saved:
            self.reason = trouble(lambda: self._take_output(result)) or self.reason

    def _take(self, noted: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        namespace, _, name = noted["op"].partition("::")
        with unseen():
            # Below autograd nobody asks for a gradient, and an operator may write to what it gets.
            given = [_plain(value) for value in args]
            named = {key: _plain(value) for key, value in kwargs.items()}
        self._saved = {
            "streams": streams(self._recipes),
            "settings": settings(),
            "autocast": None,
            "grad": False,
            "function": ["operator", namespace, name, noted["overload"] or "default"],
            "args": self._recipes.of(tuple(given), "its arguments"),
            "kwargs": self._recipes.of(named, "its arguments"),
            "upstream": [],
        }

    def _take_output(self, result: object) -> None:
        with unseen():
            self._saved["outputs"] = [one.detach().clone() for one in tensors_in(result)]
        what = f"{self._asked['operator']} of {self._asked['line']}"
        write(Path(self._asked["folder"]), what, self._recipes, self._saved)
        self.reason = ""


def _plain(value: Any) -> Any:
    """An argument without its graph."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value
