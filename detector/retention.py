"""Forget texts: on time, or when their owner says so. Deleted means gone: text, verdict and offsets."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from billing import quota
from detector.models import Submission
from gpujobs.models import GpuRun

log = logging.getLogger(__name__)

FORGET_ROWS = 1_000  # a transaction; the next one follows at once


@transaction.atomic
def delete(submission: Submission) -> None:
    """Removes a submission; in flight, its reservation is released and the late scores find nothing."""
    if submission.reservation is not None:
        quota.release(submission.reservation)  # changes nothing if it was settled
    run_id = submission.run_id
    submission.delete()
    if run_id is not None:  # offsets tell the shape of a text: the last text of a run takes them along
        GpuRun.objects.filter(pk=run_id, submissions__isnull=True).exclude(status__in=GpuRun.IN_FLIGHT).update(
            result=None
        )


def forget_expired(*, now: datetime) -> int:
    """Deletes what is past its retention. Returns how many."""
    visits = Submission.objects.filter(
        visitor__isnull=False, accepted_at__lt=now - timedelta(days=settings.VISITOR_RETENTION_DAYS)
    )
    accounts = Submission.objects.filter(
        account__isnull=False, accepted_at__lt=now - timedelta(days=settings.ACCOUNT_RETENTION_DAYS)
    )
    forgotten = 0
    for expired in (visits, accounts):
        while rows := list(expired.select_related("reservation")[:FORGET_ROWS]):
            for submission in rows:
                delete(submission)
            forgotten += len(rows)
    if forgotten:
        log.info("forgot %d texts past their retention", forgotten)
    return forgotten
