"""Share links: an address under which anybody reads one verdict, and its text only where the owner chose so.

    create()          a link of one check          of()       the check's links that work
    read()            whoever has the link         link_token()   the owner, to copy it again
    revoke()          from the next request on     forget_expired()

The address holds 192 random bits. Stored are their SHA-256, to find the row by, and the same bits encrypted
(inkcloak.sealing): owners must be able to copy a link again, since nobody knows a link by its number, while a copy
of the database alone opens none. Visits are not counted: programs that preview links visit too, so the number would
mean little, and readers would be watched.
"""

import hashlib
import secrets
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from billing import plans
from detector.models import Share, Submission
from inkcloak import sealing
from inkcloak.errors import Conflict, Invalid

TOKEN_BYTES = 24
PURPOSE = b"inkcloak share links 1"
LIFETIMES_DAYS = (1, 7, 30, 90)
DEFAULT_DAYS = 30
MAX_SHARES = 20  # that work, of one check


@transaction.atomic
def create(
    submission: Submission,
    *,
    now: datetime,
    days: int = DEFAULT_DAYS,
    with_text: bool = False,
    number: uuid.UUID | None = None,
) -> Share:
    """A new link; it ends with the check itself, whose time is limited too. Deleting that one ends it at once.

    number: of the request; the same one again is the same link.
    Raises Conflict without a verdict, or where a text is to be shown that was not stored; Invalid for a lifetime that
    is none and for more than MAX_SHARES; Submission.DoesNotExist for a check that is deleted meanwhile.
    """
    if days not in LIFETIMES_DAYS:
        message = _("A link can work for %(days)s days.")
        raise Invalid("bad_lifetime", message % {"days": ", ".join(map(str, LIFETIMES_DAYS))})
    # Locked: two at once count one after the other.
    checked = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
    known = Share.objects.filter(submission=checked, pk=number).first() if number is not None else None
    if known is not None:
        return known
    _check(checked, with_text=with_text, now=now)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    return Share.objects.create(
        pk=number or uuid.uuid4(),
        submission=checked,
        token_digest=_digest(token),
        sealed_token=sealing.seal(token, purpose=PURPOSE),
        with_text=with_text,
        created_at=now,
        expires_at=min(now + timedelta(days=days), max(forgotten_at(checked), now + timedelta(minutes=1))),
    )


def of(submission: Submission, *, now: datetime) -> "QuerySet[Share]":
    """The links of a check that work, newest first."""
    return Share.objects.filter(submission=submission, expires_at__gt=now).order_by("-created_at", "id")


def read(token: str, *, now: datetime) -> Share | None:
    """What the link leads to, with its verdict. Expired, revoked and never made are the same None and query."""
    rows = Share.objects.select_related("submission__verdict", "submission__model_version")
    return rows.filter(token_digest=_digest(token), expires_at__gt=now).first()


def link_token(share: Share) -> str | None:
    """What stands in the address. None where SECRET_KEY has changed since: such a link works, and can't be shown."""
    try:
        return sealing.unseal(share.sealed_token, purpose=PURPOSE)
    except sealing.Unreadable:
        return None


def revoke(submission: Submission, share_id: uuid.UUID) -> bool:
    """From the next request on. False for one that the check doesn't have."""
    deleted, _each = Share.objects.filter(submission=submission, pk=share_id).delete()
    return bool(deleted)


def forget_expired(*, now: datetime) -> int:
    """Deletes what no longer works. Returns how many."""
    deleted, _each = Share.objects.filter(expires_at__lte=now).delete()
    return deleted


def forgotten_at(submission: Submission) -> datetime:
    """When retention deletes a check of an account."""
    account = submission.account
    days = settings.ACCOUNT_RETENTION_DAYS if account is None else plans.plan_of(account).retention_days
    return submission.accepted_at + timedelta(days=days)


def check_finished(submission: Submission) -> None:
    """Raises Conflict for a check without a verdict."""
    if submission.status != Submission.Status.DONE:
        raise Conflict("not_finished", _("This check has no verdict that could be shared."))


def _check(submission: Submission, *, with_text: bool, now: datetime) -> None:
    check_finished(submission)
    if with_text and not submission.text:
        raise Conflict("text_not_stored", _("The text of this check was not stored, so it can't be shown."))
    if of(submission, now=now).count() >= MAX_SHARES:
        message = _("A check can have %(limit)d links. Revoke one that is no longer needed.")
        raise Invalid("too_many_shares", message % {"limit": MAX_SHARES})


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
