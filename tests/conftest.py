"""What holds for every test: the machine's own settings stay out, and CI repeats itself."""

import os
import signal

import pytest
from hypothesis import settings

# A deadline would be a wall-clock second in a test; examples are bounded by count instead.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# A shell starts what it puts into the background deaf to interrupts, and what that starts is too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# `nohup` and the like keep their effect here, while children begin with the default.
for deaf in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(deaf) is signal.SIG_IGN:
        signal.signal(deaf, lambda number, frame: None)

MACHINE_SETTINGS = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "PYTHONHASHSEED",
    "PYTHONOPTIMIZE",
    "OMP_NUM_THREADS",
)


@pytest.fixture(autouse=True)
def _machine_settings_stay_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MACHINE_SETTINGS:
        monkeypatch.delenv(name, raising=False)
