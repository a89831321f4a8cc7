"""Faults that the engine was not built with; see `cases` for the others."""

from tests.causes.case import Case, Clean

HELD_OUT: tuple[Case | Clean, ...] = ()
