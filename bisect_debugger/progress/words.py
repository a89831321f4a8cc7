"""The sentences that narration says about an event."""

from bisect_debugger.errors import printable
from bisect_debugger.progress.events import (
    Event,
    ExperimentEnded,
    RunEnded,
    Told,
    TwinsBegan,
)


def narrated(event: Event) -> str:
    """The event as a line of narration without its line break; empty where it gets none."""
    match event:
        case TwinsBegan():
            return f"bisect-debugger: the runs go to {printable(str(event.folder))}"
        case RunEnded() if event.phase.is_narrated:
            return f"bisect-debugger: {event.title}: {event.words} ({event.seconds:.0f} s)"
        case ExperimentEnded():
            return f"bisect-debugger: experiment with {event.shown}: {event.words}"
        case Told():
            return f"bisect-debugger: {event.words}"
    return ""
