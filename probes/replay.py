"""Watching a method: what a replay sampler (or anything else) returns, call by call."""

import functools
from collections.abc import Callable
from typing import Any

from bisect_debugger.errors import UsageError
from bisect_debugger.format.groups import Group
from probes.content import leaves
from probes.names import kind_of
from probes.recorder import Recorder, flags_now, guarded
from probes.slots import Slot


class Watch:
    """Records the return values of one bound method while installed."""

    def __init__(self, recorder: Recorder, target: object, method: str, name: str) -> None:
        """Put a wrapper in the instance's place of the method.

        Args:
            recorder: where events go.
            target: the replay buffer or sampler.
            method: name of the method, e.g. ``sample``.
            name: what the target is called in the run.

        Raises:
            UsageError: the object has no such method, or its attributes cannot be set.
        """
        self.recorder = recorder
        self._target = target
        self._method = method
        self._component = f"replay.{name}"
        self._slots: dict[str, Slot] = {}
        original = getattr(target, method, None)
        if not callable(original) or method.startswith("__"):
            raise UsageError(
                f"{type(target).__name__} has no method {method!r} that can be watched; name the "
                "method that returns the sample."
            )
        self._original: Callable[..., Any] = original
        try:
            self._own = method in vars(target)
            self._wrapper = _Watched(self, target, method, original)
            setattr(target, method, self._wrapper)
        except (TypeError, AttributeError) as error:
            raise UsageError(
                f"{type(target).__name__} lets no attribute be set, so {method!r} cannot be "
                "watched; call record() on what it returns instead."
            ) from error

    def remove(self) -> None:
        """Put the method back, unless somebody else replaced it since."""
        if vars(self._target).get(self._method) is not self._wrapper:
            self._wrapper.is_over = True
            return
        original: Any = self._original
        own = self._own
        while isinstance(original, _Watched) and original.is_over:
            # A watch from before that ended in the meantime, below this one.
            original, own = original.original, original.is_own
        if own:
            setattr(self._target, self._method, original)
        else:
            delattr(self._target, self._method)

    @guarded
    def before(self) -> None:
        """Begin the step, so that its streams are read before the sampler draws from them."""
        self.recorder.begin_step()

    @guarded
    def after(self, result: object) -> None:
        """Record what was returned."""
        for path, leaf in leaves(result):
            slot = self._slots.get(path)
            if slot is None:
                role = f"{self._method}{path}"
                slot = self._slots[path] = self.recorder.slot(
                    Group.REPLAY,
                    f"{self._component}.{role}",
                    self._component,
                    role,
                    kind=kind_of(self._target),
                )
            self.recorder.see(slot, leaf, flags_now())


class _Watched:
    """Stands in for a bound method.

    A trainer may copy or save its replay buffer at any time: the copy gets the method itself.
    """

    def __init__(
        self, watch: Watch, target: object, method: str, original: Callable[..., Any]
    ) -> None:
        functools.update_wrapper(self, original)
        self._watch, self._target, self._method, self.original = watch, target, method, original
        self.is_own = method in vars(target)
        self.is_over = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._watch.before()
        result = self.original(*args, **kwargs)
        self._watch.after(result)
        return result

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        if self.is_own:
            return functools.partial, (self.original,)
        return getattr, (self._target, self._method)
