"""What happens to a subscription in time: begin, renew, dunning, end. Changes asked for are in changes.py.

incomplete ─paid─> active ──renewal declined──> past_due ─paid─> active
    │ 23 h           │ ▲                           │ last retry: canceled | unpaid | stays
    ▼                │ └ trialing (trial's end)    ▼
incomplete_expired   └─ period end, cancel ──> canceled          paused: a trial's end without a card, if asked for
"""

import copy
from typing import Any

from tests.loopback.stripe import customers, invoicing, lines
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
    lines.unit_in(world, price, sub["currency"])
    item = world.make(
        "subscription_item", "si", discounts=[], subscription=sub["id"], price=copy.deepcopy(price), tax_rates=[],
        plan=plan_shape(price), quantity=quantity or 1,
    )  # fmt: skip
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


# --- Payments -----------------------------------------------------------------------------------------------------


def heard(world: World, invoice: Json, code: str) -> None:
    """An invoice was paid, or a try failed."""
    sub = invoicing.subscription_of(world, invoice)
    before = copy.deepcopy(sub)
    if code:
        _failed(world, sub, invoice)
    elif (sub["status"] == "incomplete" and invoice["billing_reason"] == "subscription_create") or (
        sub["status"] in ("past_due", "unpaid") and not _owes(world, sub)
    ):
        sub["status"] = "active"
    if not code and sub["pending_update"] and world.secret(sub["id"]).get("pending_invoice") == invoice["id"]:
        for act in on_pending_paid:
            act(world, sub)
    if sub["status"] != "canceled" or before["status"] == "canceled":
        world.changed("customer.subscription.updated", sub, before)
    _delinquent(world, sub["customer"])


on_pending_paid: list[Any] = []  # changes.py applies what waited for its payment: (world, sub)


def _owes(world: World, sub: Json) -> bool:
    return any(
        row["status"] == "open" and row["attempted"] and row["id"] == sub["latest_invoice"]
        for row in world.store.all("invoice", customer=sub["customer"])
    )  # fmt: skip


def _delinquent(world: World, customer_id: str) -> None:
    customer = world.store.get("customer", customer_id)
    if not customer.get("deleted"):
        customer["delinquent"] = any(
            sub["status"] in ("past_due", "unpaid") for sub in world.store.all("subscription", customer=customer_id)
        )


def _failed(world: World, sub: Json, invoice: Json) -> None:
    if sub["status"] in OVER or invoice["billing_reason"] == "subscription_create":
        if sub["status"] == "incomplete":
            world.clock.at(sub["created"] + INCOMPLETE_SECONDS, "incomplete", sub["id"])
        return
    if sub["pending_update"]:
        return
    if sub["status"] in ("active", "trialing"):
        sub["status"] = "past_due"
    retries, tried = world.habits.retry_days, invoice["attempt_count"]
    if tried <= len(retries):
        invoice["next_payment_attempt"] = world.clock.now() + retries[tried - 1] * DAY
        world.clock.at(invoice["next_payment_attempt"], "retry", invoice["id"])
        return
    invoice["next_payment_attempt"], invoice["auto_advance"] = None, False
    if world.habits.dunning_end == "cancel":
        end(world, sub, reason="payment_failed")
    elif world.habits.dunning_end == "unpaid":
        sub["status"] = "unpaid"


# --- Time ---------------------------------------------------------------------------------------------------------


def on_period_end(world: World, about: str, when: int) -> None:
    """Renew, or end."""
    sub = world.store.get("subscription", about)
    if sub["status"] in (*OVER, "incomplete", "paused") or period(sub).end != when:
        return
    before, span = copy.deepcopy(sub), period(sub)
    if sub["cancel_at_period_end"] or sub["cancel_at"] == when:
        end(world, sub, reason="cancellation_requested", charge_use=True)
        return
    was_trial = sub["status"] == "trialing"
    if was_trial and invoicing.card_of(world, sub) is None and _without_card(world, sub):
        return
    use = lines.used(world, sub, sub["items"]["data"], span)
    for act in on_boundary:
        act(world, sub, when)
    set_period(world, sub, when, next_end(sub, when))
    if was_trial:
        sub["status"] = "active"
    hidden = world.secret(sub["id"])
    rows = [*hidden.pop("pending_lines", []), *use, *lines.full(world, sub, period(sub))]
    world.changed("customer.subscription.updated", sub, before)
    renewal(world, sub, rows, span)


on_boundary: list[Any] = []  # schedules.py turns a page here: (world, sub, when)


def renewal(world: World, sub: Json, rows: list[Json], span: lines.Span) -> None:
    """The draft of a new period; it is finalized after an hour, if it is collected at all."""
    pause = (sub["pause_collection"] or {}).get("behavior")
    collected = sub["status"] != "unpaid" and pause not in ("keep_as_draft", "void")
    invoice = invoicing.draft(world, sub, rows, reason="subscription_cycle", period=span, auto_advance=collected)
    if pause == "void":
        invoicing.void(world, invoice)
    elif collected:
        invoice["automatically_finalizes_at"] = world.clock.now() + world.habits.finalize_seconds
        world.clock.at(invoice["automatically_finalizes_at"], "finalize", invoice["id"])


def on_finalize(world: World, about: str, _: int) -> None:
    """A renewal's hour is over: late use is counted, then it is charged."""
    invoice = world.store.get("invoice", about)
    if invoice["status"] != "draft" or not invoice["auto_advance"]:
        return
    sub = invoicing.subscription_of(world, invoice)
    span = lines.Span(invoice["period_start"], invoice["period_end"])
    items = {item["id"]: item for item in sub["items"]["data"]}
    for row in invoice["lines"]["data"]:
        item = items.get(row["parent"]["subscription_item_details"]["subscription_item"])
        if item and lines.metered(item["price"]) and row["period"] == {"start": span.start, "end": span.end}:
            fresh = lines.used(world, sub, [item], span)[0]
            row.update(
                {name: fresh[name] for name in ("amount", "subtotal", "quantity", "quantity_decimal", "description")}
            )
    if (sub["pause_collection"] or {}).get("behavior") == "mark_uncollectible":
        invoicing.uncollectible(world, invoice)
        return
    invoicing.finalize(world, invoice)
    if invoice["status"] == "open" and sub["status"] not in OVER:
        invoicing.collect(world, invoice)


def on_retry(world: World, about: str, when: int) -> None:
    """Dunning."""
    invoice = world.store.get("invoice", about)
    sub = invoicing.subscription_of(world, invoice)
    if invoice["status"] == "open" and invoice["next_payment_attempt"] == when and sub["status"] not in OVER:
        invoicing.collect(world, invoice)


def on_incomplete(world: World, about: str, _: int) -> None:
    """Nobody completed the first payment within 23 hours."""
    sub = world.store.get("subscription", about)
    if sub["status"] == "incomplete":
        before = copy.deepcopy(sub)
        sub.update(status="incomplete_expired", ended_at=world.clock.now())
        invoice = world.store.get("invoice", sub["latest_invoice"])
        if invoice["status"] == "open":
            invoicing.void(world, invoice)
        world.changed("customer.subscription.updated", sub, before)


def on_trial_reminder(world: World, about: str, _: int) -> None:
    """Three days before a trial's end."""
    sub = world.store.get("subscription", about)
    if sub["status"] == "trialing":
        world.emit("customer.subscription.trial_will_end", sub)


def on_cancel_at(world: World, about: str, when: int) -> None:
    """A date that was asked for, not at a period's end."""
    sub = world.store.get("subscription", about)
    if sub["status"] not in OVER and sub["cancel_at"] == when:
        end(world, sub, reason="cancellation_requested", charge_use=True)


def on_resume(world: World, about: str, when: int) -> None:
    """pause_collection[resumes_at] has come."""
    sub = world.store.get("subscription", about)
    if (sub["pause_collection"] or {}).get("resumes_at") == when:
        before = copy.deepcopy(sub)
        sub["pause_collection"] = None
        world.changed("customer.subscription.updated", sub, before)


def _without_card(world: World, sub: Json) -> bool:
    wish = sub["trial_settings"]["end_behavior"]["missing_payment_method"]
    if wish == "cancel":
        end(world, sub, reason="cancellation_requested")
    elif wish == "pause":
        sub["status"] = "paused"
        world.emit("customer.subscription.paused", sub)
    return bool(wish in ("cancel", "pause"))


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
invoicing.on_try.append(heard)
TURNS = {
    "period_end": on_period_end, "finalize": on_finalize, "retry": on_retry, "incomplete": on_incomplete,
    "trial_reminder": on_trial_reminder, "cancel_at": on_cancel_at, "resume": on_resume,
}  # fmt: skip
