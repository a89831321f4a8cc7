"""The diagnosis as plain text for a terminal or a log."""

from bisect_debugger.report.grid import GroupGrid
from bisect_debugger.report.rows import render_rows
from bisect_debugger.report.table import render_grid
from bisect_debugger.report.text import render_diagnosis

__all__ = ["GroupGrid", "render_diagnosis", "render_grid", "render_rows"]
