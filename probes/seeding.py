"""Seeding calls: who seeded which generator, with what, at which line.

The wrappers call through and return what the original returns; they note, and nothing else.
torch and numpy are not imported here: calls that are made before them must be seen too, and
`SeedingCalls.update` adds what was imported since.

Not seen are the methods of numpy's C classes (`numpy.random.RandomState`) and functions that were
imported by name before the recording began.
"""

import importlib
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from probes.method_table import method_table, put_method
from probes.paths import short_path
from probes.scripting import pass_for, pass_no_more
from probes.seeder import Seeder
from probes.stand_ins import beneath, retire

Note = Callable[[str, str, str], None]
"""Called with (call, argument, location)."""

Made = Callable[[Any, str, str], None]
"""Called with (generator, call, location)."""

DEFAULT_RNG = "numpy.random.default_rng"
OF_RANDOM = "random.Random.seed"
LOAD = "torch.load"

SEEDERS: tuple[tuple[str, str, str], ...] = (
    ("random.seed", "random", "seed"),
    (DEFAULT_RNG, "numpy.random", "default_rng"),
    ("numpy.random.seed", "numpy.random", "seed"),
    ("torch.load", "torch", "load"),
    ("torch.load", "torch.serialization", "load"),
    ("torch.manual_seed", "torch", "manual_seed"),
    ("torch.manual_seed", "torch.random", "manual_seed"),
    ("torch.seed", "torch", "seed"),
    ("torch.seed", "torch.random", "seed"),
    *(
        (f"torch.{backend}.{call}", f"torch.{backend}{module}", call)
        for backend in ("cuda", "mps", "xpu", "mtia")
        for module in ("", ".random")
        for call in ("manual_seed", "manual_seed_all", "seed", "seed_all")
    ),
)
"""(name in the run, module, function). What brings a checkpoint back is noted among them, because
it may bring generators back, or fail to."""

GENERATOR_METHODS = ("manual_seed", "seed")
"""Methods of `torch.Generator` that seed it."""

LATE_MODULES = ("numpy.random", "torch")
"""Modules after whose import `SeedingCalls.update` finds more to wrap; numpy imports the first
only when it is used."""

_MOST_LOADS = 16
"""Loads of one line that are noted."""

ENTROPY = "entropy"
"""The argument of a call that takes its seed from the system."""

_OURS_AND_BELOW = frozenset(
    ("torch", "numpy", "random", "probes", "functools", "contextlib", "threading")
)
_LIBRARIES = frozenset(("torch", "numpy", *sys.stdlib_module_names)) - {"random"}
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_SEEING_THROUGH = frozenset(("probes", "random"))


class SeedingCalls:
    """Notes seeding calls while installed."""

    def __init__(self, note: Note, made: Made | None = None) -> None:
        """Install the wrappers.

        Args:
            note: called once per call that the trainer made; not for the calls that torch
                makes in turn.
            made: called with every generator that `numpy.random.default_rng` returned, and with
                each `torch.Generator` and `random.Random` that was seeded.
        """
        self._note, self._made = note, made
        self._inside = threading.local()
        self._loads: dict[str, int] = {}
        self._installed: list[tuple[Any, str, Any, Seeder]] = []
        self._methods: list[tuple[str, Any, Seeder]] = []
        self._table: dict[str, Any] | None = None
        self._replace(OF_RANDOM, random.Random, "seed", argument_at=1)
        self.update()

    def update(self) -> None:
        """Wrap also the functions of modules that were imported since."""
        if "torch" in sys.modules and "numpy" in sys.modules:
            # numpy loads it at its first use, when it would be too late to wrap it.
            with suppress(ImportError):
                importlib.import_module("numpy.random")
        done = {(id(owner), attribute) for owner, attribute, _, _ in self._installed}
        for name, module, attribute in SEEDERS:
            owner = sys.modules.get(module)
            if owner is not None and (id(owner), attribute) not in done:
                self._replace(name, owner, attribute)
        if self._table is None and not self._methods:
            with suppress(Exception):
                self._replace_generator_methods()

    def remove(self) -> None:
        """Put the originals back, unless somebody else replaced them since."""
        for owner, attribute, original, wrapper in self._installed:
            pass_no_more(wrapper)
            if getattr(owner, attribute, None) is wrapper:
                setattr(owner, attribute, beneath(original))
            else:
                retire(wrapper, original)
        self._installed.clear()
        self._put_methods_back()

    def _replace(self, name: str, owner: Any, attribute: str, argument_at: int = 0) -> None:
        original = getattr(owner, attribute, None)
        # Not there yet in a module that is just being imported.
        if original is None:
            return
        known = (seeder for _, _, one, seeder in self._installed if one is original)
        # One for all places of a function: it is saved by the place that it is defined in.
        seeder = next(known, None) or Seeder(self._call, name, original, argument_at)
        setattr(owner, attribute, seeder)
        pass_for(seeder, original)
        self._installed.append((owner, attribute, original, seeder))

    def _replace_generator_methods(self) -> None:
        torch = sys.modules.get("torch")
        if torch is None or not hasattr(torch, "default_generator"):
            return
        kind = torch.Generator
        self._table = method_table(kind)
        if self._table is None:
            return
        try:
            for attribute in GENERATOR_METHODS:
                original = self._table[attribute]
                name = f"torch.Generator.{attribute}"
                seeder = Seeder(self._call, name, original, 1, ("torch", f"Generator.{attribute}"))
                self._methods.append((attribute, original, seeder))
                put_method(kind, self._table, attribute, seeder)
            sound: bool = self._silently(_seeds_as_before, torch, self._methods[0][1])
        except Exception:
            self._put_methods_back()
            raise
        if not sound:
            self._put_methods_back()

    def _put_methods_back(self) -> None:
        for attribute, original, seeder in self._methods:
            if self._table is not None and self._table.get(attribute) is seeder:
                original = beneath(original)
                put_method(sys.modules["torch"].Generator, self._table, attribute, original)
            else:
                retire(seeder, original)
        self._methods.clear()

    def _call(self, seeder: Seeder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a call and make it."""
        if not self._installed or getattr(self._inside, "a_call", False):
            return seeder.original(*args, **kwargs)
        location = None
        with suppress(Exception):
            if not (seeder.argument_at and _is_librarys_own(seeder.name == OF_RANDOM)):
                location = caller()
                given = args[seeder.argument_at :]
                argument = given[0] if given else next(iter(kwargs.values()), None)
                if seeder.name != LOAD:
                    self._note(seeder.name, _shown(argument), location)
                elif self._is_worth_noting(location):
                    self._note(seeder.name, _file_name(argument), location)
        result = self._silently(seeder.original, *args, **kwargs)
        if location is not None and self._made is not None:
            # What was seeded is the generator itself, or the one that came back.
            made = args[0] if seeder.argument_at else result
            if seeder.argument_at or seeder.name == DEFAULT_RNG:
                with suppress(Exception):
                    self._made(made, seeder.name, location)
        return result

    def _is_worth_noting(self, location: str) -> bool:
        """A line that loads a file for each sample is known after a few."""
        count = self._loads[location] = self._loads.get(location, 0) + 1
        return count <= _MOST_LOADS

    def _silently(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._inside.a_call = True
        try:
            return function(*args, **kwargs)
        finally:
            self._inside.a_call = False


def _seeds_as_before(torch: Any, original: Any) -> bool:
    """A generator that is seeded through the replaced method draws what it always drew."""
    from probes.memory import unseen

    draws = []
    with unseen():
        for is_replaced in (False, True):
            generator = torch.Generator(device="cpu")
            seed = generator.manual_seed if is_replaced else original.__get__(generator)
            if seed(20_011) is not generator or generator.initial_seed() != 20_011:
                return False
            drawn = torch.rand(1, generator=generator, device="cpu", dtype=torch.float64)
            draws.append(drawn.item())
        generator = torch.Generator(device="cpu")
        # From the system's entropy, so it can only be asked whether it says what it did.
        return bool(draws[0] == draws[1] and generator.seed() == generator.initial_seed())


def _is_librarys_own(of_any: bool) -> bool:
    """A method was called by a library for its own purposes, such as a random file name.

    Args:
        of_any: also by one that was installed, and not only by Python's own, torch or numpy.
    """
    frame = sys._getframe(2)
    while frame.f_back is not None and _package(frame) in _SEEING_THROUGH:
        frame = frame.f_back
    installed = of_any and bool(_INSTALLED.intersection(Path(frame.f_code.co_filename).parts))
    return installed or _package(frame) in _LIBRARIES


def caller(libraries: frozenset[str] = frozenset()) -> str:
    """``file:line`` of the nearest frame outside torch, numpy, the standard library and probes.

    Args:
        libraries: further top-level packages that are not meant.
    """
    frame = sys._getframe(1)
    while frame is not None:
        package = _package(frame)
        if package not in _OURS_AND_BELOW and package not in libraries:
            return f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _file_name(argument: object) -> str:
    """Of a file only its own name: where it lies is nobody's business."""
    if isinstance(argument, (str, Path)):
        return Path(argument).name[:100]
    return type(argument).__name__


def _shown(argument: object) -> str:
    if argument is None:
        return ENTROPY
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(argument, numpy.integer):
        argument = int(argument)
    if isinstance(argument, (int, float, str, bytes, list, tuple)):
        try:
            text = repr(argument)
        except Exception:  # noqa: BLE001 - what a list holds may refuse to be shown
            return type(argument).__name__
        return text if len(text) <= 100 else f"{text[:99]}…"
    return type(argument).__name__
