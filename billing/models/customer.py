"""StripeCustomer and Checkout: who an account is at Stripe, and the payment page that was opened for it."""

import uuid

from django.db import models

from billing.models.account import Account


class StripeCustomer(models.Model):
    """One of an account in each mode.  generation: how many there were before it, deleted at Stripe.  deleted_at: gone
    there too; the next checkout makes another."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="stripe_customers")
    stripe_id = models.CharField(max_length=255)
    livemode = models.BooleanField()
    generation = models.PositiveIntegerField(default=0)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stripe_id", "livemode"], name="stripe_customer_once"),
            models.UniqueConstraint(fields=["account", "livemode", "generation"], name="stripe_customer_generation"),
            models.UniqueConstraint(
                fields=["account", "livemode"],
                condition=models.Q(deleted_at=None),
                name="stripe_customer_one_of_an_account",
            ),
        ]


class Checkout(models.Model):
    """A payment page at Stripe.

    OPEN --> COMPLETE   (paid: its subscription was fetched)
    OPEN --> EXPIRED    (a day went by, or another choice was made)
    """

    class Status(models.TextChoices):
        OPEN = "open"  # set by checkout.start: its address still takes a payment
        COMPLETE = "complete"  # set by whoever sees it first: the return page, an event, the next start
        EXPIRED = "expired"  # the same

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="checkouts")
    stripe_id = models.CharField(max_length=255)
    livemode = models.BooleanField()
    url = models.CharField(max_length=2000)
    lookup_key = models.CharField(max_length=100)  # of the price that was chosen
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stripe_id", "livemode"], name="checkout_once"),
            models.UniqueConstraint(
                fields=["account", "livemode"], condition=models.Q(status="open"), name="checkout_one_open"
            ),
        ]
