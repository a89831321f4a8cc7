"""The markdown note that goes into a pull request."""

from bisect_debugger.note.markdown import render_note

__all__ = ["render_note"]
