"""IdempotentCall: the answer to a request that may come again, because its answer was lost on the way."""

import uuid

from django.db import models

from billing.models.account import Account

KEPT_HOURS = 24


class IdempotentCall(models.Model):
    """One Idempotency-Key of one account.

    fingerprint: SHA-256 of method, path and body.  status: of the stored answer; null while the first call is under
    way, which it is taken to be until `busy_until`.  resource: id of what the call made, so that deleting that deletes
    the answer too.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    live = models.BooleanField()
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)  # JSON as it was sent: jsonb would order its names anew
    resource = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    busy_until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "live", "key"], name="idempotent_call_once")]
        indexes = [
            models.Index(fields=["created_at"], name="idempotent_call_age"),
            models.Index(fields=["resource"], condition=~models.Q(resource=""), name="idempotent_call_resource"),
        ]
