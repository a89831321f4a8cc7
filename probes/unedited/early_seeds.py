"""Seeding calls that are made before torch is imported; nothing here imports it."""

from typing import Any

from probes.seeding import LATE_MODULES, Made, Note, SeedingCalls

_MOST_CALLS = 1000

__all__ = ["LATE_MODULES", "EarlySeeds"]


class EarlySeeds:
    """Keeps what was seeded until somebody wants to know it.

    Attributes:
        calls: (call, argument, location) of the calls that nobody took yet.
    """

    def __init__(self) -> None:
        """Wrap what seeds generators."""
        self.calls: list[tuple[str, str, str]] = []
        self._generators: list[tuple[Any, str, str]] = []
        self._note: Note = self.keep
        self._made: Made = self._keep_generator
        self._calls = SeedingCalls(self._tell, self._tell_generator)

    def update(self) -> None:
        """Wrap also what was imported since."""
        self._calls.update()

    def keep(self, call: str, argument: str, location: str) -> None:
        """Keep a call."""
        if len(self.calls) < _MOST_CALLS:
            self.calls.append((call, argument, location))

    def hand_over(self, note: Note, made: Made) -> None:
        """Tell these from now on, and the generators that there are already."""
        self._note, self._made = note, made
        for generator in self._generators:
            made(*generator)
        self._generators.clear()

    def _tell(self, call: str, argument: str, location: str) -> None:
        self._note(call, argument, location)

    def _tell_generator(self, generator: Any, call: str, location: str) -> None:
        self._made(generator, call, location)

    def _keep_generator(self, generator: Any, call: str, location: str) -> None:
        if len(self._generators) < _MOST_CALLS:
            self._generators.append((generator, call, location))
