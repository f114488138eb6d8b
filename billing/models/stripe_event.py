"""StripeEvent: what Stripe told us, kept before anything is done about it."""

import uuid

from django.db import models


class StripeEvent(models.Model):
    """An event is a hint: processing fetches what it speaks of anew.

    payload: as sent, but for people's data, which nothing here needs.  done_at: null until its effects are committed,
    in the same transaction.  next_try_at: when the sweep takes it up again; null once it is done or given up.
    """

    class Source(models.TextChoices):
        WEBHOOK = "webhook"
        SWEEP = "sweep"  # the webhook never came: found in Stripe's list of events

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    event_id = models.CharField(max_length=255)
    livemode = models.BooleanField()
    type = models.CharField(max_length=100)
    api_version = models.CharField(max_length=50, blank=True)
    object_id = models.CharField(max_length=255, blank=True)
    payload = models.JSONField()
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.WEBHOOK)
    created_at = models.DateTimeField()  # at Stripe, whole seconds: orders nothing
    received_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=40, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    next_try_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event_id", "livemode"], name="stripe_event_once")]
        indexes = [
            models.Index(fields=["next_try_at"], condition=models.Q(done_at=None), name="stripe_event_waiting"),
            models.Index(fields=["-received_at"], name="stripe_event_list"),
        ]
