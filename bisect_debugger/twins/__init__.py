"""Two runs held against each other: search, alignment, statuses."""

from bisect_debugger.twins.model import Row, Seen, Status
from bisect_debugger.twins.pair import Pair, open_pair

__all__ = ["Pair", "Row", "Seen", "Status", "open_pair"]
