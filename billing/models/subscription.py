"""Subscription: what Stripe said when it was last asked. Written by billing.subscriptions alone."""

import uuid

from django.db import models

from billing.models.account import Account


class Subscription(models.Model):
    """plan, plan_version, interval: by its price at Stripe; empty for a price that is none of ours.  amount_cents: of
    one period, in minor units of `currency`, before discounts and tax.  cancels_at: it ends then, as was asked for.

    keeps_…: the dearer plan that was paid for until then, after a change to a cheaper one.  paused, pause_from: nothing
    is collected; what was paid is kept until pause_from.  grace_ends_at: a failed payment ends the plan then.
    fetched_at: just before Stripe was asked, so that everything which happened until then is in the row.
    """

    class Status(models.TextChoices):
        """Stripe's own words; what each entitles to is the table in billing.entitlements."""

        INCOMPLETE = "incomplete"
        INCOMPLETE_EXPIRED = "incomplete_expired"
        TRIALING = "trialing"
        ACTIVE = "active"
        PAST_DUE = "past_due"
        CANCELED = "canceled"
        UNPAID = "unpaid"
        PAUSED = "paused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="subscriptions")
    stripe_id = models.CharField(max_length=255)
    customer_id = models.CharField(max_length=255)
    item_id = models.CharField(max_length=255, blank=True)
    livemode = models.BooleanField()
    status = models.CharField(max_length=30, choices=Status.choices)  # one that Stripe invents later fits too
    plan = models.CharField(max_length=20, blank=True)
    plan_version = models.PositiveSmallIntegerField(default=0)
    interval = models.CharField(max_length=10, blank=True)
    currency = models.CharField(max_length=3)
    amount_cents = models.BigIntegerField(default=0)
    period_start = models.DateTimeField(null=True, blank=True)
    period_end = models.DateTimeField(null=True, blank=True)
    cancels_at = models.DateTimeField(null=True, blank=True)
    paused = models.BooleanField(default=False)
    pause_from = models.DateTimeField(null=True, blank=True)
    grace_ends_at = models.DateTimeField(null=True, blank=True)
    keeps_plan = models.CharField(max_length=20, blank=True)
    keeps_version = models.PositiveSmallIntegerField(default=0)
    keeps_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    fetched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stripe_id", "livemode"], name="subscription_once")]
        indexes = [models.Index(fields=["account", "livemode"], name="subscription_of_account")]
