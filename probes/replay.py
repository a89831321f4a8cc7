"""Watching a method: what a replay sampler (or anything else) returns, call by call."""

import functools
from collections.abc import Callable
from typing import Any

from bisect_debugger.format.groups import Group
from probes.content import leaves
from probes.names import kind_of
from probes.recorder import Recorder, flags_now, guarded


class Watch:
    """Records the return values of one bound method while installed."""

    def __init__(self, recorder: Recorder, target: object, method: str, name: str) -> None:
        """Put a wrapper in the instance's place of the method.

        Args:
            recorder: where events go.
            target: the replay buffer or sampler.
            method: name of the method, e.g. ``sample``.
            name: what the target is called in the run.
        """
        self.recorder = recorder
        self._target = target
        self._method = method
        self._component = f"replay.{name}"
        self._own = method in vars(target)
        self._original: Callable[..., Any] = getattr(target, method)
        self._wrapper = self._wrap(self._original)
        setattr(target, method, self._wrapper)

    def remove(self) -> None:
        """Put the method back, unless somebody else replaced it since."""
        if vars(self._target).get(self._method) is not self._wrapper:
            return
        if self._own:
            setattr(self._target, self._method, self._original)
        else:
            delattr(self._target, self._method)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self._before()
            result = original(*args, **kwargs)
            self._after(result)
            return result

        return wrapper

    @guarded
    def _before(self) -> None:
        # The streams at the step's start are read before the sampler draws from them.
        self.recorder.begin_step()

    @guarded
    def _after(self, result: object) -> None:
        for path, leaf in leaves(result):
            slot = f"{self._method}{path}"
            self.recorder.value(
                Group.REPLAY,
                f"{self._component}.{slot}",
                self._component,
                slot,
                leaf,
                kind=kind_of(self._target),
                flags=flags_now(),
            )
