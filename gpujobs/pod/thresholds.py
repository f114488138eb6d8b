"""Chooses thresholds by the product's own rule so that human texts stay under a cap, in every group there is.

Runs on the development halves only, which no training saw; what it promises is then measured on the report
halves. Pure. May be imported by: packaging. Imports: shared.decision.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gpujobs.pod.contract import WindowScore
from gpujobs.pod.shared.decision import Thresholds, decide

CAPS = (0.005, 0.01, 0.05)
DOCUMENT_SHARE_OF_CAP = 0.7  # of the false positives allowed; windows alone may add the rest
SMALLEST_GROUP = 100  # human texts of a source or genre; smaller ones are judged only within their whole
POOLED = ("all", "part ")  # groups that stand for what customers send
HIGHEST = 0.9999
# Document thresholds never go below these, however well a language's texts happen to separate: its evidence may be a
# few sources, and a verdict on a probability below them would be hard to explain.
LOWEST = {0.005: 0.9, 0.01: 0.8, 0.05: 0.5}


@dataclass(frozen=True, slots=True)
class Scored:
    """One scored text. groups: every group in which its cap must hold (`all`, the part, the source)."""

    label: int
    probability: float
    windows: tuple[WindowScore, ...]
    groups: tuple[str, ...]


def choose(texts: Sequence[Scored], cap: float, *, lowest: float = 0.0) -> Thresholds:
    """The lowest document threshold, then the lowest window threshold, that keep every group's human texts under cap.

    Pooled groups (POOLED) of n human texts may have floor(cap * (n + 1)) - 1 flagged, the split conformal bound: the
    next text of the group is flagged with a chance of at most `cap` (Vovk et al. 2005; Angelopoulos and Bates 2023,
    section 1); where that is below none they are too few to say anything. Other groups, sources and genres of
    SMALLEST_GROUP texts and more, may have floor(cap * (n + 1)), or two, so that a single odd text doesn't decide for
    everybody. The document threshold is `lowest` at least. Raises ValueError when the human texts are too few.
    """
    human = [t for t in texts if not t.label]
    if len(human) * cap < 1:
        raise ValueError(f"{len(human)} human texts are too few for a cap of {cap:g}")
    sizes = Counter(group for t in human for group in t.groups)
    allowed = _allowed(sizes, cap)
    by_document = {group: math.ceil(k * DOCUMENT_SHARE_OF_CAP) for group, k in allowed.items()}
    # With windows out of the way first: a threshold above 1 flags none.
    document = _lowest(human, [t.probability for t in human], lambda t: Thresholds(t, 2.0), by_document)
    document = max(document, lowest)
    peaks = [w.probability for t in human for w in t.windows if w.probability >= document]
    window = _lowest(human, [document, *peaks], lambda t: Thresholds(document, t), allowed)
    return Thresholds(document, window)


def flagged(texts: Iterable[Scored], thresholds: Thresholds) -> list[bool]:
    """Which texts get another verdict than `human`."""
    return [decide(t.probability, t.windows, thresholds).label != "human" for t in texts]


def _allowed(sizes: Counter[str], cap: float) -> dict[str, int]:
    most = {group: _most(group, n, cap) for group, n in sizes.items()}
    return {group: k for group, k in most.items() if k >= 0}


def _most(group: str, n: int, cap: float) -> int:
    """How many of a group's n texts may be flagged; negative where the group is too small to say."""
    if group.startswith(POOLED):
        return math.floor(cap * (n + 1)) - 1
    return max(2, math.floor(cap * (n + 1))) if n >= SMALLEST_GROUP else -1


def _lowest(
    human: Sequence[Scored],
    values: Sequence[float],
    make: Callable[[float], Thresholds],
    allowed: dict[str, int],
) -> float:
    """Bisects over the candidate values for the lowest threshold that keeps within what is allowed."""
    candidates = sorted({_above(v) for v in values} | {min(values)} | {HIGHEST})
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        if _holds(human, make(candidates[middle]), allowed):
            high = middle
        else:
            low = middle + 1
    return candidates[low]


def _above(value: float) -> float:
    """Just above a probability, at six digits: what a manifest shows is what decides."""
    return min(HIGHEST, math.floor(value * 1e6 + 1) / 1e6)


def _holds(human: Sequence[Scored], thresholds: Thresholds, allowed: dict[str, int]) -> bool:
    hits = Counter(group for t, hit in zip(human, flagged(human, thresholds), strict=True) if hit for group in t.groups)
    return all(hits[group] <= most for group, most in allowed.items())
