"""The ledger of money: one line for each movement of our balance at Stripe, and one for its fee. Written here alone.

Posting goes by the movement's own id, so that the same may be told any number of times; their sum is the balance. What
has no movement yet (a bank's payment under way) is posted when Stripe tells of it (`charge.updated`).
"""

import logging
import uuid
from dataclasses import dataclass

from billing import customers, stripe_client
from billing.models import Invoice, RevenueEntry
from billing.stripe_shapes import Movement

log = logging.getLogger(__name__)
Kind = RevenueEntry.Kind
CAME_BACK = ("failed", "canceled")  # refunds that never reached the customer


@dataclass(frozen=True, slots=True)
class Whose:
    """What a line is of, as far as that is known."""

    account_id: uuid.UUID | None = None
    plan: str = ""
    invoice: str = ""


def invoice_paid(row: Invoice) -> None:
    """What its payments brought."""
    whose = Whose(row.account_id, row.plan, row.stripe_id)
    for payment in stripe_client.payments(invoice=row.stripe_id):
        charge = stripe_client.charge_of(payment.intent) if payment.intent else None
        if charge is not None and charge.movement is not None:
            _post(Kind.PAID, charge.movement, whose)


def charged(charge_id: str) -> bool:
    """A charge whose movement came late. False where there is none."""
    charge = stripe_client.charge(charge_id)
    if charge.movement is None:
        return False
    _post(Kind.PAID, charge.movement, _whose(charge.intent, charge.customer))
    return True


def refunded(refund_id: str) -> bool:
    """One refund, and that it came back where it did. False where no money moved."""
    refund = stripe_client.refund(refund_id)
    if refund.movement is None:
        return False
    whose = _whose(refund.intent, refund.customer)
    _post(Kind.REFUND, refund.movement, whose)
    if refund.status in CAME_BACK:
        _line(Kind.REFUND, f"refund_back:{refund.id}", -refund.movement.amount, refund.movement, whose)
    return True


def disputed(dispute_id: str) -> bool:
    """What was taken from us, and given back when we won. False where no money moved."""
    dispute = stripe_client.dispute(dispute_id)
    whose = _whose(dispute.intent, dispute.customer)
    for movement in dispute.movements:
        _post(Kind.DISPUTE, movement, whose)
    return bool(dispute.movements)


def _whose(intent: str, customer_id: str) -> Whose:
    """By the invoice that was paid by that intent; else by the customer."""
    paid = stripe_client.payments(intent=intent) if intent else []
    for payment in (each for each in paid if each.intent == intent):
        row = Invoice.objects.filter(stripe_id=payment.invoice, livemode=stripe_client.livemode()).first()
        if row is not None:
            return Whose(row.account_id, row.plan, row.stripe_id)
    account = customers.account_of(customer_id) if customer_id else None
    return Whose(account.pk if account is not None else None)


def _post(kind: RevenueEntry.Kind, movement: Movement, whose: Whose) -> None:
    _line(kind, f"movement:{movement.id}", movement.amount, movement, whose)
    if movement.fee:
        _line(Kind.FEE, f"fee:{movement.id}", -movement.fee, movement, whose)


def _line(kind: RevenueEntry.Kind, key: str, amount: int, movement: Movement, whose: Whose) -> None:
    line = {"kind": kind, "amount_cents": amount, "currency": movement.currency, "at": movement.at}
    of = {"account_id": whose.account_id, "plan": whose.plan, "invoice": whose.invoice}
    row, made = RevenueEntry.objects.get_or_create(
        effect_key=key, livemode=stripe_client.livemode(), defaults=line | of
    )
    if not made and (row.amount_cents, row.currency) != (amount, movement.currency):
        log.error("revenue %s: Stripe now says another amount", key)
