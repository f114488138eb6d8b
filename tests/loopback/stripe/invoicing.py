"""One invoice's life: draft -> open -> paid | uncollectible | void. Who made it hears of each try by `on_try`.

draft ─finalize─> open ─collect─> paid
                   │ └─ declined: attempt_count + 1, stays open
                   └─ void, uncollectible
"""

import copy
from collections.abc import Callable

from tests.loopback.stripe import charging, discounts, lines
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

on_try: list[Callable[[World, Json, str], None]] = []  # (world, invoice, decline code or ""); subscriptions.py listens


def draft(
    world: World, sub: Json, rows: list[Json], *, reason: str, period: lines.Span, auto_advance: bool = True,
    announce: bool = True,
) -> Json:  # fmt: skip
    """A new one for a subscription; becomes its latest_invoice."""
    invoice = world.store.add(unsaved(world, sub, rows, reason=reason, period=period))
    invoice["auto_advance"] = auto_advance
    sub["latest_invoice"] = invoice["id"]
    if announce:
        world.emit("invoice.created", invoice)
    return invoice


def unsaved(world: World, sub: Json, rows: list[Json], *, reason: str, period: lines.Span) -> Json:
    """The same without a trace: what a preview shows."""
    customer = world.store.get("customer", sub["customer"])
    invoice = world.make(
        "invoice", "in", account_country="ES", account_name="Loopback", amount_shipping=0, amount_paid_off_stripe=None,
        attempt_count=0, attempted=False,
        auto_advance=False, billing_reason=reason, collection_method="charge_automatically", currency=sub["currency"],
        automatic_tax={"disabled_reason": None, "enabled": False, "liability": None, "provider": None, "status": None},
        customer=customer["id"], customer_address=customer["address"], customer_email=customer["email"],
        customer_name=customer["name"], customer_phone=customer["phone"], customer_tax_exempt=customer["tax_exempt"],
        customer_tax_ids=[{"type": row["type"], "value": row["value"]}
                          for row in world.store.all("tax_id", customer=customer["id"])],
        default_tax_rates=[], discounts=[], issuer={"type": "self"}, metadata={}, period_start=period.start,
        period_end=period.end, post_payment_credit_notes_amount=0, pre_payment_credit_notes_amount=0, status="draft",
        parent={"type": "subscription_details", "quote_details": None,
                "subscription_details": {"metadata": dict(sub["metadata"]), "subscription": sub["id"]}},
        payment_settings={"default_mandate": None, "payment_method_options": None, "payment_method_types": None},
        status_transitions={"finalized_at": None, "marked_uncollectible_at": None, "paid_at": None, "voided_at": None},
    )  # fmt: skip
    world.store.drop(invoice)
    for row in rows:
        row["invoice"] = invoice["id"]
    invoice["lines"] = lines.list_of(rows, f"/v1/invoices/{invoice['id']}/lines")
    lines.totals(world, invoice, sub["discounts"], customer["balance"])
    return invoice


def subscription_of(world: World, invoice: Json) -> Json:
    """Whose it is."""
    return world.store.get("subscription", invoice["parent"]["subscription_details"]["subscription"])


def finalize(world: World, invoice: Json) -> None:
    """draft -> open, or straight to paid when nothing is due. The customer's balance moves now."""
    if invoice["status"] != "draft":
        raise invalid("This invoice is already finalized, you can't re-finalize a non-draft invoice.",
                      code="invoice_not_editable")  # fmt: skip
    now, customer = world.clock.now(), world.store.get("customer", invoice["customer"])
    sub = subscription_of(world, invoice)
    lines.totals(world, invoice, sub["discounts"] if sub["status"] != "canceled" else invoice["discounts"],
                 customer.get("balance") or 0)  # fmt: skip
    if not customer.get("deleted"):
        _take_balance(world, customer, invoice)
        number = customer["next_invoice_sequence"]
        customer["next_invoice_sequence"] = number + 1
        invoice["number"] = f"{customer['invoice_prefix']}-{number:04d}"
    invoice.update(status="open", effective_at=now, automatically_finalizes_at=None,
                   hosted_invoice_url=f"{world.base_url}/invoice/{invoice['id']}",
                   invoice_pdf=f"{world.base_url}/invoice/{invoice['id']}/pdf")  # fmt: skip
    invoice["status_transitions"]["finalized_at"] = now
    discounts.used_once(world, sub)
    if invoice["amount_due"]:
        charging.intent_for(world, invoice)
    world.emit("invoice.finalized", invoice)
    if not invoice["amount_due"]:
        _paid(world, invoice)


def _take_balance(world: World, customer: Json, invoice: Json) -> None:
    if customer["balance"] != invoice["ending_balance"]:
        before = copy.deepcopy(customer)
        customer["balance"] = invoice["ending_balance"]
        world.changed("customer.updated", customer, before)


def card_of(world: World, sub: Json) -> Json | None:
    """What is charged: the subscription's card, else its customer's."""
    customer = world.store.get("customer", sub["customer"])
    if customer.get("deleted"):
        return None
    chosen = sub["default_payment_method"] or customer["invoice_settings"]["default_payment_method"]
    method = world.store.rows.get("payment_method", {}).get(chosen or "")
    return method if method and method["customer"] == customer["id"] else None


def collect(world: World, invoice: Json, method: Json | None = None, *, present: bool = False) -> str:
    """Charge an open one; the decline code, or empty. Whoever listens hears of it."""
    if invoice["status"] not in ("open", "uncollectible"):
        raise invalid("Invoice is already paid" if invoice["status"] == "paid" else "This invoice can't be paid.",
                      code="invoice_already_paid" if invoice["status"] == "paid" else "")  # fmt: skip
    invoice["attempted"] = True
    invoice["attempt_count"] += 1
    code = charging.charge(world, invoice, method or card_of(world, subscription_of(world, invoice)), present=present)
    if not code:
        _paid(world, invoice)
        return ""
    for hear in on_try:
        hear(world, invoice, code)
    world.emit("invoice.payment_failed", invoice)
    if code == "authentication_required":
        world.emit("invoice.payment_action_required", invoice)
    return code


def _paid(world: World, invoice: Json) -> None:
    due = invoice["amount_due"]
    invoice.update(status="paid", amount_paid=due, amount_remaining=0, attempted=True, next_payment_attempt=None,
                   auto_advance=False)  # fmt: skip
    invoice["status_transitions"]["paid_at"] = world.clock.now()
    payment = charging.payment_of(world, invoice)
    if payment is not None:
        world.emit("invoice_payment.paid", payment)
    world.emit("invoice.paid", invoice)
    world.emit("invoice.payment_succeeded", invoice)
    for hear in on_try:
        hear(world, invoice, "")


def void(world: World, invoice: Json) -> None:
    """Not owed: open, uncollectible or draft (by pause_collection) -> void. A balance it took comes back."""
    if invoice["status"] not in ("draft", "open", "uncollectible"):
        raise invalid("You can only void open or uncollectible invoices.")
    customer = world.store.get("customer", invoice["customer"])
    back = invoice["starting_balance"] - invoice["ending_balance"] if invoice["status"] != "draft" else 0
    invoice.update(status="void", amount_remaining=invoice["amount_due"], auto_advance=False, next_payment_attempt=None)
    invoice["status_transitions"]["voided_at"] = world.clock.now()
    if back and not customer.get("deleted"):
        customer["balance"] += back
    payment = charging.payment_of(world, invoice)
    if payment is not None:
        payment["status"] = "canceled"
        payment["status_transitions"]["canceled_at"] = world.clock.now()
        intent = world.store.get("payment_intent", payment["payment"]["payment_intent"])
        intent.update(status="canceled", canceled_at=world.clock.now(), cancellation_reason="void_invoice")
    world.emit("invoice.voided", invoice)


def uncollectible(world: World, invoice: Json) -> None:
    """Owed, but not hoped for."""
    if invoice["status"] == "draft":
        finalize(world, invoice)
    if invoice["status"] != "open":
        return
    invoice.update(status="uncollectible", auto_advance=False, next_payment_attempt=None)
    invoice["status_transitions"]["marked_uncollectible_at"] = world.clock.now()
    world.emit("invoice.marked_uncollectible", invoice)
