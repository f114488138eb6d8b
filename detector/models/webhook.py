"""Outgoing webhooks: where an account wants to hear of things, what happened, and each message on its way.

WebhookDelivery:

        PENDING --2xx--> DELIVERED
           |  `--------no attempts left, endpoint gone--> GIVEN_UP
           |                                                 ^
           `--anything else--> FAILED --no attempts left-----|
                                 | ^ `--2xx--> DELIVERED
                                 `-'

A message sent again by hand is a new delivery of the same event, so that the log stays what happened.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from billing.models import Account
from detector.models.submission import Submission

MAX_URL_CHARACTERS = 2_048
MAX_DESCRIPTION_CHARACTERS = 200


class EventType(models.TextChoices):
    """What an endpoint can subscribe to. Names are part of the API."""

    DETECTION_COMPLETED = "detection.completed"
    DETECTION_FAILED = "detection.failed"
    BATCH_COMPLETED = "batch.completed"
    QUOTA_WARNING = "quota.warning"


TEST_EVENT = "webhook.test"  # goes to the one endpoint that asked for it, whatever it subscribes to


class WebhookEndpoint(models.Model):
    """sealed_secret: see detector.webhook_secrets.  previous_sealed_secret: signs too until `previous_valid_until`."""

    class Reason(models.TextChoices):
        NONE = ""
        BY_OWNER = "by_owner"
        GONE = "gone"  # it answered 410
        FAILING = "failing"  # a message was given up, and none has arrived since it was first sent

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="webhook_endpoints")
    url = models.CharField(max_length=MAX_URL_CHARACTERS)
    description = models.CharField(max_length=MAX_DESCRIPTION_CHARACTERS, blank=True)
    events = ArrayField(models.CharField(max_length=40, choices=EventType.choices))
    sealed_secret = models.TextField()
    previous_sealed_secret = models.TextField(blank=True)
    previous_valid_until = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=10, choices=Reason.choices, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(disabled_at__isnull=True, disabled_reason="")
                | models.Q(disabled_at__isnull=False) & ~models.Q(disabled_reason=""),
                name="webhook_endpoint_disabled_for_a_reason",
            )
        ]
        indexes = [models.Index(fields=["account", "-created_at", "id"], name="webhook_endpoint_list")]


class WebhookEvent(models.Model):
    """Something that happened, in the words that are sent; never a text.

    submission: what it tells of; deleting that deletes the event, sent or not.  once: of two events with the same
    words here only the first exists.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    submission = models.ForeignKey(Submission, null=True, on_delete=models.CASCADE, related_name="webhook_events")
    type = models.CharField(max_length=40)
    payload = models.JSONField(encoder=DjangoJSONEncoder)  # {"type", "timestamp", "data"}
    once = models.CharField(max_length=120, null=True, unique=True)  # noqa: DJ001 - many events have none
    created_at = models.DateTimeField(db_index=True)

    @property
    def message_id(self) -> str:
        """What receivers see as `webhook-id`: the same at each attempt."""
        return f"evt_{self.pk.hex}"


class WebhookDelivery(models.Model):
    """One event on its way to one endpoint.

    next_attempt_at: when it is due; while an attempt is under way, when that one counts as lost; null at the end.
    attempts: begun, also those whose process died. It guards the row: whoever began another one cannot end this one.
    """

    class Status(models.TextChoices):
        PENDING = "pending"  # set by detector.webhooks: never answered yet
        FAILED = "failed"  # set by detector.webhook_delivery: the last attempt failed, another one follows
        DELIVERED = "delivered"  # set by detector.webhook_delivery: the receiver answered 2xx
        GIVEN_UP = "given_up"  # set by detector.webhook_delivery or .webhooks: nothing follows

    MOVES = {
        Status.PENDING: frozenset({Status.DELIVERED, Status.FAILED, Status.GIVEN_UP}),
        Status.FAILED: frozenset({Status.DELIVERED, Status.FAILED, Status.GIVEN_UP}),
        Status.DELIVERED: frozenset(),
        Status.GIVEN_UP: frozenset(),
    }
    WAITING = (Status.PENDING, Status.FAILED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(WebhookEvent, on_delete=models.CASCADE, related_name="deliveries")
    resend_of = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True)
    last_attempt_at = models.DateTimeField(null=True)
    last_status_code = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=40, blank=True)  # a code of ours; nothing that the receiver said
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(status__in=("pending", "failed")),
                name="webhook_delivery_due",
            ),
            models.Index(fields=["endpoint", "-created_at", "id"], name="webhook_delivery_list"),
        ]
