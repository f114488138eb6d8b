"""Invoice: a copy of Stripe's, for the customer's list. RevenueEntry: the ledger of money, never changed."""

import uuid

from django.db import models
from django.db.models.functions import Now

from billing.models.account import Account
from billing.models.subscription import Subscription


class Invoice(models.Model):
    """Amounts are whole minor units of `currency`, as received: how many make a unit depends on the currency.

    plan: what the account subscribed to when it was fetched first.  hosted_url, pdf_url: Stripe's own pages.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invoices")
    subscription = models.ForeignKey(Subscription, null=True, on_delete=models.SET_NULL, related_name="invoices")
    stripe_id = models.CharField(max_length=255)
    livemode = models.BooleanField()
    number = models.CharField(max_length=60, blank=True)
    status = models.CharField(max_length=20)
    reason = models.CharField(max_length=40, blank=True)
    plan = models.CharField(max_length=20, blank=True)
    currency = models.CharField(max_length=3)
    total_cents = models.BigIntegerField()
    tax_cents = models.BigIntegerField(default=0)
    due_cents = models.BigIntegerField()
    paid_cents = models.BigIntegerField()
    period_start = models.DateTimeField(null=True, blank=True)
    period_end = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    paid_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    hosted_url = models.CharField(max_length=2000, blank=True)
    pdf_url = models.CharField(max_length=2000, blank=True)
    fetched_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stripe_id", "livemode"], name="invoice_once")]
        indexes = [models.Index(fields=["account", "livemode", "-created_at"], name="invoice_list")]


class RevenueEntry(models.Model):
    """What came in or went out, signed, in whole minor units. The database refuses to change or delete a line.

    effect_key: of what this line is; posting the same twice is harmless. account_id: only an id, since the ledger
    outlives accounts; null where Stripe names no customer of ours.  plan: at that time.
    """

    class Kind(models.TextChoices):
        PAID = "paid"
        REFUND = "refund"  # negative; positive where the refund failed and came back
        DISPUTE = "dispute"  # negative; positive when won
        FEE = "fee"  # Stripe's own, negative

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    effect_key = models.CharField(max_length=300)
    livemode = models.BooleanField()
    account_id = models.UUIDField(null=True)
    plan = models.CharField(max_length=20, blank=True)
    invoice = models.CharField(max_length=255, blank=True)  # Stripe's id
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    at = models.DateTimeField()
    posted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["effect_key", "livemode"], name="revenue_entry_once")]
        indexes = [
            models.Index(fields=["livemode", "at"], name="revenue_entry_time"),
            models.Index(fields=["account_id", "at"], name="revenue_entry_account"),
        ]
