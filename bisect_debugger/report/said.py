"""What is said about each origin, where several have the same cause: the advice once."""

from collections.abc import Sequence
from dataclasses import dataclass

from bisect_debugger.diagnosis.model import Cause, Origin


@dataclass(frozen=True, slots=True)
class Said:
    """The words about one origin that do not stand under an earlier one already.

    Attributes:
        evidence: sentences that support the cause.
        advice: what to change.
        confirm: what would confirm or refute the cause.
        as_for: number of the earlier origin with the same advice; 0 where there is none.
        repeats_evidence: some of the evidence stands there too.
    """

    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    confirm: str
    as_for: int = 0
    repeats_evidence: bool = False

    @property
    def reference(self) -> str:
        """Where to find what is left out, e.g. ``why, try and confirm: as for 1``, or nothing."""
        if not self.as_for:
            return ""
        return f"{'why, ' if self.repeats_evidence else ''}try and confirm: as for {self.as_for}"


def say_once(origins: Sequence[Origin]) -> tuple[Said, ...]:
    """The words about each origin, in order."""
    first: dict[Cause, tuple[int, Origin]] = {}
    said = []
    for number, origin in enumerate(origins, 1):
        earlier, same = first.setdefault(origin.cause, (number, origin))
        if earlier == number or (origin.advice, origin.confirm) != (same.advice, same.confirm):
            said.append(Said(origin.evidence, origin.advice, origin.confirm))
            continue
        fresh = tuple(line for line in origin.evidence if line not in same.evidence)
        said.append(Said(fresh, (), "", earlier, len(fresh) < len(origin.evidence)))
    return tuple(said)
