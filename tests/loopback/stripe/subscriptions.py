"""What happens to a subscription in time: begin, renew, dunning, end. Changes asked for are in changes.py.

incomplete ─paid─> active ──renewal declined──> past_due ─paid─> active
    │ 23 h           │ ▲                           │ last retry: canceled | unpaid | stays
    ▼                │ └ trialing (trial's end)    ▼
incomplete_expired   └─ period end, cancel ──> canceled          paused: a trial's end without a card, if asked for
"""

import copy
from typing import Any

from tests.loopback.stripe import customers, invoicing, lines
from tests.loopback.stripe.catalogue import unit_in
from tests.loopback.stripe.clock import DAY, HOUR, period_end
from tests.loopback.stripe.discounts import redeem
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.shapes import blank
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

INCOMPLETE_SECONDS = 23 * HOUR
TRIAL_REMINDER_SECONDS = 3 * DAY
OVER = ("canceled", "incomplete_expired")


# --- Making -------------------------------------------------------------------------------------------------------


def plan_shape(price: Json) -> Json:
    """The legacy `plan` that an item still carries."""
    recurring = price["recurring"]
    return blank(
        "plan", id=price["id"], active=price["active"], amount=price["unit_amount"], billing_scheme="per_unit",
        amount_decimal=price["unit_amount_decimal"], created=price["created"], currency=price["currency"],
        interval=recurring["interval"], interval_count=recurring["interval_count"], livemode=price["livemode"],
        metadata=price["metadata"], meter=recurring["meter"], nickname=price["nickname"], product=price["product"],
        usage_type=recurring["usage_type"],
    )  # fmt: skip


def new_item(world: World, sub: Json, price: Json, quantity: int | None) -> Json:
    """One item; metered ones have no quantity."""
    if not price["active"]:
        raise invalid("The price specified is inactive. This field only accepts active prices.", "items[0][price]")
    if price["recurring"] is None:
        raise invalid("The price specified is set to `type=one_time` but this field only accepts prices with "
                      "`type=recurring`.", "items[0][price]")  # fmt: skip
    unit_in(world, price, sub["currency"])
    item = world.make(
        "subscription_item", "si", discounts=[], subscription=sub["id"], price=copy.deepcopy(price), tax_rates=[],
        plan=plan_shape(price), quantity=quantity or 1,
    )  # fmt: skip
    world.store.drop(item)  # it lives inside its subscription
    if lines.metered(price):
        del item["quantity"]
    return item


def check_currency(world: World, customer: Json, currency: str) -> None:
    """One customer, one currency at a time."""
    for sub in world.store.all("subscription", customer=customer["id"]):
        if sub["status"] not in OVER and sub["currency"] != currency:
            raise invalid("You cannot combine currencies on a single customer. This customer has an active "
                          f"subscription in {sub['currency']}.", "currency")  # fmt: skip


def begin(
    world: World, customer: Json, wanted: list[tuple[Json, int | None]], *, currency: str, metadata: dict[str, str],
    trial_end: int | None = None, discount: Json | None = None, method: Json | None = None, present: bool = True,
    session: str | None = None, more: Json | None = None,
) -> Json:  # fmt: skip
    """A new one with its first invoice, charged at once; `incomplete` when that fails."""
    check_currency(world, customer, currency)
    now = world.clock.now()
    sub = world.make(
        "subscription", "sub", billing_cycle_anchor=trial_end or now, cancel_at_period_end=False, discounts=[],
        automatic_tax={"disabled_reason": None, "enabled": False, "liability": None}, currency=currency,
        billing_mode={"type": "flexible", "flexible": {"proration_discounts": "included"}}, billing_schedules=[],
        cancellation_details={"comment": None, "feedback": None, "reason": None}, customer=customer["id"],
        collection_method="charge_automatically", default_payment_method=method["id"] if method else None,
        default_tax_rates=[], metadata=metadata, start_date=now, status="trialing" if trial_end else "incomplete",
        invoice_settings={"account_tax_ids": None, "issuer": {"type": "self"}},
        payment_settings={"payment_method_options": None, "payment_method_types": None,
                          "save_default_payment_method": "off"},
        trial_start=now if trial_end else None, trial_end=trial_end,
        trial_settings={"end_behavior": {"missing_payment_method": "create_invoice"}},
    )  # fmt: skip
    sub.update(more or {})
    items = [new_item(world, sub, price, quantity) for price, quantity in wanted]
    sub["items"] = lines.list_of(items, f"/v1/subscription_items?subscription={sub['id']}")
    customer["currency"] = customer["currency"] or currency
    set_period(world, sub, now, trial_end or next_end(sub, now))
    if discount:
        found = redeem(world, discount, customer=customer["id"], subscription=sub["id"], session=session)
        sub["discounts"] = [found["id"]]
    world.emit("customer.subscription.created", sub)
    first_invoice(world, sub, present=present)
    if trial_end:
        world.clock.at(max(now, trial_end - TRIAL_REMINDER_SECONDS), "trial_reminder", sub["id"])
    return sub


def first_invoice(world: World, sub: Json, *, present: bool) -> None:
    """Of the running period; a trial's costs nothing."""
    span = period(sub)
    rows = lines.full(world, sub, span, free=sub["status"] == "trialing")
    invoice = invoicing.draft(world, sub, rows, reason="subscription_create", period=lines.Span(span.start, span.start))
    invoicing.finalize(world, invoice)
    if invoice["status"] == "open":
        invoicing.collect(world, invoice, present=present)


def licensed(sub: Json) -> list[Json]:
    """The items that set the period."""
    found = [item for item in sub["items"]["data"] if not lines.metered(item["price"])]
    return found or list(sub["items"]["data"])


def period(sub: Json) -> lines.Span:
    """The running one."""
    item = licensed(sub)[0]
    return lines.Span(item["current_period_start"], item["current_period_end"])


def next_end(sub: Json, start: int) -> int:
    """When a period that begins then ends."""
    recurring = licensed(sub)[0]["price"]["recurring"]
    return period_end(sub["billing_cycle_anchor"], start, recurring["interval"], recurring["interval_count"])


def set_period(world: World, sub: Json, start: int, end: int) -> None:
    """On each item, with its timer."""
    for item in sub["items"]["data"]:
        item["current_period_start"], item["current_period_end"] = start, end
    world.clock.at(end, "period_end", sub["id"])


# --- Its end ---------------------------------------------------------------------------------------------------------


def end(world: World, sub: Json, *, reason: str, charge_use: bool = False) -> None:
    """It is over, now. charge_use: what was used is billed (a period's end), else forgotten."""
    now, span = world.clock.now(), period(sub)
    rows = (
        lines.used(world, sub, sub["items"]["data"], lines.Span(span.start, min(now, span.end))) if charge_use else []
    )
    rows = (
        [row for row in [*world.secret(sub["id"]).pop("pending_lines", []), *rows] if row["amount"]]
        if charge_use
        else []
    )
    for invoice in world.store.all("invoice", customer=sub["customer"]):
        if invoice["status"] in ("draft", "open") and invoicing.subscription_of(world, invoice) is sub:
            invoice.update(auto_advance=False, next_payment_attempt=None)
    sub.update(status="canceled", ended_at=now, canceled_at=sub["canceled_at"] or now, pending_update=None)
    sub["cancellation_details"]["reason"] = sub["cancellation_details"]["reason"] or reason
    for act in on_end:
        act(world, sub)
    world.emit("customer.subscription.deleted", sub)
    if rows:
        invoice = invoicing.draft(world, sub, rows, reason="subscription_cycle", period=span)
        invoicing.finalize(world, invoice)
        if invoice["status"] == "open":
            invoicing.collect(world, invoice)


on_end: list[Any] = []  # schedules.py lets go here: (world, sub)


def end_all(world: World, customer: Json) -> None:
    """The customer is deleted."""
    for sub in world.store.all("subscription", customer=customer["id"]):
        if sub["status"] not in OVER:
            end(world, sub, reason="cancellation_requested")


customers.on_delete.append(end_all)
