"""accept(): the only place where a Submission is born; accept_all() is its plural.

    read()         a text -> what will be stored of it and what can be scored; costs time, writes nothing
    accept()       one text that somebody waits for
    accept_all()   texts of one batch, each refused alone

Limits and evidence are looked at here, so that what costs nothing is known before anything is reserved: a text with
too little evidence gets its `insufficient` verdict at once, a repeat the verdict of before, everything else is reserved
for and queued, in one transaction.
"""

import codecs
import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from billing import accounts, ledger, quota
from billing.models import ApiKey
from detector import reuse as repeats
from detector import verdicts, wakeups, webhooks
from detector.models import Batch, Submission, Verdict
from gpujobs import registry
from gpujobs.models import ModelVersion
from gpujobs.pod.shared import language as languages
from gpujobs.pod.shared import prose
from inkcloak.errors import DomainError, Exhausted, Invalid

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller of the API may say about a text; the defaults are what the page means.

    language: the caller's word for it, which decides what the text leaves open; "" = none.
    pinned: the version that shall answer and no other.
    store: False = the text is forgotten when there is a verdict.  metadata: the caller's own, kept and given back.
    file_name: what the text came in, as detector.files.names cleans it.
    """

    language: str = ""
    pinned: ModelVersion | None = None
    max_fpr: str = ""
    store: bool = True
    metadata: Mapping[str, str] = field(default_factory=dict)
    api_key: ApiKey | None = None
    file_name: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A text that has been read, as it will be stored."""

    text: str
    digest: str
    version: ModelVersion
    found: Evidence
    asked: Asked

    @property
    def words(self) -> int:
        """To pay for, unless the text is a repeat."""
        return 0 if self.found.reason else self.found.reading.words


PLAIN = Asked()


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
    asked: Asked = PLAIN,
) -> Submission:
    """A new Submission, or the one that this form made before.

    reuse: an earlier verdict of the owner's on the same text may be the answer; False where scores are measured.
    max_fpr: as in `asked`, for whoever asks nothing else.

    Raises Invalid for what cannot be checked at all (empty, over the limit), Exhausted when the owner has nothing
    left, Unavailable while no model is in service. Nothing is stored or charged then.
    """
    text = storable(text)
    check_limits(text)
    digest = _digest(text)
    known = _already_accepted(owner, nonce, digest)
    if known is not None:
        return known
    ready = read(text, asked=replace(asked, max_fpr=max_fpr) if max_fpr else asked)
    fields = _fields(owner, ready, now) | {"source": source, "nonce": nonce, "recheck_of": recheck_of, "lane": lane}
    try:
        with transaction.atomic():
            submission = _store(owner, fields, ready.found, now, reuse=reuse)
            webhooks.accepted(owner.account, [submission], now=now)
    except (IntegrityError, Exhausted):
        # The same form, posted at the same moment: the other one was first, and may have taken what was left.
        known = _already_accepted(owner, nonce, digest)
        if known is None:
            raise
        return known
    if not submission.is_finished:
        transaction.on_commit(wakeups.queue_has_work)
    return submission


def accept_all(
    *, owner: accounts.Owner, texts: Mapping[int, Ready], batch: Batch, source: str, now: datetime
) -> dict[int, Submission | DomainError]:
    """Texts of one batch in one transaction, by their places; one that the allowance has no room for fails alone.

    What a process that died had stored of the batch is not stored again. Texts are a microsecond apart, so that lists
    keep their order.
    """
    with transaction.atomic():
        known = {row.place: row for row in batch.submissions.filter(place__in=texts)}
        taken: dict[int, Submission | DomainError] = {place: row for place, row in known.items() if place is not None}
        fresh = {place: ready for place, ready in texts.items() if place not in taken}
        seen = repeats.seen(owner, [ready.digest for ready in fresh.values()])
        queued: dict[int, Submission] = {}
        for place, ready in fresh.items():
            at = batch.created_at + timedelta(microseconds=place)
            fields = _fields(owner, ready, now) | {"source": source, "lane": Submission.Lane.BULK, "accepted_at": at}
            fields |= {"batch": batch, "place": place}
            answered = _answered(owner, fields, ready.found, now, reuse=ready.digest in seen)
            if answered is None:
                queued[place] = Submission(**fields)
            else:
                taken[place] = answered
        taken |= _queue(owner, queued, now)
        stored = [found for place, found in taken.items() if isinstance(found, Submission) and place not in known]
        webhooks.accepted(owner.account, stored, now=now)
        if not all(found.is_finished for found in stored):
            transaction.on_commit(wakeups.queue_has_work)
    return taken


def read(text: str, *, asked: Asked = PLAIN, champion: ModelVersion | None = None) -> Ready:
    """Raises Invalid for what cannot be checked at all, Unavailable while no model is in service.

    champion: the version in service, where many texts are read and it was looked up before.
    """
    text = storable(text)
    check_limits(text)
    version = asked.pinned or champion or registry.resolve()
    found = evidence(text, version.manifest, language=asked.language)
    _check_cap(asked.max_fpr, version.manifest, found)
    return Ready(text, _digest(text), version, found, asked)


def is_repeat(ready: Ready, *, owner: accounts.Owner, now: datetime) -> bool:
    """Whether an earlier verdict of the owner's would answer. Stores nothing."""
    if ready.found.reason:
        return False
    with transaction.atomic():
        return repeats.earlier(Submission(**_fields(owner, ready, now)), now=now) is not None


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


def evidence(text: str, manifest: dict[str, Any], *, language: str = "") -> Evidence:
    """Reads the prose out of the text and says whether a verdict can rest on it.

    language: what somebody says it is in; it only decides what the text leaves open.
    """
    reading = prose.read(text)
    if reading.words == 0:
        return Evidence(reading, "und", Verdict.Reason.NO_PROSE)
    language = languages.settle(reading.text, language).language
    if reading.words < manifest["min_words"]:
        mostly_left_out = sum(part.end - part.start for part in reading.left_out) > len(text) / 2
        reason = Verdict.Reason.NO_PROSE if mostly_left_out else Verdict.Reason.TOO_SHORT
        return Evidence(reading, language, reason)
    if language not in manifest["languages"]:
        return Evidence(reading, language, Verdict.Reason.UNSUPPORTED_LANGUAGE)
    return Evidence(reading, language, Verdict.Reason.NONE)


def _fields(owner: accounts.Owner, ready: Ready, now: datetime) -> dict[str, Any]:
    asked = ready.asked
    return {
        "account": owner.account,
        "visitor": owner.visitor,
        "user": owner.user,
        "api_key": asked.api_key,
        "text": ready.text,
        "digest": ready.digest,
        "file_name": asked.file_name if asked.store else "",
        "store": asked.store,
        "metadata": dict(asked.metadata),
        "characters": len(ready.text),
        "words": ready.found.reading.words,
        "language": ready.found.language,
        "model_version": ready.version,
        "pinned": asked.pinned is not None,
        "max_fpr": asked.max_fpr,
        "accepted_at": now,
        "deadline_at": now + timedelta(seconds=settings.CHECK_DEADLINE_SECONDS),
    }


def _store(
    owner: accounts.Owner, fields: dict[str, Any], found: Evidence, now: datetime, *, reuse: bool = True
) -> Submission:
    """Needs a transaction. Raises Exhausted before it has written anything."""
    if reuse and not found.reason:  # a cheap question before the one with many conditions
        reuse = fields["digest"] in repeats.seen(owner, [fields["digest"]])
    answered = _answered(owner, fields, found, now, reuse=reuse)
    if answered is not None:
        return answered
    amount = _amount(owner, fields["words"])
    reservation = quota.reserve(allowance=accounts.allowance_of(owner, now), amount=amount, now=now)
    return Submission.objects.create(**fields, reservation=reservation)


def _queue(owner: accounts.Owner, rows: Mapping[int, Submission], now: datetime) -> dict[int, Submission | DomainError]:
    """Many at once, by their places; who finds too few words left is not stored. Needs a transaction."""
    if not rows:
        return {}
    allowance = accounts.allowance_of(owner, now)
    amounts = [_amount(owner, row.words) for row in rows.values()]
    taken: dict[int, Submission | DomainError] = {}
    stored = []
    reservations = quota.reserve_all(allowance=allowance, amounts=amounts, now=now)
    for (place, row), reservation in zip(rows.items(), reservations, strict=True):
        if isinstance(reservation, Exhausted):
            taken[place] = reservation
            continue
        row.reservation = reservation
        taken[place] = row
        stored.append(row)
    Submission.objects.bulk_create(stored)
    return taken


def _answered(
    owner: accounts.Owner, fields: dict[str, Any], found: Evidence, now: datetime, *, reuse: bool
) -> Submission | None:
    """Stored with its verdict, where that is known already: too little evidence, or a repeat. Needs a transaction."""
    answered = {"status": Submission.Status.DONE, "finished_at": now}
    if not fields["store"]:
        answered["text"] = ""
    if found.reason:
        submission = Submission.objects.create(**fields | answered)
        verdicts.record_insufficient(submission, found.reading, found.reason, now=now)
        ledger.note(owner.account, submission.pk, ledger.Kind.ABSTAINED)
        return submission
    earlier = repeats.earlier(Submission(**fields), now=now) if reuse else None
    if earlier is not None:
        same = {"model_version": earlier.model_version, "reused_from": earlier}
        submission = Submission.objects.create(**fields | answered | same)
        repeats.repeat(earlier.verdict, submission)
        ledger.note(owner.account, submission.pk, ledger.Kind.CACHED)
        return submission
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _amount(owner: accounts.Owner, words: int) -> int:
    """Accounts pay by the word, visitors by the check."""
    return words if owner.account else 1


def _check_cap(max_fpr: str, manifest: dict[str, Any], found: Evidence) -> None:
    """Raises Invalid for a policy cap that was not measured for this language."""
    caps = verdicts.caps(manifest, None if found.reason else found.language)
    if max_fpr and max_fpr not in caps:
        message = _("For this text the false-positive limit must be one of %(caps)s: others were not measured.")
        raise Invalid("unknown_max_fpr", message % {"caps": ", ".join(caps)})


def _already_accepted(owner: accounts.Owner, nonce: uuid.UUID | None, digest: str) -> Submission | None:
    if nonce is None:
        return None
    return Submission.objects.filter(account=owner.account, visitor=owner.visitor, nonce=nonce, digest=digest).first()
