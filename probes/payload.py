"""Contents of a run file, each written once, before the trainer can go on and change it."""

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import PAYLOAD_VALUES
from probes.lately import Lately
from probes.packing import MakeRoom, PackedColumn
from probes.tables import GrowingColumn

KNOWN_CONTENTS = 100_000
"""Contents of one generation; two are known, in about 20 MB, whatever number of steps follows."""


class Payload:
    """Contents by element type, one 1-D dataset each; one that came lately is not written again."""

    def __init__(self, file: h5py.File, make_room: MakeRoom) -> None:
        """Take the payload datasets of an open file.

        Args:
            file: the run file, with all datasets created.
            make_room: asked before anything is written outside `write`.
        """
        self._columns = {
            name: PackedColumn(GrowingColumn(file, column), make_room)
            for name, column in PAYLOAD_VALUES.items()
        }
        self._known = Lately[bool](KNOWN_CONTENTS)
        self.is_writing = False
        """Contents are being written: those that a signal handler records must not be now."""

    def add(self, digest: bytes, dtype: str, content: npt.NDArray[np.uint8]) -> int | None:
        """Write the content, or keep a copy of it until it is written.

        Args:
            digest: its digest.
            dtype: its element type.
            content: (nbytes,) raw bytes; may change after the call.

        Returns:
            Index of its first element in the dataset, or None where the digest is known.

        Raises:
            OSError, RuntimeError, ValueError: it could not be written.
        """
        # A signal handler that records in the middle of this goes without its contents.
        if self.is_writing or self._known.get(digest):
            return None
        self.is_writing = True
        try:
            start = self._columns[dtype].add(content)
            self._known.keep(digest, True)
        finally:
            self.is_writing = False
        return start

    def room(self) -> int:
        """Bytes by which writing grows the file at most."""
        return sum(column.room() for column in self._columns.values())

    def write(self) -> None:
        """Write the waiting contents, one append per element type."""
        self.is_writing = True
        try:
            for column in self._columns.values():
                column.write()
        finally:
            self.is_writing = False
