"""An origin whose cause a proof named otherwise than the recordings did."""

from collections.abc import Sequence
from dataclasses import replace

from bisect_debugger.causality.causes import REMEDIES, Cause
from bisect_debugger.causality.variants import VARIANTS
from bisect_debugger.diagnosis.model import Alternative, Diagnosis, Origin
from bisect_debugger.diagnosis.sentence import origin_words
from bisect_debugger.diagnosis.trail import CONCLUSION, conclusion_of

_MEANS_A_LOOK = frozenset((Cause.DATA_ORDER, Cause.SAMPLER_ORDER, Cause.WALL_CLOCK))
"""Causes whose meaning says what the recordings show, and that a proof alone does not show."""


def with_cause(origin: Origin, cause: Cause, first_advice: Sequence[str] = ()) -> Origin:
    """The origin with the cause that a proof speaks for; what it was is an alternative.

    Args:
        origin: as the recordings alone speak of it.
        cause: as it is known now.
        first_advice: what stands before the advice of the cause.
    """
    if cause is origin.cause:
        return origin
    remedy = REMEDIES[cause]
    meant = {known.meaning for known in (*REMEDIES.values(), *VARIANTS.values())}
    meaning = () if cause in _MEANS_A_LOOK else (remedy.meaning,)
    evidence: list[str] = []
    for words in origin.evidence:
        evidence += meaning if words in meant else (words,)
    before = Alternative(origin.cause, "The recordings alone spoke for it.")
    others = (each for each in origin.alternatives if each.cause is not cause)
    return replace(
        origin,
        cause=cause,
        evidence=tuple(evidence),
        advice=tuple(dict.fromkeys((*first_advice, *remedy.advice))),
        confirm=remedy.confirm,
        alternatives=(before, *others),
    )


def with_origins(diagnosis: Diagnosis, origins: Sequence[Origin]) -> Diagnosis:
    """The diagnosis with origins of which more is known; it calls them as they are now.

    Args:
        diagnosis: with the origins as the recordings alone speak of them.
        origins: the same ones, in the same order.
    """
    sentence, place = diagnosis.sentence, 0
    for before, now in zip(diagnosis.origins, origins, strict=True):
        # In their order, as one name may end in another.
        found = sentence.find(origin_words(before), place)
        if found >= 0:
            end = found + len(origin_words(before))
            sentence = sentence[:found] + origin_words(now) + sentence[end:]
            place = found + len(origin_words(now))
    trail = diagnosis.trail
    if origins and trail and trail[-1].node == CONCLUSION:
        trail = (*trail[:-1], conclusion_of(origins[0]))
    return replace(diagnosis, origins=tuple(origins), sentence=sentence, trail=trail)
