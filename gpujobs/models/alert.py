"""Alerts: watches with their states, what was raised, who was told of it, and what the staff thought of it.

OK --above--> PENDING --long enough--> FIRING --below half--> RECOVERING --long enough--> OK
                 \\--not any more--> OK    ^--------above again-------/
"""

from django.conf import settings
from django.db import models

from gpujobs.models.cost import Service


class AlertClock(models.Model):
    """One row: up to which hour everything was looked at. Locked by whoever looks."""

    evaluated = models.DateTimeField(null=True)


class Alert(models.Model):
    """Something was dearer than it ordinarily is. Once for each rule, series and period.

    period: the local day, or the budget's period, in which it was raised.  began_at: since when, by estimate.
    hours: of the window that actual, expected and enter (the excess from which on it fires) are of; 0: of none.
    an_hour_nanousd: more than expected.  facts: top contributors, changes and forecast of that moment, as JSON.
    """

    rule = models.CharField(max_length=16)
    series = models.CharField(max_length=160)
    period = models.DateTimeField()
    began_at = models.DateTimeField()
    raised_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    service = models.CharField(max_length=12, choices=Service.choices, blank=True)
    model_version = models.CharField(max_length=40, blank=True)
    hours = models.PositiveSmallIntegerField()
    actual_nanousd = models.BigIntegerField()
    expected_nanousd = models.BigIntegerField()
    enter_nanousd = models.BigIntegerField()
    an_hour_nanousd = models.BigIntegerField(default=0)
    days = models.PositiveSmallIntegerField(default=0)  # of history that it rests on
    facts = models.JSONField(default=dict)

    class Meta:
        ordering = ["-raised_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["rule", "series", "period"], name="alert_once")]
        indexes = [
            models.Index(fields=["-raised_at", "-id"], name="alert_lately"),
            models.Index(fields=["rule", "series"], condition=models.Q(ended_at__isnull=True), name="alert_open"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} {self.series}"


class AlertWatch(models.Model):
    """One rule over one series. alert: the one that it raised and that goes on; null where another explains it."""

    class Status(models.TextChoices):
        OK = "ok"  # set by alerts.watching: nothing out of the ordinary
        PENDING = "pending"  # above its threshold, not for long enough yet
        FIRING = "firing"  # above it for long enough
        RECOVERING = "recovering"  # below half of it, not for long enough yet

    MOVES = {
        Status.OK: frozenset({Status.PENDING}),
        Status.PENDING: frozenset({Status.OK, Status.FIRING}),
        Status.FIRING: frozenset({Status.RECOVERING}),
        Status.RECOVERING: frozenset({Status.OK, Status.FIRING}),
    }

    rule = models.CharField(max_length=16)
    series = models.CharField(max_length=160)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OK)
    since = models.DateTimeField()
    alert = models.ForeignKey(Alert, null=True, on_delete=models.PROTECT, related_name="watches")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "series"], name="alert_watch_once")]


class AlertMute(models.Model):
    """No alert is raised of this series until a moment. Append-only; the last one counts."""

    series = models.CharField(max_length=160)
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["series", "-id"], name="alert_mute_last")]


class AlertDelivery(models.Model):
    """One message to one place. DUE -> SENDING -> SENT, or back to DUE until it is given up: FAILED.

    recipient: null for the webhook.  next_at: when it is tried, or of a SENDING one when whoever sends it is gone.
    """

    class Channel(models.TextChoices):
        MAIL = "mail"
        WEBHOOK = "webhook"

    class Status(models.TextChoices):
        DUE = "due"  # set when the alert is raised, and after a failure
        SENDING = "sending"  # set by alerts.sending: one worker is at it
        SENT = "sent"
        FAILED = "failed"  # the last try failed too

    MOVES = {
        Status.DUE: frozenset({Status.SENDING}),
        Status.SENDING: frozenset({Status.SENT, Status.FAILED, Status.DUE}),
        Status.SENT: frozenset(),
        Status.FAILED: frozenset(),
    }

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.DUE)
    tries = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField()
    error = models.CharField(max_length=60, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "channel", "recipient"], nulls_distinct=False, name="alert_delivery_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["next_at"], condition=models.Q(status__in=("due", "sending")), name="alert_delivery_due"
            )
        ]


class AlertVote(models.Model):
    """What one of the staff thought of an alert; may be changed."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="votes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    useful = models.BooleanField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["alert", "user"], name="alert_vote_once")]
