"""Batches: made by the API, finished when the last of their texts is, counted while they are on their way."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q

from billing.models import Account
from detector import webhooks
from detector.models import Batch, Submission

LONGEST_MAKING = timedelta(minutes=10)  # that a request takes to hand in its texts
REPAIRED_AT_ONCE = 50
IN_FLIGHT = (Submission.Status.QUEUED, Submission.Status.SCORING)


@dataclass(frozen=True, slots=True)
class Progress:
    """Of the texts that were accepted."""

    done: int
    failed: int
    in_flight: int


def create(account: Account, *, texts: int, now: datetime, number: uuid.UUID | None = None) -> Batch:
    """An open batch: it has no end before it is closed, however fast its first texts are.

    number: of the request, if it may come again; then the batch that it made before a process died is taken up.
    """
    fields = {"account": account, "texts": texts, "created_at": now}
    if number is None:
        return Batch.objects.create(**fields)
    batch, _made = Batch.objects.get_or_create(pk=number, account=account, defaults=fields)
    return batch


def close(batch: Batch, *, refused: int, now: datetime) -> None:
    """All its texts are taken or refused."""
    Batch.objects.filter(pk=batch.pk).update(refused=refused)
    look([batch.pk], now=now)
    batch.refresh_from_db()


def progress(batch: Batch) -> Progress:
    """Where a batch stands: what was written down at its end, else what its rows say."""
    if batch.finished_at is not None:
        return Progress(batch.done, batch.failed, 0)
    return _count(batch)


def look(batch_ids: Iterable[uuid.UUID | None], *, now: datetime) -> list[uuid.UUID]:
    """Writes the end of those batches of which nothing is in flight any more; the ids of these.

    Called after each change that may have been a batch's last: whoever commits last sees the end, and of two who see
    it the guarded UPDATE lets one through.
    """
    ended = []
    for batch_id in {batch_id for batch_id in batch_ids if batch_id is not None}:
        mine = Batch.objects.filter(pk=batch_id, finished_at__isnull=True, refused__isnull=False)
        batch = mine.first()
        if batch is None or (found := _count(batch)).in_flight:
            continue
        with transaction.atomic():
            if mine.update(finished_at=now, done=found.done, failed=found.failed):
                ended.append(batch_id)
                webhooks.batches_finished([batch_id], now=now)
    return ended


def repair(*, now: datetime) -> None:
    """Ends batches whose process died after the last verdict, or before it had taken all texts: what it never took
    counts as refused. Twice is harmless.
    """
    open_ones = Batch.objects.filter(finished_at__isnull=True).order_by("created_at")
    for batch in open_ones.filter(refused__isnull=True, created_at__lt=now - LONGEST_MAKING)[:REPAIRED_AT_ONCE]:
        Batch.objects.filter(pk=batch.pk, refused__isnull=True).update(refused=batch.texts - batch.submissions.count())
    look(open_ones.filter(refused__isnull=False).values_list("pk", flat=True)[:REPAIRED_AT_ONCE], now=now)


def _count(batch: Batch) -> Progress:
    counted = batch.submissions.aggregate(
        done=Count("pk", filter=Q(status=Submission.Status.DONE)),
        failed=Count("pk", filter=Q(status=Submission.Status.FAILED)),
        in_flight=Count("pk", filter=Q(status__in=IN_FLIGHT)),
    )
    return Progress(**counted)
