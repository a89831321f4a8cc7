"""What waits in a Python process until it imports torch: one look at each name it imports.

A process that never imports torch pays for this file and nothing else: it imports nothing that
every interpreter does not import as it starts. The recorder travels: where the trainer's own
environment does not have it, it is found in the environment of the command that started the
recording.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

SESSION = "BISECT_DEBUGGER_SESSION"
"""Environment variable: path of the session's settings, a JSON file beside which status is kept."""

_callbacks: "dict[str, list[Callable[[], None]]]" = {}


class Settings:
    """The session of this process, as the command that started it wrote it down."""

    def __init__(self, path: str) -> None:
        """Read the settings."""
        self.path = path
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123 - pathlib is slow to load
            self._text = stream.read()
        self._values: dict[str, Any] | None = None

    @property
    def values(self) -> "dict[str, Any]":
        """The settings by name."""
        if self._values is None:
            # Slow to load for a process that needs none of them.
            import json

            self._values = json.loads(self._text)
        return self._values

    @property
    def has_knobs(self) -> bool:
        """Some knobs may be turned; within a text of the settings the quotes are escaped."""
        return '"knobs": []' not in self._text

    def note(self, kind: str, **facts: object) -> None:
        """Tell the command something: one line of JSON, appended in one write."""
        line = f'{{"kind": "{kind}", "pid": {os.getpid()}}}\n'
        if facts:
            import json

            line = json.dumps({"kind": kind, "pid": os.getpid(), **facts}) + "\n"
        try:
            status = os.open(self.path + ".status", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(status, line.encode())
            finally:
                os.close(status)
        except OSError:
            # Nobody listens any more; the trainer goes on.
            pass


class _Waiting:
    """A finder that finds nothing: it notices that a module is about to be loaded."""

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "Any":
        callbacks = _callbacks.pop(name, None)
        if callbacks is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                _call_after_loading(spec.loader, callbacks)
                return spec
        _callbacks[name] = callbacks
        return None


class _Traveller:
    """Finds the recorder, and what it needs, where the command has them. Asked last."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._folders = folders

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "Any":
        folder = self._folders.get(name)
        if folder is None:
            return None
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(name, [folder], target)


class Process:
    """What this process does for the session."""

    def __init__(self, settings: Settings) -> None:
        """Know the session."""
        self._settings = settings
        self._travels = False
        self._seeds: Any = None

    def numpy_is_here(self) -> None:
        """Numpy can make generators now, and a trainer may well do so before it imports torch."""
        try:
            self._take_along()
            self._see_seeds()
        except Exception:  # noqa: BLE001 - what is missing is said when torch comes
            self._seeds = None

    def torch_is_here(self) -> None:
        """Install the first hooks; the training may begin."""
        settings = self._settings
        settings.note("torch")
        try:
            self._take_along()
            self._see_seeds()
            from probes.unedited import start

            start.begin(settings, self._seeds, when_imported)
        except ImportError as error:
            settings.note("missing", module=error.name or str(error), python=sys.executable)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            settings.note("failed", reason=f"{type(error).__name__}: {error}")

    def turn_knobs(self) -> None:
        """Change the conditions that the session asks for, before any code of the program."""
        if not self._settings.has_knobs:
            return
        names = frozenset(self._settings.values.get("knobs", ()))
        if not names:
            return
        self._take_along()
        from probes.unedited.knobs import at_import, at_start

        at_start.apply(names)
        at_import.when_imported(names, when_imported)

    def _see_seeds(self) -> None:
        if self._seeds is None:
            from probes.unedited.early_seeds import EarlySeeds

            self._seeds = EarlySeeds()
        else:
            self._seeds.update()

    def _take_along(self) -> None:
        """Let the recorder be found, and what it needs, where the command has them."""
        if self._travels:
            return
        _refuse_a_namesake()
        self._travels = True
        travelling = self._settings.values["packages"]
        # Compiled packages fit one version of Python only.
        fits = travelling["cache_tag"] == sys.implementation.cache_tag
        sys.meta_path.append(_Traveller(travelling["all" if fits else "pure"]))


def _refuse_a_namesake() -> None:
    """A package of the program's own is not imported in place of the recorder, nor hidden by it.

    Raises:
        RuntimeError: there is one.
    """
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("probes")
    homes = (spec.submodule_search_locations or ()) if spec is not None else ()
    if spec is not None and not any(
        os.path.isdir(os.path.join(home, "unedited"))  # noqa: PTH112, PTH118 - slow to load
        for home in homes
    ):
        raise RuntimeError(
            f"the program has a module of its own that is called probes, as the recorder is: "
            f"{spec.origin}; give it another name to record"
        )


def wait_for_torch() -> None:
    """Begin to record when this process imports torch."""
    try:
        settings = Settings(os.environ[SESSION])
    except FileNotFoundError:
        # The recording is over, and this process outlived it.
        return
    settings.note("python")
    sys.meta_path.insert(0, _Waiting())
    process = Process(settings)
    process.turn_knobs()
    when_imported("numpy.random", process.numpy_is_here)
    when_imported("torch", process.torch_is_here)


def when_imported(name: str, callback: "Callable[[], None]") -> None:
    """Call back after a module was loaded; at once where it is loaded already."""
    if name in sys.modules:
        callback()
    else:
        _callbacks.setdefault(name, []).append(callback)


def _call_after_loading(loader: "Any", callbacks: "list[Callable[[], None]]") -> None:
    load = loader.exec_module

    def exec_module(module: "ModuleType") -> None:
        del loader.exec_module
        load(module)
        for callback in callbacks:
            try:
                callback()
            except Exception as error:  # noqa: BLE001 - an import must not fail for us
                sys.stderr.write(f"bisect-debugger: {type(error).__name__}: {error}\n")

    loader.exec_module = exec_module
