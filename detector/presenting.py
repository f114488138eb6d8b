"""A submission as plain data: the one JSON of a verdict, whoever asks for it.

    answer()      what was decided: `check_text --json` prints it, reports and the API carry it
    detection()   the API's object: answer() with its circumstances; before there is a verdict the same names, null
    summary()     detection() without what is long, for lists
    usage()       words charged and held, and what the account has left
    as_lines()    an answer for people, on a terminal

Offsets are code points of the text as it was sent; numbers are null without a verdict.
"""

from typing import Any

from billing.models import Reservation
from billing.quota import Balance
from detector.models import Submission, Verdict

LONG = ("segments", "cleaned", "left_out", "rate_card")  # what lists leave out
DECIDED = (
    "verdict", "reason", "confidence", "probability", "ai_fraction", *LONG, "max_fpr", "scored_characters", "tier",
    "degraded", "model", "model_version", "normaliser_version", "calibration_version",
)  # fmt: skip


def answer(submission: Submission) -> dict[str, Any]:
    """What was decided about a finished submission, with every version that it rests on."""
    verdict: Verdict = submission.verdict
    long = {name: getattr(verdict, name) for name in LONG}
    return _decided(submission) | long | _read(submission)


def detection(submission: Submission, balance: Balance | None = None) -> dict[str, Any]:
    """The API's object for one submission. balance: of its account, where it is said."""
    decided = answer(submission) if submission.status == Submission.Status.DONE else dict.fromkeys(DECIDED)
    return _around(submission, balance) | decided | _read(submission)


def summary(submission: Submission) -> dict[str, Any]:
    """One row of a list, without touching the verdict's long columns."""
    decided = _decided(submission) if submission.status == Submission.Status.DONE else dict.fromkeys(DECIDED)
    row = _around(submission, None) | decided | _read(submission)
    return {name: value for name, value in row.items() if name not in LONG}


def usage(*, charged: int = 0, held: int = 0, balance: Balance | None = None) -> dict[str, Any]:
    """words_charged: for good.  words_held: while a text is being checked; then charged, or given back."""
    return {"words_charged": charged, "words_held": held, "balance": None if balance is None else left(balance)}


def left(balance: Balance) -> dict[str, Any]:
    """What an account may still use."""
    return {"limit": balance.limit, "left": balance.left, "resets_at": balance.resets_at}


def _decided(submission: Submission) -> dict[str, Any]:
    verdict: Verdict = submission.verdict
    return {
        "verdict": verdict.label,
        "reason": verdict.reason or None,
        "confidence": verdict.confidence or None,
        "probability": verdict.probability,
        "ai_fraction": verdict.ai_fraction,
        "max_fpr": float(verdict.max_fpr),
        "scored_characters": verdict.scored_characters,
        "tier": verdict.tier,
        "degraded": verdict.degraded,
        "model": submission.model_version.name,
        "model_version": verdict.model_version_id,
        "normaliser_version": verdict.normaliser_version,
        "calibration_version": verdict.calibration_version,
    }


def _read(submission: Submission) -> dict[str, Any]:
    """What is known of a text from the start."""
    return {"language": submission.language, "words": submission.words, "characters": submission.characters}


def _around(submission: Submission, balance: Balance | None) -> dict[str, Any]:
    return {
        "id": str(submission.pk),
        "object": "detection",
        "live": True,
        "status": submission.status,
        "failure": submission.failure_code or None,
        "created_at": submission.accepted_at,
        "finished_at": submission.finished_at,
        "source": submission.source,
        "batch": _id(submission.batch_id),
        "rerun_of": _id(submission.recheck_of_id),
        "cached": submission.status == Submission.Status.DONE and submission.is_repeat,
        "pinned": submission.pinned,
        "store": submission.store,
        "metadata": submission.metadata,
        "file_name": submission.file_name or None,
        "usage": usage(**_words(submission.reservation), balance=balance),
    }


def _id(key: object) -> str | None:
    return None if key is None else str(key)


def _words(reservation: Reservation | None) -> dict[str, int]:
    if reservation is None or reservation.status == Reservation.Status.RELEASED:
        return {}
    settled = reservation.status == Reservation.Status.SETTLED
    return {"charged" if settled else "held": reservation.amount}


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
