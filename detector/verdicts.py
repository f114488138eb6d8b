"""Scores -> verdict: the label by the shared rule, offsets back in the customer's own text, confidence, rate card.

`judge` is pure; `of` makes the one Verdict row of a submission, `record_insufficient` writes it.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from detector.models import Submission, Verdict
from detector.ranges import outside
from gpujobs.pod.contract import ScoreResponse, TextOut
from gpujobs.pod.shared import prose
from gpujobs.pod.shared.decision import EVEN, Decision, Thresholds, decide
from gpujobs.pod.shared.normalise import NORMALISER_VERSION

# The word for how sure we are: the strictest measured cap that the probability clears.
CONFIDENCE_CAPS = (("0.005", "high"), ("0.01", "medium"), ("0.05", "low"))
ANY_GENRE = "any"
CLEARLY_HUMAN = 0.05  # calibrated probability of AI below which `human` is said with high confidence
TIER_OF_NO_RUN = "cpu"


@dataclass(frozen=True, slots=True)
class Segment:
    """[start, end) in code points of the original text; label `ai` or `human`; probability calibrated."""

    start: int
    end: int
    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a verdict says, before it is a row. ai_fraction is the share of the segments' characters marked AI."""

    label: str
    probability: float
    ai_fraction: float
    confidence: str
    segments: tuple[Segment, ...]
    scored_characters: int
    max_fpr: str
    rate_card: dict[str, Any] | None


def caps(manifest: dict[str, Any], language: str | None = None) -> list[str]:
    """The false-positive caps for which this model has measured thresholds, strictest first; of any language, or of
    one (few human texts to measure on: no strict cap)."""
    measured = manifest["thresholds"]
    tables = measured.values() if language is None else [measured[language]]
    return sorted({cap for table in tables for cap in table}, key=float)


def cap_of(manifest: dict[str, Any], max_fpr: str) -> str:
    """The policy cap that was asked for, or the model's default, as the manifest's tables spell it."""
    return max_fpr or f"{manifest['default_max_fpr']:g}"


def can_judge(manifest: dict[str, Any], submission: Submission) -> bool:
    """Whether this model has measured thresholds for the submission's language and cap."""
    cap = cap_of(manifest, submission.max_fpr)
    return cap in manifest["thresholds"].get(submission.language, {})


def judge(
    reading: prose.Reading, answer: TextOut, manifest: dict[str, Any], *, language: str, max_fpr: str = ""
) -> Judgement:
    """The verdict on one text. Raises KeyError for a language or cap without measured thresholds."""
    cap = cap_of(manifest, max_fpr)
    measured = manifest["thresholds"][language]
    decision = decide(answer.probability, answer.windows, Thresholds.of(measured[cap], reading.words))
    segments = tuple(_segments(reading, answer, decision))
    scored = sum(segment.end - segment.start for segment in segments)
    marked = sum(segment.end - segment.start for segment in segments if segment.label == Verdict.Label.AI)
    return Judgement(
        label=decision.label,
        probability=answer.probability,
        ai_fraction=marked / scored if scored else 0.0,
        confidence=_confidence(answer, decision, measured, reading.words),
        segments=segments,
        scored_characters=scored,
        max_fpr=cap,
        rate_card=rate_card(manifest, language=language, words=reading.words, cap=cap, genre=answer.genre),
    )


def rate_card(
    manifest: dict[str, Any], *, language: str, words: int, cap: str, genre: str = ""
) -> dict[str, Any] | None:
    """Of human texts like this one, how many were flagged under this cap: the narrowest measured group it belongs to.

    Genre before length: they differ more by what is written than by how much. A model without lines for a cap has none.
    """
    fitting = [
        card
        for card in cards_under(manifest, float(cap))
        if card["language"] == language
        and card["genre"] in (ANY_GENRE, genre)
        and card["words"][0] <= words <= card["words"][1]
    ]
    return min(
        fitting, key=lambda card: (card["genre"] == ANY_GENRE, card["words"][1] - card["words"][0]), default=None
    )


def cards_under(manifest: dict[str, Any], cap: float) -> list[dict[str, Any]]:
    """The rate card's lines that were counted under this cap; a line of an older model is of its default cap."""
    default = manifest.get("default_max_fpr")
    return [card for card in manifest.get("rate_card", []) if float(card.get("max_fpr", default)) == cap]


def of(
    submission: Submission,
    answer: TextOut,
    response: ScoreResponse,
    *,
    tier: str,
    now: datetime,
    degraded: bool = False,
) -> Verdict:
    """The verdict of a scored submission, to be stored by the caller. Raises KeyError as `judge` does."""
    reading = prose.read(submission.text)
    manifest = submission.model_version.manifest
    judged = judge(reading, answer, manifest, language=submission.language, max_fpr=submission.max_fpr)
    return Verdict(
        submission=submission,
        label=judged.label,
        confidence=judged.confidence,
        probability=judged.probability,
        ai_fraction=judged.ai_fraction,
        segments=[asdict(segment) for segment in judged.segments],
        rate_card=judged.rate_card,
        scored_characters=judged.scored_characters,
        calibration_version=response.calibration_version,
        normaliser_version=response.normaliser_version,
        max_fpr=judged.max_fpr,
        tier=tier,
        degraded=degraded,
        **_reading_fields(submission, reading, now),
    )


def record_insufficient(submission: Submission, reading: prose.Reading, reason: str, *, now: datetime) -> Verdict:
    """Writes "not enough evidence": no numbers, no cost."""
    manifest = submission.model_version.manifest
    return Verdict.objects.create(
        submission=submission,
        label=Verdict.Label.INSUFFICIENT,
        reason=reason,
        calibration_version=manifest["calibration_version"],
        normaliser_version=NORMALISER_VERSION,
        max_fpr=cap_of(manifest, submission.max_fpr),
        tier=TIER_OF_NO_RUN,
        **_reading_fields(submission, reading, now),
    )


def _reading_fields(submission: Submission, reading: prose.Reading, now: datetime) -> dict[str, Any]:
    return {
        "model_version": submission.model_version,
        "cleaned": [asdict(found) for found in reading.cleaned],
        "left_out": [asdict(part) for part in reading.left_out],
        "created_at": now,
    }


def _segments(reading: prose.Reading, answer: TextOut, decision: Decision) -> Iterator[Segment]:
    """Each window in code points of the original, cut around what was left out inside it."""
    gaps = [(part.start, part.end) for part in reading.left_out]
    end_of_last = 0
    for window, flagged in zip(answer.windows, decision.flagged, strict=True):
        label = Verdict.Label.AI if flagged else Verdict.Label.HUMAN
        start, end = reading.original_span(window.start, window.end)
        for piece_start, piece_end in outside(max(start, end_of_last), end, gaps):
            yield Segment(piece_start, piece_end, label.value, window.probability)
        end_of_last = max(end_of_last, end)


def _confidence(answer: TextOut, decision: Decision, measured: dict[str, Any], words: int) -> str:
    """For `ai`: the strictest cap that is cleared. For `human`: by the probability itself; above even odds, too little
    for an accusation but no all-clear, it is low. A mixed verdict rests on parts of a text, so it is never high."""
    if decision.label == Verdict.Label.AI:
        cleared = (
            word
            for cap, word in CONFIDENCE_CAPS
            if cap in measured and answer.probability >= Thresholds.of(measured[cap], words).document
        )
        return next(cleared, "low")
    if decision.label == Verdict.Label.MIXED:
        return "medium" if any(decision.flagged) else "low"
    if answer.probability < CLEARLY_HUMAN:
        return "high"
    return "medium" if answer.probability < EVEN else "low"
