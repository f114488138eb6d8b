"""Batch: texts that came in one request. Each is a Submission of its own; this row only counts them."""

import uuid

from django.db import models

from billing.models import Account


class Batch(models.Model):
    """texts: sent.  refused: of those, the ones that are no submissions; null while they are still being taken.

    done, failed: written once, when nothing of it is in flight any more (`finished_at`); before, detector.batches
    counts rows. A text deleted meanwhile is in neither.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="batches")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    texts = models.PositiveIntegerField()
    refused = models.PositiveIntegerField(null=True)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["account", "-created_at", "id"], name="batch_history"),
            models.Index(fields=["created_at"], condition=models.Q(finished_at__isnull=True), name="batch_open"),
        ]
