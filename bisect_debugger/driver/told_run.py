"""One run of the trainer, told from its beginning to how it ended."""

from collections.abc import Sequence

from bisect_debugger.driver.outcome import Recorded
from bisect_debugger.driver.patience import OutOfTime, Patience, Stuck
from bisect_debugger.driver.record import record
from bisect_debugger.driver.reporting import RunReport
from bisect_debugger.driver.session import Settings


def run_told(
    command: Sequence[str],
    settings: Settings,
    report: RunReport,
    patience: Patience | None = None,
) -> Recorded:
    """Record a run, and tell how it ended.

    Args:
        command: program and arguments.
        settings: what is recorded, and where it goes.
        report: tells about the run; its end, too.
        patience: for how long it is waited; to its end by default.

    Raises:
        UsageError, TrainerFailed, OutOfTime, Stuck, KeyboardInterrupt: as of `record`.
    """
    try:
        recorded = record(command, settings, report=report, patience=patience)
    except (OutOfTime, Stuck) as ended:
        report.end(str(ended))
        raise
    except BaseException:
        report.end("ended without a whole run")
        raise
    words = f"steps 0 to {recorded.last_step}" if recorded.last_step >= 0 else "no step"
    if recorded.onset is not None:
        words += f", differs from the first run since step {recorded.onset}"
    elif settings.reference is not None:
        words += ", equal to the first run so far as was compared live"
    if recorded.stopped:
        words += f", {recorded.stopped}"
    report.end(words, recorded.last_step)
    return recorded
