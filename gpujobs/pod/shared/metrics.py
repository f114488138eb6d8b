"""Figures of a detector, as the field defines them: AUROC, TPR at a capped FPR, Brier, ECE, Wilson intervals.

Pure, numpy only; may be imported by pod and site alike. labels are 1 for AI and 0 for human, scores higher
for AI.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

Z_95 = 1.959963984540054  # two-sided 95 %


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A threshold in the unit of the scores (flagged: score >= threshold) and the rates really reached
    there.
    """

    threshold: float
    tpr: float
    fpr: float


def auroc(scores: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Probability that a random AI text scores above a random human one, ties counted half.

    Raises ValueError when one class is missing. Source: Mann-Whitney U, as in Hanley and McNeil 1982.
    """
    ai, human = _classes(scores, labels)
    if not len(ai) or not len(human):
        raise ValueError("AUROC needs texts of both classes")
    ordered = np.sort(human)
    below = np.searchsorted(ordered, ai, side="left")
    not_above = np.searchsorted(ordered, ai, side="right")
    return float((below + not_above).sum() / (2 * len(ai) * len(human)))


def tpr_at_fpr(scores: npt.ArrayLike, labels: npt.ArrayLike, max_fpr: float = 0.01) -> OperatingPoint:
    """Share of AI texts caught while at most `max_fpr` of human texts are flagged.

    scores: (n,) float, higher is more AI-like.  labels: (n,) int, 1 = AI, 0 = human.
    Returns the lowest such threshold with the TPR and the FPR really reached there.
    Raises ValueError if there are fewer than 1 / max_fpr human texts (the figure would be a guess) or no AI
    text.
    Source: RAID (Dugan et al. 2024), section 5, with one threshold for all domains.
    """
    ai, human = _classes(scores, labels)
    if len(human) * max_fpr < 1 - 1e-9:
        raise ValueError(f"{len(human)} human texts are too few for an FPR of {max_fpr:g}")
    if not len(ai):
        raise ValueError("TPR needs AI texts")
    allowed = math.floor(len(human) * max_fpr + 1e-9)
    # Just above the first human score that must stay unflagged: ties with it stay unflagged as well.
    barrier = np.sort(human)[::-1][allowed] if allowed < len(human) else -np.inf
    threshold = float(np.nextafter(barrier, np.inf))
    return OperatingPoint(threshold, float((ai >= threshold).mean()), float((human >= threshold).mean()))


def brier(probabilities: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Mean squared distance of probability and label; 0 is perfect. Source: Brier 1950, binary form."""
    p, y = _pair(probabilities, labels)
    return float(np.mean((p - y) ** 2))


def ece(probabilities: npt.ArrayLike, labels: npt.ArrayLike, bins: int = 15) -> float:
    """Expected calibration error: mean distance of probability and share of AI over equally wide bins.

    Source: Guo et al. 2017, section 3, for the positive class of two.
    """
    p, y = _pair(probabilities, labels)
    bin_of = np.minimum((p * bins).astype(int), bins - 1)
    total = 0.0
    for number in range(bins):
        inside = bin_of == number
        if inside.any():
            total += inside.mean() * abs(p[inside].mean() - y[inside].mean())
    return float(total)


def wilson(k: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """Interval of a share of k in n at 95 %; (0, 1) when n is 0. Source: Wilson 1927; Brown, Cai and
    DasGupta 2001.
    """
    if n == 0:
        return 0.0, 1.0
    share, square = k / n, z * z
    centre = (share + square / (2 * n)) / (1 + square / n)
    spread = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    # The ends are exact where rounding would leave 3e-18.
    return (0.0 if k == 0 else centre - spread), (1.0 if k == n else centre + spread)


def _pair(values: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Array, Array]:
    v, y = np.asarray(values, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if v.shape != y.shape or v.ndim != 1 or not len(v):
        raise ValueError("values and labels must be two rows of one length, not empty")
    if not np.isfinite(v).all():
        raise ValueError("a value is not finite")
    return v, y


def _classes(scores: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Array, Array]:
    s, y = _pair(scores, labels)
    return s[y == 1], s[y == 0]
