"""What time and payments do to a subscription: renewals, dunning, ends of trials."""

import copy
from typing import Any

from tests.loopback.stripe import invoicing, lines, subscriptions
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

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
    if sub["status"] in subscriptions.OVER or invoice["billing_reason"] == "subscription_create":
        if sub["status"] == "incomplete":
            world.clock.at(sub["created"] + subscriptions.INCOMPLETE_SECONDS, "incomplete", sub["id"])
        return
    if sub["pending_update"] and world.secret(sub["id"]).get("pending_invoice") == invoice["id"]:
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
        subscriptions.end(world, sub, reason="payment_failed")
    elif world.habits.dunning_end == "unpaid":
        sub["status"] = "unpaid"


# --- Time ---------------------------------------------------------------------------------------------------------


def on_period_end(world: World, about: str, when: int) -> None:
    """Renew, or end."""
    sub = world.store.get("subscription", about)
    if sub["status"] in (*subscriptions.OVER, "incomplete", "paused") or subscriptions.period(sub).end != when:
        return
    before, span = copy.deepcopy(sub), subscriptions.period(sub)
    if sub["cancel_at_period_end"] or sub["cancel_at"] == when:
        subscriptions.end(world, sub, reason="cancellation_requested", charge_use=True)
        return
    was_trial = sub["status"] == "trialing"
    if was_trial and invoicing.card_of(world, sub) is None and _without_card(world, sub):
        return
    use = lines.used(world, sub, sub["items"]["data"], span)
    for act in on_boundary:
        act(world, sub, when)
    subscriptions.set_period(world, sub, when, subscriptions.next_end(sub, when))
    if was_trial:
        sub["status"] = "active"
    hidden = world.secret(sub["id"])
    rows = [*hidden.pop("pending_lines", []), *use, *lines.full(world, sub, subscriptions.period(sub))]
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
    if invoice["status"] == "open" and sub["status"] not in subscriptions.OVER:
        invoicing.collect(world, invoice)


def on_retry(world: World, about: str, when: int) -> None:
    """Dunning."""
    invoice = world.store.get("invoice", about)
    sub = invoicing.subscription_of(world, invoice)
    if (
        invoice["status"] == "open"
        and invoice["next_payment_attempt"] == when
        and sub["status"] not in subscriptions.OVER
    ):
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
    if sub["status"] not in subscriptions.OVER and sub["cancel_at"] == when:
        subscriptions.end(world, sub, reason="cancellation_requested", charge_use=True)


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
        subscriptions.end(world, sub, reason="cancellation_requested")
    elif wish == "pause":
        sub["status"] = "paused"
        world.emit("customer.subscription.paused", sub)
    return bool(wish in ("cancel", "pause"))


invoicing.on_try.append(heard)
TURNS = {
    "period_end": on_period_end, "finalize": on_finalize, "retry": on_retry, "incomplete": on_incomplete,
    "trial_reminder": on_trial_reminder, "cancel_at": on_cancel_at, "resume": on_resume,
}  # fmt: skip
