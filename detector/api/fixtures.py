"""Made-up checks for test keys: one for every verdict and every error, the same each time, from nothing stored.

A text that contains `inkcloak-test:NAME` gets the fixture of that name, any other text `human`. Ids are made of the
fixture and of the text, so that a made-up check can be read, deleted and run again without a row. They are rows like
real ones, never stored, so that what is presented can't look different. Who answers with them: made_up.py.
"""

import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import Http404
from django.utils.translation import gettext_lazy as _

from billing.quota import Balance
from detector import intake
from detector.models import Submission, Verdict
from gpujobs.models import ModelVersion
from inkcloak import problem_codes
from inkcloak.api import Refused
from inkcloak.errors import Invalid

TOKEN = re.compile(r"inkcloak-test:([a-z_]{1,40})")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)  # when all of them were made
TOOK = timedelta(seconds=1)
MARK = 0xF1C7_0000_0000  # how a made-up id begins; its next two bytes are the fixture's number
VERSION = "made-up"
DEFAULT = "human"
LENGTH = 600  # characters of the text that made-up verdicts speak of
WORDS = 100
BALANCE = Balance(limit=10_000, left=10_000, unit="words", resets_at=MOMENT + timedelta(days=31))
RATE_CARD = {"language": "en", "genre": "any", "words": [50, 199], "k": 4, "n": 800, "low": 0.0019, "high": 0.0128}


@dataclass(frozen=True, slots=True)
class Fixture:
    """A made-up check. verdict: fields of the Verdict; none while `status` is queued, and where it failed."""

    name: str
    status: str = Submission.Status.DONE
    verdict: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    cached: bool = False


def _scored(name: str, label: str, probability: float, confidence: str, marked: int, **more: Any) -> Fixture:
    """marked: characters of the beginning that are called AI."""
    cached = more.pop("cached", False)
    spans = [(0, marked, "ai", max(probability, 0.97)), (marked, LENGTH, "human", min(probability, 0.04))]
    segments = [
        {"start": start, "end": end, "label": mark, "probability": share}
        for start, end, mark, share in spans
        if end > start
    ]
    verdict = {
        "label": label,
        "probability": probability,
        "confidence": confidence,
        "ai_fraction": marked / LENGTH,
        "segments": segments,
        "scored_characters": LENGTH,
        "rate_card": RATE_CARD,
    }
    return Fixture(name, verdict=verdict | more, cached=cached)


def _insufficient(reason: str) -> Fixture:
    return Fixture(reason, verdict={"label": "insufficient", "reason": reason})


FIXTURES: tuple[Fixture, ...] = (
    _scored("human", "human", 0.02, "high", 0),
    _scored("human_unsure", "human", 0.62, "low", 0),
    _scored("mixed", "mixed", 0.55, "medium", 240),
    _scored("ai", "ai", 0.99, "high", LENGTH),
    _scored("ai_unsure", "ai", 0.91, "medium", LENGTH),
    _scored("degraded", "ai", 0.98, "high", LENGTH, degraded=True),
    _scored("cached", "human", 0.03, "high", 0, cached=True),
    *(_insufficient(reason) for reason in Verdict.Reason.values if reason),
    Fixture("queued", status=Submission.Status.QUEUED),
    Fixture("check_failed", status=Submission.Status.FAILED, failure="deadline"),
)
BY_NAME = {fixture.name: fixture for fixture in FIXTURES}
# Every error that the API has; seconds to wait, where one has any.
ERRORS = {code: status for code, (status, _meaning) in problem_codes.CODES.items() if code not in BY_NAME}
WAITS = {"rate_limited": 30, "words_used": 3600, "idempotency_in_flight": 1, "restarting": 5}


def chosen(text: str) -> Fixture:
    """The fixture that a text names. Raises Refused, Invalid."""
    text = intake.storable(text)
    intake.check_limits(text)
    token = TOKEN.search(text)
    name = token[1] if token else DEFAULT
    if name in ERRORS:
        message = _("This error is made up: the text names it.")
        raise Refused(ERRORS[name], name, message, retry_after=WAITS.get(name))
    if name not in BY_NAME:
        message = _("There is no test answer of this name. There are: %(names)s")
        raise Invalid("unknown_fixture", message % {"names": ", ".join([*BY_NAME, *ERRORS])})
    return BY_NAME[name]


def found(written: str) -> Submission:
    """The made-up check of this id. Raises Http404."""
    try:
        number = uuid.UUID(written)
        if number.int >> 76 != MARK << 4 | 8:
            raise ValueError
        return row(FIXTURES[number.int >> 64 & 0xFFF], number)
    except (ValueError, IndexError):
        raise Http404 from None


def number_of(fixture: Fixture, text: str) -> uuid.UUID:
    """The id of a made-up check: MARK, version 8 (of our own making), the fixture, 62 bits of the text's digest."""
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    tail = int.from_bytes(digest[:8], "big") & (1 << 62) - 1
    return uuid.UUID(int=MARK << 80 | (0x8000 | FIXTURES.index(fixture)) << 64 | 1 << 63 | tail)


def row(fixture: Fixture, number: uuid.UUID, metadata: Mapping[str, str] | None = None) -> Submission:
    """A check with its verdict, never stored."""
    finished = fixture.status != Submission.Status.QUEUED
    version = ModelVersion(version=VERSION, name="inkcloak-test")
    submission = Submission(
        pk=number,
        source=Submission.Source.API,
        status=fixture.status,
        failure_code=fixture.failure,
        metadata=dict(metadata or {}),
        language="und" if fixture.name == "no_prose" else "en",
        words=0 if fixture.verdict.get("reason") else WORDS,
        characters=LENGTH,
        model_version=version,
        accepted_at=MOMENT,
        dispatched_at=None if fixture.cached else MOMENT,
        finished_at=MOMENT + TOOK if finished else None,
    )
    if fixture.verdict:
        versions = {"normaliser_version": "1", "calibration_version": "1", "max_fpr": "0.01", "tier": "cpu"}
        Verdict(submission=submission, model_version=version, created_at=MOMENT, **versions | fixture.verdict)
    return submission
