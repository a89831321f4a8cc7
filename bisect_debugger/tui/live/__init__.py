"""The live screen of `twin`: both runs as they go, which then turn into the verdict.

work     the driver in a thread of its own
view     what stands on the screen, made from what was heard; pure
screen   paints the view several times a second
confirm  the question before a training is stopped
app      the app, and the signals that reach it
"""

from bisect_debugger.tui.live.app import LiveApp, watch
from bisect_debugger.tui.live.work import Found, Left, Work

__all__ = ["Found", "Left", "LiveApp", "Work", "watch"]
