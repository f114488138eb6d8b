"""accept(): the only place where a Submission is born.

Limits and evidence are looked at here, so that what costs nothing is known before anything is reserved: a text with
too little evidence gets its `insufficient` verdict at once, a repeat the verdict of before, everything else is reserved
for and queued, in one transaction.
"""

import codecs
import hashlib
import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from billing import accounts, quota
from billing.models import Reservation
from detector import reuse as repeats
from detector import verdicts, wakeups
from detector.models import Submission, Verdict
from gpujobs import registry
from gpujobs.models import ModelVersion
from gpujobs.pod.shared import language as languages
from gpujobs.pod.shared import prose
from inkcloak.errors import Exhausted, Invalid

MAX_CHARACTERS = 100_000
MAX_BYTES = 4 * MAX_CHARACTERS + 4  # UTF-8 or UTF-16 needs at most four a character, and a byte order mark

# PostgreSQL stores neither; each is replaced one for one, so that code point offsets stay true.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What can be scored of a text. `reason` is a Verdict.Reason, empty when there is enough."""

    reading: prose.Reading
    language: str
    reason: str


def accept(
    *,
    owner: accounts.Owner,
    text: str,
    source: str,
    now: datetime,
    nonce: uuid.UUID | None = None,
    max_fpr: str = "",
    recheck_of: Submission | None = None,
    lane: Submission.Lane = Submission.Lane.INTERACTIVE,
    reuse: bool = True,
) -> Submission:
    """A new Submission, or the one that this form made before.

    reuse: an earlier verdict of the owner's on the same text may be the answer; False where scores are measured.

    Raises Invalid for what cannot be checked at all (empty, over the limit), Exhausted when the owner has nothing
    left, Unavailable while no model is in service. Nothing is stored or charged then.
    """
    text = storable(text)
    check_limits(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    known = _already_accepted(owner, nonce, digest)
    if known is not None:
        return known
    version = registry.resolve()
    found = evidence(text, version.manifest)
    fields = _fields(owner, text, found, version, now) | {
        "source": source,
        "nonce": nonce,
        "digest": digest,
        "max_fpr": _cap(max_fpr, version.manifest, found),
        "recheck_of": recheck_of,
        "lane": lane,
    }
    try:
        return _store(owner, fields, found, now, reuse=reuse)
    except (IntegrityError, Exhausted):
        # The same form, posted at the same moment: the other one was first, and may have taken what was left.
        known = _already_accepted(owner, nonce, digest)
        if known is None:
            raise
        return known


def decode(data: bytes) -> str:
    """The text of a file. Raises Invalid unless it is UTF-8, or UTF-16 that says so by its byte order mark."""
    if len(data) > MAX_BYTES:
        message = _("The file has more than %(limit)d bytes, so more than %(characters)d characters.")
        raise Invalid("too_long", message % {"limit": MAX_BYTES, "characters": MAX_CHARACTERS})
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        message = _("The file is not UTF-8 text. Save it as UTF-8 (in most editors: Save as, Encoding) and try again.")
        raise Invalid("bad_encoding", message) from None


def storable(text: str) -> str:
    """The text with NUL and lone surrogates replaced one for one."""
    return _UNSTORABLE.sub(lambda match: "\x01" if match.group() == "\x00" else "\ufffd", text)


def check_limits(text: str) -> None:
    """Raises Invalid with the limit named."""
    if not text.strip():
        raise Invalid("empty", _("There is no text to check. Paste some, or choose a file."))
    if len(text) > MAX_CHARACTERS:
        message = _("The text has %(length)d characters; the limit is %(limit)d. Nothing was checked or charged.")
        raise Invalid("too_long", message % {"length": len(text), "limit": MAX_CHARACTERS})


def evidence(text: str, manifest: dict[str, Any]) -> Evidence:
    """Reads the prose out of the text and says whether a verdict can rest on it."""
    reading = prose.read(text)
    if reading.words == 0:
        return Evidence(reading, "und", Verdict.Reason.NO_PROSE)
    language = languages.detect(reading.text).language
    if reading.words < manifest["min_words"]:
        mostly_left_out = sum(part.end - part.start for part in reading.left_out) > len(text) / 2
        reason = Verdict.Reason.NO_PROSE if mostly_left_out else Verdict.Reason.TOO_SHORT
        return Evidence(reading, language, reason)
    if language not in manifest["languages"]:
        return Evidence(reading, language, Verdict.Reason.UNSUPPORTED_LANGUAGE)
    return Evidence(reading, language, Verdict.Reason.NONE)


def _fields(owner: accounts.Owner, text: str, found: Evidence, version: ModelVersion, now: datetime) -> dict[str, Any]:
    return {
        "account": owner.account,
        "visitor": owner.visitor,
        "user": owner.user,
        "text": text,
        "characters": len(text),
        "words": found.reading.words,
        "language": found.language,
        "model_version": version,
        "accepted_at": now,
        "deadline_at": now + timedelta(seconds=settings.CHECK_DEADLINE_SECONDS),
    }


@transaction.atomic
def _store(owner: accounts.Owner, fields: dict[str, Any], found: Evidence, now: datetime, *, reuse: bool) -> Submission:
    if found.reason:
        submission = Submission.objects.create(**fields, status=Submission.Status.DONE, finished_at=now)
        verdicts.record_insufficient(submission, found.reading, found.reason, now=now)
        return submission
    earlier = repeats.earlier(Submission(**fields), now=now) if reuse else None
    if earlier is not None:
        answered = {"status": Submission.Status.DONE, "finished_at": now}
        same = {"model_version": earlier.model_version, "reused_from": earlier}
        submission = Submission.objects.create(**fields | answered | same)
        repeats.repeat(earlier.verdict, submission)
        return submission
    submission = Submission.objects.create(**fields, reservation=_reserve(owner, found, now))
    transaction.on_commit(wakeups.queue_has_work)
    return submission


def _reserve(owner: accounts.Owner, found: Evidence, now: datetime) -> Reservation:
    allowance = accounts.allowance_of(owner, now)
    amount = found.reading.words if owner.account else 1
    return quota.reserve(allowance=allowance, amount=amount, now=now)


def _cap(max_fpr: str, manifest: dict[str, Any], found: Evidence) -> str:
    """The policy cap as the manifest spells it. Raises Invalid for one that was not measured for this language."""
    caps = verdicts.caps(manifest, None if found.reason else found.language)
    if max_fpr and max_fpr not in caps:
        message = _("For this text the false-positive limit must be one of %(caps)s: others were not measured.")
        raise Invalid("unknown_max_fpr", message % {"caps": ", ".join(caps)})
    return max_fpr


def _already_accepted(owner: accounts.Owner, nonce: uuid.UUID | None, digest: str) -> Submission | None:
    if nonce is None:
        return None
    return Submission.objects.filter(account=owner.account, visitor=owner.visitor, nonce=nonce, digest=digest).first()
