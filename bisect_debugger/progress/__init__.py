"""What a driver tells while its runs go on: frozen events, and who hears them.

events   what happens, one frozen value each; a listener takes them
run      one run as it goes: steps, rate, what is left; a fold over its events
state    all runs and experiments of a `twin`; a fold over all events
words    the sentences that narration says about an event
tail     the last lines of a stream of bytes
watched  a listener that another thread may look at
stop     asking a driver in another thread to end
"""

from bisect_debugger.progress.events import (
    Event,
    ExperimentBegan,
    ExperimentEnded,
    ExperimentsBegan,
    Judging,
    Listener,
    OnsetSeen,
    Phase,
    RunAdvanced,
    RunBegan,
    RunEnded,
    StillRunning,
    Told,
    TrainerSaid,
    TwinsBegan,
)
from bisect_debugger.progress.run import ProcessView, RunView
from bisect_debugger.progress.state import ExperimentView, TwinsView
from bisect_debugger.progress.stop import Stop
from bisect_debugger.progress.tail import Tail
from bisect_debugger.progress.watched import Seen, Watched

__all__ = [
    "Event",
    "ExperimentBegan",
    "ExperimentEnded",
    "ExperimentView",
    "ExperimentsBegan",
    "Judging",
    "Listener",
    "OnsetSeen",
    "Phase",
    "ProcessView",
    "RunAdvanced",
    "RunBegan",
    "RunEnded",
    "RunView",
    "Seen",
    "StillRunning",
    "Stop",
    "Tail",
    "Told",
    "TrainerSaid",
    "TwinsBegan",
    "TwinsView",
    "Watched",
]
