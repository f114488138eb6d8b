"""The one rule that turns a text's probabilities into a verdict. Pure; pod and site apply it alike.

    ai        the document's probability reaches the document threshold, and the windows that are more likely AI than
              not (`EVEN`) make up most of the text: these are flagged, the evidence of their neighbours counting
    mixed     the document reaches it, but such windows make up less; or it doesn't, but windows that reach the window
              threshold on their own make up a real share of the text: where an AI's hand is shown, every window that
              is more likely AI than not is flagged
    human     otherwise; nothing is flagged then

Windows end where the writer seems to change (segments.py), so that each has one writer's number.
`ai_fraction` is the share of flagged characters, to the character what a page highlights.
A text of one window is `ai` exactly when its probability reaches the document threshold, else `human`: with
one window there is nothing that could be mixed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpujobs.pod.contract import WindowScore

EVEN = 0.5  # calibrated probability from which a window of a text above the document threshold is flagged
AI_SHARE = 0.8  # of the characters flagged, at least, in a text called `ai`
MIXED_SHARE = 0.08  # of the characters in windows over the window threshold, in a text called `mixed` by these alone


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Calibrated probabilities for one false-positive cap, from the model folder's manifest."""

    document: float
    window: float

    @classmethod
    def of(cls, entry: Mapping[str, Any], words: int) -> "Thresholds":
        """Those of a manifest's entry for a text of `words` words as read: of its length band where it has one."""
        for band in entry.get("bands", ()):
            low, high = band["words"]
            if low <= words <= high:
                entry = band
                break
        return cls(float(entry["document"]), float(entry["window"]))


@dataclass(frozen=True, slots=True)
class Decision:
    """label: human, mixed or ai.  ai_fraction: share of characters in flagged windows, 0 for human.

    flagged: (len(windows),), which windows are marked.
    """

    label: str
    ai_fraction: float
    flagged: tuple[bool, ...]


def decide(probability: float, windows: Sequence[WindowScore], thresholds: Thresholds) -> Decision:
    """The verdict on one text. probability: calibrated, of the document; windows cover it without gaps."""
    if not windows:
        return Decision("human", 0.0, ())
    if probability >= thresholds.document:
        # The document's number is a mean, so at least its strongest window carries the verdict.
        lowest = min(EVEN, max(w.probability for w in windows))
        flagged = tuple(w.probability >= lowest for w in windows)
        share = _share(windows, flagged)
        return Decision("ai" if share >= AI_SHARE else "mixed", share, flagged)
    sure = tuple(w.probability >= thresholds.window for w in windows)
    if len(windows) > 1 and _share(windows, sure) >= MIXED_SHARE:
        lowest = min(EVEN, thresholds.window)
        flagged = tuple(w.probability >= lowest for w in windows)
        return Decision("mixed", _share(windows, flagged), flagged)
    return Decision("human", 0.0, (False,) * len(windows))


def _share(windows: Sequence[WindowScore], flagged: Sequence[bool]) -> float:
    total = sum(w.end - w.start for w in windows)
    marked = sum(w.end - w.start for w, caught in zip(windows, flagged, strict=True) if caught)
    return marked / total if total else 0.0
