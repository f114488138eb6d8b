"""A finished submission as plain data: what the command prints as JSON, and the API will answer."""

from typing import Any

from detector.models import Submission, Verdict


def answer(submission: Submission) -> dict[str, Any]:
    """One JSON object. Offsets are code points of the text as it was sent; numbers are null without a verdict."""
    verdict: Verdict = submission.verdict
    return {
        "verdict": verdict.label,
        "reason": verdict.reason or None,
        "confidence": verdict.confidence or None,
        "probability": verdict.probability,
        "ai_fraction": verdict.ai_fraction,
        "segments": verdict.segments,
        "cleaned": verdict.cleaned,
        "left_out": verdict.left_out,
        "rate_card": verdict.rate_card,
        "max_fpr": float(verdict.max_fpr),
        "language": submission.language,
        "words": submission.words,
        "characters": submission.characters,
        "scored_characters": verdict.scored_characters,
        "tier": verdict.tier,
        "degraded": verdict.degraded,
        "model": submission.model_version.name,
        "model_version": verdict.model_version_id,
        "normaliser_version": verdict.normaliser_version,
        "calibration_version": verdict.calibration_version,
    }


def as_lines(answer: dict[str, Any]) -> str:
    """The same for people, careful in its wording: a score is evidence, never proof."""
    lines = [f"verdict: {answer['verdict']}" + (f" ({answer['reason']})" if answer["reason"] else "")]
    if answer["probability"] is not None:
        lines += [
            f"probability that the text is AI: {answer['probability']:.1%} (confidence: {answer['confidence']})",
            f"share of the scored text marked AI: {answer['ai_fraction']:.1%}",
        ]
    lines += [f"cleaned: {found['count']} {found['kind']}" for found in answer["cleaned"]]
    lines += [f"left out: {part['kind']} at {part['start']}-{part['end']}" for part in answer["left_out"]]
    lines.append(f"model: {answer['model']} {answer['model_version']}")
    lines.append("A score must not be the only basis for acting against somebody.")
    return "\n".join(lines)
