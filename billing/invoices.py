"""Copies of Stripe's invoices for the customer's list, and from paid ones the money that came in (billing.takings)."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from billing import customers, stripe_client, takings
from billing.models import Account, Invoice, Subscription
from billing.stripe_client import StripeError
from billing.stripe_shapes import InvoiceState

DRAFT, PAID = "draft", "paid"


def of(account: Account) -> "QuerySet[Invoice]":
    """What the customer may see, the newest first: no drafts."""
    rows = Invoice.objects.filter(account=account, livemode=stripe_client.livemode())
    return rows.exclude(status=DRAFT).order_by("-created_at", "pk")


def sync(invoice_id: str, account: Account, *, now: datetime) -> Invoice | None:
    """Its row as Stripe has it now; None for one that is deleted there, or another's. Raises StripeError."""
    with transaction.atomic():
        customers.lock(account.pk)
        try:
            state = stripe_client.invoice(invoice_id)
        except StripeError as error:
            if error.code != stripe_client.NOT_FOUND:
                raise
            Invoice.objects.filter(stripe_id=invoice_id, account=account, status=DRAFT).delete()
            return None
        if customers.account_of(state.customer) != account:
            return None
        row = write(account, state, now=now)
        if state.paid:
            takings.invoice_paid(row)
        return row


def write(account: Account, state: InvoiceState, *, now: datetime) -> Invoice:
    """Under the account's lock."""
    of_subscription = Subscription.objects.filter(stripe_id=state.subscription, livemode=state.livemode).first()
    fields = {
        "account": account,
        "subscription": of_subscription,
        "number": state.number,
        "status": state.status,
        "reason": state.reason,
        "currency": state.currency,
        "total_cents": state.total,
        "tax_cents": state.tax,
        "due_cents": state.due,
        "paid_cents": state.paid,
        "period_start": state.period_start,
        "period_end": state.period_end,
        "created_at": state.created_at,
        "paid_at": state.paid_at,
        "next_attempt_at": state.next_attempt_at,
        "hosted_url": state.hosted_url,
        "pdf_url": state.pdf_url,
        "fetched_at": now,
    }
    row, _made = Invoice.objects.update_or_create(stripe_id=state.id, livemode=state.livemode, defaults=fields)
    if not row.plan and of_subscription is not None and of_subscription.plan:
        row.plan = of_subscription.plan
        Invoice.objects.filter(pk=row.pk).update(plan=row.plan)
    return row


def sync_all(account: Account, *, now: datetime) -> int:
    """All of the account's customer; how many. Raises StripeError."""
    customer = customers.of(account)
    found = [] if customer is None else stripe_client.invoices(customer.stripe_id)
    for state in found:
        sync(state.id, account, now=now)
    return len(found)
