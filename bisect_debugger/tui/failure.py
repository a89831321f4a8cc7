"""An error of the UI's own: the user gets one sentence, and whoever mends it the traceback."""

import traceback
from pathlib import Path

from textual.worker import WorkerFailed

from bisect_debugger.errors import told_in_a_line
from bisect_debugger.tui.export import cache_folder


def failure_words(error: BaseException | None) -> str:
    """What the UI failed of and where its traceback is, a clause; empty where nothing is known.

    The traceback goes into the user's cache folder, where `copied.txt` is as well; where that
    takes nothing it is printed.
    """
    if isinstance(error, WorkerFailed):
        error = error.error
    if error is None:
        return ""
    what = told_in_a_line(error)
    try:
        return f"{what}; its traceback is in {_keep(error)}"
    except (OSError, RuntimeError):
        # Without a home folder there is no cache folder, which is a RuntimeError.
        traceback.print_exception(error)
        return f"{what}; its traceback is shown above"


def _keep(error: BaseException) -> Path:
    path = cache_folder() / "ui-failure.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="replace")
    return path
