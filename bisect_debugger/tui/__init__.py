"""The terminal UI; the only room that knows Textual."""

from bisect_debugger.tui.app import BisectApp, show

__all__ = ["BisectApp", "show"]
