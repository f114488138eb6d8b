"""What each kind of Stripe's events means for our rows. An event is a hint: everything is fetched anew.

`apply` answers in one word what was done: it stands in the event's row. Raises StripeError.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from billing import checkout, customers, invoices, stripe_client, subscriptions, takings
from billing.models import Account, Invoice, StripeEvent, Subscription
from billing.stripe_client import StripeError
from billing.stripe_shapes import id_of

SYNCED, KNOWN, IGNORED = "synced", "known already", "ignored"
GONE, NOT_OURS, NO_MONEY = "gone", "not ours", "no money moved"
Effect = Callable[[StripeEvent, datetime], str]
CLOCKS_APART = timedelta(seconds=30)  # at most, of the machine that received an event and the one that fetched


def apply(event: StripeEvent, *, now: datetime) -> str:
    """Twice does what once does."""
    effect = next((does for beginning, does in EFFECTS if event.type.startswith(beginning)), None)
    if effect is None or not event.object_id:
        return IGNORED
    try:
        return effect(event, now)
    except StripeError as error:
        if error.code != stripe_client.NOT_FOUND:
            raise
        return GONE


def _about(event: StripeEvent) -> dict[str, Any]:
    found: dict[str, Any] = event.payload["data"]["object"]
    return found


def _account(event: StripeEvent) -> Account | None:
    return customers.account_of(id_of(_about(event).get("customer")))


def _subscription(event: StripeEvent, now: datetime) -> str:
    """Its newest state was fetched after this event came in? Then it is in it: a flood of events asks only once."""
    rows = Subscription.objects.filter(stripe_id=event.object_id, livemode=event.livemode)
    if rows.filter(fetched_at__gt=event.received_at + CLOCKS_APART).exists():
        return KNOWN
    account = _account(event)
    found = subscriptions.sync(event.object_id, now=now, account=account) if account is not None else None
    return NOT_OURS if found is None else SYNCED


def _checkout(event: StripeEvent, now: datetime) -> str:
    return SYNCED if checkout.refresh(event.object_id, now=now) else NOT_OURS


def _invoice(event: StripeEvent, now: datetime) -> str:
    return _sync_invoice(event, event.object_id, now)


def _invoice_payment(event: StripeEvent, now: datetime) -> str:
    """It names no customer: its invoice may not have been seen yet, and has events of its own."""
    invoice_id = id_of(_about(event).get("invoice"))
    row = Invoice.objects.filter(stripe_id=invoice_id, livemode=event.livemode).select_related("account").first()
    if row is None:
        return IGNORED
    return SYNCED if invoices.sync(invoice_id, row.account, now=now) is not None else GONE


def _after_its_invoice(event: StripeEvent, now: datetime) -> None:
    """A charge's money, and what goes back of it, is filed under its invoice and plan: in whatever order we hear of
    them, that one is learnt first."""
    intent = id_of(_about(event).get("payment_intent"))
    for payment in stripe_client.payments(intent=intent) if intent else ():
        known = Invoice.objects.filter(stripe_id=payment.invoice, livemode=event.livemode).exists()
        if not known and payment.intent == intent:
            _learn_invoice(payment.invoice, now)


def _learn_invoice(invoice_id: str, now: datetime) -> None:
    state = stripe_client.invoice(invoice_id)
    account = customers.account_of(state.customer)
    if account is not None:
        if state.subscription:
            subscriptions.sync(state.subscription, now=now, account=account)
        invoices.sync(invoice_id, account, now=now)


def _sync_invoice(event: StripeEvent, invoice_id: str, now: datetime) -> str:
    """First its subscription: the invoice is filed under the plan that it is for."""
    rows = Invoice.objects.filter(stripe_id=invoice_id, livemode=event.livemode)
    if rows.filter(fetched_at__gt=event.received_at + CLOCKS_APART).exists():
        return KNOWN
    account = _account(event)
    if account is None:
        return NOT_OURS
    details = (_about(event).get("parent") or {}).get("subscription_details") or {}
    if subscription_id := id_of(details.get("subscription")):
        subscriptions.sync(subscription_id, now=now, account=account)
    return GONE if invoices.sync(invoice_id, account, now=now) is None else SYNCED


def _charge(event: StripeEvent, now: datetime) -> str:
    _after_its_invoice(event, now)
    return SYNCED if takings.charged(event.object_id) else NO_MONEY


def _refunds(event: StripeEvent, now: datetime) -> str:
    _after_its_invoice(event, now)
    moved = [takings.refunded(each) for each in stripe_client.refunds(event.object_id)]
    return SYNCED if any(moved) else NO_MONEY


def _refund(event: StripeEvent, now: datetime) -> str:
    _after_its_invoice(event, now)
    return SYNCED if takings.refunded(event.object_id) else NO_MONEY


def _dispute(event: StripeEvent, now: datetime) -> str:
    _after_its_invoice(event, now)
    return SYNCED if takings.disputed(event.object_id) else NO_MONEY


def _customer(event: StripeEvent, now: datetime) -> str:
    """Deleted at Stripe: their subscriptions ended with them."""
    account = customers.account_of(event.object_id)
    if account is None:
        return NOT_OURS
    if not customers.refresh(event.object_id, now=now):
        for row in Subscription.objects.filter(account=account, customer_id=event.object_id, livemode=event.livemode):
            subscriptions.sync(row.stripe_id, now=now, account=account)
    return SYNCED


# The first that a type begins with counts.
EFFECTS: tuple[tuple[str, Effect], ...] = (
    ("customer.subscription.", _subscription),
    ("customer.updated", _customer),
    ("customer.deleted", _customer),
    ("checkout.session.", _checkout),
    ("invoice.upcoming", lambda _event, _now: IGNORED),  # of an invoice that doesn't exist yet
    ("invoice.", _invoice),
    ("invoice_payment.", _invoice_payment),
    ("charge.updated", _charge),
    ("charge.refunded", _refunds),
    ("charge.refund.", _refund),
    ("refund.", _refund),
    ("charge.dispute.", _dispute),
)
