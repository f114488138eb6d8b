"""Forget texts: on time, or when their owner says so. Deleted means gone: text, verdict and offsets."""

import logging
import uuid
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from billing import ledger, plans, quota
from billing.models import Account, IdempotentCall
from detector import batches
from detector.models import Batch, Submission
from gpujobs.models import GpuRun

log = logging.getLogger(__name__)

FORGET_ROWS = 1_000  # a transaction; the next one follows at once


@transaction.atomic
def delete(submission: Submission) -> None:
    """Removes a submission, and stored answers about it; in flight, its reservation is released and the late scores
    find nothing."""
    # The row first, then its reservation, as collect does: the other way round the two could wait for each other.
    rows = Submission.objects.select_for_update(of=("self",)).select_related("reservation")
    locked = rows.filter(pk=submission.pk).first()
    if locked is None:
        return
    if locked.reservation is not None:
        quota.release(locked.reservation)  # changes nothing if it was settled
    if not locked.is_finished:
        ledger.note(locked.account, locked.pk, ledger.Kind.DELETED)
    # Not by billing.idempotency: workers have no use for REST framework's views.
    IdempotentCall.objects.filter(resource=f"check:{locked.pk}").delete()
    locked.delete()
    if locked.batch_id is not None:  # it may have been the last one in flight
        ended = partial(batches.look, [locked.batch_id], now=timezone.now())
        transaction.on_commit(ended)
    if locked.run_id is not None:
        _forget_scores(GpuRun.objects.filter(pk=locked.run_id))


def _forget_scores(runs: "QuerySet[GpuRun]") -> None:
    """Offsets tell the shape of a text: the last text of a run takes them along."""
    runs.filter(submissions__isnull=True, result__isnull=False).update(result=None)


def forget_expired(*, now: datetime) -> int:
    """Deletes what is past its retention. Returns how many."""
    visits = Submission.objects.filter(
        visitor__isnull=False, accepted_at__lt=_before(now, settings.VISITOR_RETENTION_DAYS)
    )
    kept, forgotten = _kept(now), 0
    for expired in (visits, *(_of_accounts(*each, now=now) for each in kept)):
        while rows := list(expired.select_related("reservation")[:FORGET_ROWS]):
            for submission in rows:
                delete(submission)
            forgotten += len(rows)
    for days, which in kept:
        Batch.objects.filter(which, created_at__lt=_before(now, days)).delete()
    _forget_scores(GpuRun.objects.all())  # those that came after their text was deleted
    if forgotten:
        log.info("forgot %d texts past their retention", forgotten)
    return forgotten


def _kept(now: datetime) -> list[tuple[int, Q]]:
    """Days that checks are kept, and of which accounts: what an installation gives everybody, and more by plan."""
    usual = settings.ACCOUNT_RETENTION_DAYS
    longer: dict[int, list[uuid.UUID]] = {}
    for account in Account.objects.exclude(plan_name=plans.FREE):
        days = plans.plan_of(account, now).retention_days
        if days > usual:
            longer.setdefault(days, []).append(account.pk)
    others = [pk for accounts in longer.values() for pk in accounts]
    return [(usual, ~Q(account__in=others)), *((days, Q(account__in=accounts)) for days, accounts in longer.items())]


def _of_accounts(days: int, which: Q, *, now: datetime) -> "QuerySet[Submission]":
    return Submission.objects.filter(which, account__isnull=False, accepted_at__lt=_before(now, days))


def _before(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days)
