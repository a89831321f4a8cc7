"""One run as it goes: where it is, how fast, and what is left."""

from dataclasses import dataclass, replace

from bisect_debugger.progress.events import (
    Event,
    OnsetSeen,
    Phase,
    RunAdvanced,
    RunBegan,
    RunEnded,
)


@dataclass(frozen=True, slots=True)
class ProcessView:
    """What is known of one of the processes that train, e.g. of a rank.

    Attributes:
        name: e.g. ``rank 1``; empty where one trains.
        first: its first news.
        last: its latest news.
        onset: first step that differs from the first run, or None.
    """

    name: str
    first: RunAdvanced
    last: RunAdvanced
    onset: int | None = None

    @property
    def rate(self) -> float | None:
        """Steps a second between first and latest news; None where two are not there yet."""
        seconds, steps = self.last.at - self.first.at, self.last.step - self.first.step
        return steps / seconds if seconds > 0 and steps > 0 else None


@dataclass(frozen=True, slots=True)
class RunView:
    """What is known of one run.

    Attributes:
        began: its beginning.
        processes: those that train, by name, of which there is news.
        onset: first step that differs from the first run, or None.
        ended: how it ended, or None while it goes on.
    """

    began: RunBegan
    processes: tuple[ProcessView, ...] = ()
    onset: int | None = None
    ended: RunEnded | None = None

    def after(self, event: Event) -> "RunView":
        """The run after one more event."""
        match event:
            case RunAdvanced():
                return replace(self, processes=self._with(event))
            case OnsetSeen(step, process):
                processes = tuple(
                    replace(each, onset=step)
                    if each.name == process and each.onset is None
                    else each
                    for each in self.processes
                )
                first = step if self.onset is None else min(step, self.onset)
                return replace(self, processes=processes, onset=first)
            case RunEnded():
                return replace(self, ended=event)
        return self

    def _with(self, news: RunAdvanced) -> tuple[ProcessView, ...]:
        known = {each.name: each for each in self.processes}
        before = known.get(news.process)
        known[news.process] = (
            ProcessView(news.process, news, news) if before is None else replace(before, last=news)
        )
        return tuple(sorted(known.values(), key=_by_number))

    @property
    def last(self) -> RunAdvanced | None:
        """The latest news: the step that all processes have closed, and what they did together."""
        if not self.processes:
            return None
        news = [each.last for each in self.processes]
        return RunAdvanced(
            min(each.step for each in news),
            sum(each.size for each in news),
            sum(each.digests for each in news),
            sum(each.compared for each in news),
            max(each.at for each in news),
        )

    @property
    def phase(self) -> Phase:
        """What it is there for."""
        return self.began.phase

    @property
    def step(self) -> int | None:
        """The last step that is known to be closed."""
        if self.ended is not None and self.ended.last_step is not None:
            return self.ended.last_step
        return self.last.step if self.last is not None else None

    @property
    def rate(self) -> float | None:
        """Steps a second of the slowest process; None where nothing is known of one."""
        rates = [each.rate for each in self.processes]
        known = [rate for rate in rates if rate is not None]
        return min(known) if known and len(known) == len(rates) else None

    @property
    def fraction(self) -> float | None:
        """Part of the expected steps that is done, 0 to 1; None where nobody knows."""
        if not self.began.expected or self.step is None:
            return None
        return min((self.step + 1) / self.began.expected, 1.0)

    def seconds_left(self, now: float) -> float | None:
        """Seconds until the expected last step, counted down since the latest news."""
        if self.rate is None or self.last is None or not self.began.expected:
            return None
        steps = max(self.began.expected - 1 - self.last.step, 0)
        return max(steps / self.rate - (now - self.last.at), 0.0)

    def words(self, now: float) -> str:
        """Where it is, in one clause."""
        if self.last is None:
            return f"starting ({now - self.began.at:.0f} s)"
        words = f"step {self.last.step}"
        if self.rate:
            words += f", {self.rate:.3g} steps/s"
        words += f", {self.last.size / 1e6:.1f} MB"
        left = self.seconds_left(self.last.at)
        return words if left is None else f"{words}, {left:.0f} s left"


def _by_number(process: ProcessView) -> tuple[int, str]:
    """Rank 2 before rank 10."""
    return len(process.name), process.name
