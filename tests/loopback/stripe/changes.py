"""What the product asks of a subscription: other items with proration, cancelling, pausing; and the preview of it.

A change within one interval keeps the period: proration lines wait for the next invoice (create_prorations) or are
invoiced at once (always_invoice). Another interval begins a new period at once, and its invoice too.
"""

import copy
from dataclasses import dataclass
from typing import Any

from tests.loopback.stripe import cards, discounts, invoicing, lines, renewals, subscriptions
from tests.loopback.stripe.clock import HOUR
from tests.loopback.stripe.encoding import flag, merged, whole
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

PENDING_SECONDS = 23 * HOUR
BEHAVIORS = ("create_prorations", "always_invoice", "none")
PAUSES = ("keep_as_draft", "mark_uncollectible", "void")


@dataclass
class Change:
    """New items of a subscription and what they cost; nothing has happened yet."""

    items: list[Json]
    rows: list[Json]  # prorations
    when: int
    new_period: bool
    at_once: bool


def items_after(world: World, sub: Json, wanted: list[Json]) -> list[Json]:
    """The items as they would be; raises Refusal 400."""
    after = {item["id"]: copy.deepcopy(item) for item in sub["items"]["data"]}
    span = subscriptions.period(sub)
    for entry in wanted:
        given = entry.get("id")
        if given and given not in after:
            raise invalid(f"No such subscription_item: '{given}'", "items[0][id]", "resource_missing")
        if given and flag(entry, "deleted"):
            del after[given]
        elif given:
            _edit(world, sub, after[given], entry)
        else:
            item = _added(world, sub, entry)
            item["current_period_start"], item["current_period_end"] = span.start, span.end
            after[item["id"]] = item
    if not after:
        raise invalid("A subscription must have at least one item.", "items")
    intervals = {(item["price"]["recurring"]["interval"], item["price"]["recurring"]["interval_count"])
                 for item in after.values() if not lines.metered(item["price"])}  # fmt: skip
    if len(intervals) > 1:
        raise invalid("All prices on a subscription must have the same `recurring.interval`.", "items")
    return list(after.values())


def _edit(world: World, sub: Json, item: Json, entry: Json) -> None:
    if entry.get("price") and entry["price"] != item["price"]["id"]:
        fresh = _added(world, sub, {**entry, "quantity": entry.get("quantity", item.get("quantity"))})
        for name in ("price", "plan"):
            item[name] = fresh[name]
        item.pop("quantity", None)
        if "quantity" in fresh:
            item["quantity"] = fresh["quantity"]
    elif entry.get("quantity"):
        item["quantity"] = whole(entry, "quantity")
    item["metadata"] = merged(item["metadata"], entry.get("metadata"))


def _added(world: World, sub: Json, entry: Json) -> Json:
    """A new item that is not kept by itself: it lives inside its subscription."""
    price = world.store.get("price", entry.get("price"), "items[0][price]")
    return subscriptions.new_item(world, sub, price, whole(entry, "quantity"))


def planned(world: World, sub: Json, given: Json) -> Change:
    """What `items` and `proration_behavior` would do; raises Refusal 400."""
    behavior = given.get("proration_behavior") or "create_prorations"
    if behavior not in BEHAVIORS:
        raise invalid(f"Invalid proration_behavior: must be one of {', '.join(BEHAVIORS)}", "proration_behavior")
    span, now = subscriptions.period(sub), world.clock.now()
    when = whole(given, "proration_date", now) or now
    if not span.start <= when <= span.end:
        raise invalid("Cannot specify a proration_date outside of the current period.", "proration_date")
    after = items_after(world, sub, list(given.get("items") or []))
    other = _interval(after) != _interval(sub["items"]["data"]) and sub["status"] != "trialing"
    resets = other or given.get("billing_cycle_anchor") == "now"
    rows = (
        []
        if behavior == "none"
        else lines.prorations(world, sub, sub["items"]["data"], after, when, credit_only=resets)
    )
    return Change(after, rows, when, resets, resets or behavior == "always_invoice")


def _interval(items: list[Json]) -> tuple[str, int]:
    found = [item for item in items if not lines.metered(item["price"])] or items
    recurring = found[0]["price"]["recurring"]
    return recurring["interval"], recurring["interval_count"]


def apply(world: World, sub: Json, change: Change, payment_behavior: str = "allow_incomplete") -> None:
    """Do it. payment_behavior: what a declined invoice means for the change (allow_incomplete, pending_if_incomplete,
    error_if_incomplete, default_incomplete). Raises Refusal 402 for error_if_incomplete."""
    before, hidden = copy.deepcopy(sub), world.secret(sub["id"])
    gone = {item["id"] for item in sub["items"]["data"]} - {item["id"] for item in change.items}
    use = [row for row in lines.used(world, sub, [item for item in sub["items"]["data"] if item["id"] in gone],
                                     lines.Span(subscriptions.period(sub).start, change.when))
           if row["amount"]]  # fmt: skip
    sub["items"]["data"] = change.items
    if change.new_period:
        now = world.clock.now()
        sub["billing_cycle_anchor"] = now
        subscriptions.set_period(world, sub, now, subscriptions.next_end(sub, now))
    if not change.at_once:
        hidden.setdefault("pending_lines", []).extend([*change.rows, *use])
        return
    rows = [*hidden.pop("pending_lines", []), *change.rows, *use]
    if change.new_period:
        rows += lines.full(world, sub, subscriptions.period(sub))
    if not rows or sub["status"] in ("unpaid", "trialing"):
        hidden.setdefault("pending_lines", []).extend(rows)
        return
    _bill(world, sub, rows, before, payment_behavior)


def _bill(world: World, sub: Json, rows: list[Json], before: Json, payment_behavior: str) -> None:
    after = copy.deepcopy(sub["items"]), sub["billing_cycle_anchor"]
    waits = payment_behavior in ("pending_if_incomplete", "error_if_incomplete")
    if waits:  # until it is paid, the old items stand
        sub["items"], sub["billing_cycle_anchor"] = copy.deepcopy(before["items"]), before["billing_cycle_anchor"]
        sub["pending_update"] = {
            "billing_cycle_anchor": after[1] if after[1] != before["billing_cycle_anchor"] else None, "discount": None,
            "discounts": [], "expires_at": world.clock.now() + PENDING_SECONDS, "metadata": None,
            "subscription_items": after[0]["data"], "trial_end": None, "trial_from_plan": None,
        }  # fmt: skip
    invoice = invoicing.draft(world, sub, rows, reason="subscription_update", period=subscriptions.period(sub))
    if waits:
        world.secret(sub["id"])["pending_invoice"] = invoice["id"]
    invoicing.finalize(world, invoice)
    code = ""
    if invoice["status"] == "open" and payment_behavior != "default_incomplete":
        code = invoicing.collect(world, invoice)
    if code and payment_behavior == "error_if_incomplete":
        sub["pending_update"], sub["latest_invoice"] = None, before["latest_invoice"]
        invoicing.void(world, invoice)
        raise cards.declined(code)
    if sub["pending_update"]:
        world.clock.at(sub["pending_update"]["expires_at"], "pending_update", sub["id"])


def paid_for(world: World, sub: Json) -> None:
    """The invoice that a pending update waited for is paid: it is applied."""
    wanted = sub["pending_update"]
    sub["items"]["data"], sub["pending_update"] = copy.deepcopy(wanted["subscription_items"]), None
    if wanted["billing_cycle_anchor"]:
        sub["billing_cycle_anchor"] = wanted["billing_cycle_anchor"]
    span = subscriptions.period(sub)
    subscriptions.set_period(world, sub, span.start, span.end)
    world.emit("customer.subscription.pending_update_applied", sub)


def on_pending_expiry(world: World, about: str, when: int) -> None:
    """It was not paid in time: forgotten, its invoice void."""
    sub = world.store.get("subscription", about)
    if (sub["pending_update"] or {}).get("expires_at") != when:
        return
    sub["pending_update"] = None
    invoice = world.store.get("invoice", world.secret(sub["id"])["pending_invoice"])
    if invoice["status"] == "open":
        invoicing.void(world, invoice)
    world.emit("customer.subscription.pending_update_expired", sub)


# --- Other wishes -------------------------------------------------------------------------------------------------


def set_cancel(world: World, sub: Json, given: Json) -> None:
    """cancel_at_period_end, cancel_at."""
    if "cancel_at_period_end" not in given and "cancel_at" not in given:
        return
    if sub["schedule"]:
        raise invalid(f"The subscription is managed by the subscription schedule `{sub['schedule']}`, and updating any "
                      "cancelation behavior directly is not allowed. Please update the schedule instead.")  # fmt: skip
    at = whole(given, "cancel_at")
    if flag(given, "cancel_at_period_end"):
        sub.update(cancel_at_period_end=True, cancel_at=subscriptions.period(sub).end)
    elif at is not None:
        if at <= world.clock.now():
            raise invalid("cancel_at must be in the future.", "cancel_at")
        sub.update(cancel_at_period_end=False, cancel_at=at)
        world.clock.at(at, "cancel_at", sub["id"])
    else:
        sub.update(cancel_at_period_end=False, cancel_at=None, canceled_at=None)
        sub["cancellation_details"]["reason"] = None
        return
    sub["canceled_at"] = world.clock.now()
    sub["cancellation_details"]["reason"] = "cancellation_requested"


def set_pause(world: World, sub: Json, given: Json) -> None:
    """pause_collection; empty ends the pause."""
    if "pause_collection" not in given:
        return
    pause: Any = given["pause_collection"]
    if not pause:
        sub["pause_collection"] = None
        return
    if pause.get("behavior") not in PAUSES:
        raise invalid(f"Invalid pause_collection[behavior]: must be one of {', '.join(PAUSES)}", "pause_collection")
    resumes_at = whole(pause, "resumes_at")
    sub["pause_collection"] = {"behavior": pause["behavior"], "resumes_at": resumes_at}
    if resumes_at:
        world.clock.at(resumes_at, "resume", sub["id"])


def set_trial_end(world: World, sub: Json, given: Json) -> None:
    """trial_end=now ends a trial; a moment moves it."""
    if not given.get("trial_end"):
        return
    now = world.clock.now()
    end = now if given["trial_end"] == "now" else whole(given, "trial_end") or now
    if sub["status"] != "trialing":
        raise invalid("The double moves the end of running trials only.", "trial_end")
    sub.update(trial_end=end, billing_cycle_anchor=end)
    subscriptions.set_period(world, sub, subscriptions.period(sub).start, end)
    if end == now:
        renewals.on_period_end(world, sub["id"], now)


def set_discounts(world: World, sub: Json, given: Json) -> None:
    """Replace the discounts."""
    if "discounts" not in given:
        return
    wanted = discounts.asked(given["discounts"])
    kept = [entry["discount"] for entry in wanted if entry.get("discount")]
    for entry in wanted:
        if not entry.get("discount"):
            amount = sum(lines.cost(world, item["price"], item.get("quantity") or 0, sub["currency"])
                         for item in sub["items"]["data"])  # fmt: skip
            found = discounts.chosen(world, entry, customer=sub["customer"], currency=sub["currency"], amount=amount)
            kept.append(
                discounts.redeem(world, found, customer=sub["customer"], subscription=sub["id"], session=None)["id"]
            )
    sub["discounts"] = kept


# --- Preview ------------------------------------------------------------------------------------------------------


def preview(world: World, sub: Json, given: Json) -> Json:
    """The invoice that would come: of the change at once, or of the next period with what waits for it."""
    change = planned(world, sub, given)
    shadow = copy.deepcopy(sub)
    shadow["items"]["data"] = change.items
    span, now = subscriptions.period(sub), world.clock.now()
    rows = copy.deepcopy([*world.secret(sub["id"]).get("pending_lines", []), *change.rows])
    reason = "upcoming" if not change.at_once else "subscription_update"
    if change.new_period:
        shadow["billing_cycle_anchor"] = now
        rows += lines.full(world, shadow, lines.Span(now, subscriptions.next_end(shadow, now)))
    elif not change.at_once:
        rows += lines.used(world, shadow, shadow["items"]["data"], span)
        rows += lines.full(world, shadow, lines.Span(span.end, subscriptions.next_end(shadow, span.end)))
    invoice = invoicing.unsaved(world, shadow, rows, reason=reason, period=span)
    invoice["id"] = "upcoming_" + invoice["id"]
    invoice["lines"]["url"] = f"/v1/invoices/{invoice['id']}/lines"
    for row in rows:
        row["invoice"] = invoice["id"]
    invoice["next_payment_attempt"] = now if change.at_once else span.end + world.habits.finalize_seconds
    return invoice


renewals.on_pending_paid.append(paid_for)
TURNS = {"pending_update": on_pending_expiry}
