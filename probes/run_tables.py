"""All tables of a run file that is written, and the order in which what waits goes into them.

A reader of a file whose writer was killed trusts a step that it finds: all that the step refers to
has to be in the file before the step is.
"""

from collections.abc import Callable

import h5py

from bisect_debugger.format import schema
from probes.packing import MakeRoom
from probes.payload import Payload
from probes.tables import EventTable, Table

_LAST = ("steps", "end")


class RunTables:
    """The tables of one file.

    Attributes:
        rows: those that take one row at a time, by name.
        events: the events of closed steps, with their numbers.
        payload: the contents.
    """

    def __init__(self, file: h5py.File, make_room: MakeRoom, *, with_stats: bool) -> None:
        """Take the tables of an open file.

        Args:
            file: the run file, with all datasets created.
            make_room: asked before contents are written that are not waited with.
            with_stats: events come with numbers of their contents.
        """
        self.rows = {
            name: Table(file, columns)
            for name, columns in schema.TABLES.items()
            if name not in ("events", "stats")
        }
        self.events = EventTable(file, with_stats=with_stats)
        self.payload = Payload(file, make_room)

    def room(self) -> int:
        """Bytes by which `write` grows the file at most."""
        need = sum(table.room() for table in self.rows.values())
        return need + self.payload.room() + self.events.room()

    def write(self, flush: Callable[[], None]) -> None:
        """Write what waits; interrupted, it is done again by the next call.

        Args:
            flush: hands to the system what HDF5 holds.

        Raises:
            OSError, RuntimeError, ValueError: it could not be written.
        """
        self.payload.write()
        for name, table in self.rows.items():
            if name not in _LAST:
                table.write()
        self.events.write()
        flush()
        for name in _LAST:
            self.rows[name].write()
        flush()
