"""The history of an investigation: what was cleared, found, fixed, and comes next.

One file of JSON lines that is only ever appended to, so that what somebody wrote down yesterday
stays as it was, and two commands that write at once lose nothing.
"""

from bisect_debugger.history.entries import Entry, History, append, read

__all__ = ["Entry", "History", "append", "read"]
