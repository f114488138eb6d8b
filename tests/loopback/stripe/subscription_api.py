"""Handlers of subscriptions and their items."""

import copy
from typing import Any

from tests.loopback.stripe import changes, customers, discounts, invoicing, lines, subscriptions
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import flag, merged, whole
from tests.loopback.stripe.errors import invalid, missing, required
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

ENDED = ("canceled", "incomplete_expired")


def wanted_items(world: World, given: Any, where: str = "items") -> list[tuple[Json, int | None]]:
    """(price, quantity) of a list parameter; raises Refusal 400."""
    if not given:
        raise required(where)
    return [(world.store.get("price", entry.get("price"), f"{where}[{at}][price]"), whole(entry, "quantity"))
            for at, entry in enumerate(given)]  # fmt: skip


def trial_end_of(world: World, given: Json) -> int | None:
    """From trial_period_days or trial_end."""
    days = whole(given, "trial_period_days")
    if days:
        return world.clock.now() + days * DAY
    return whole(given, "trial_end") if given.get("trial_end") != "now" else None


def discount_of(
    world: World, given: Json, customer: str, currency: str, wanted: list[tuple[Json, int | None]]
) -> Json | None:
    """The one discount that was asked for, checked; None mostly."""
    entries = discounts.asked(given.get("discounts"))
    if not entries:
        return None
    amount = sum(
        lines.cost(world, price, quantity or 1, currency) for price, quantity in wanted if not lines.metered(price)
    )
    return discounts.chosen(world, entries[0], customer=customer, currency=currency, amount=amount)


def create(world: World, call: Call) -> Json:
    """Without a page: charged to the card the customer has."""
    given = call.params
    customer = customers.living(world, given.get("customer"))
    wanted = wanted_items(world, given.get("items"))
    currency = given.get("currency") or wanted[0][0]["currency"]
    method = (
        world.store.get("payment_method", given["default_payment_method"])
        if given.get("default_payment_method")
        else None
    )
    more: Json = {}
    if given.get("trial_settings"):
        more["trial_settings"] = {"end_behavior": {
            "missing_payment_method": given["trial_settings"]["end_behavior"]["missing_payment_method"]}}  # fmt: skip
    sub = subscriptions.begin(
        world, customer, wanted, currency=currency, metadata=merged({}, given.get("metadata")), method=method,
        trial_end=trial_end_of(world, given), more=more, present=flag(given, "off_session") is False,
        discount=discount_of(world, given, customer["id"], currency, wanted),
    )  # fmt: skip
    before = copy.deepcopy(sub)
    changes.set_cancel(world, sub, given)
    world.changed("customer.subscription.updated", sub, before)
    return sub


def get(world: World, call: Call) -> Json:
    """One, ended ones too."""
    return world.store.get("subscription", call.ids[0])


def every(world: World, call: Call) -> Json:
    """By customer, price, status; ended ones only when asked for (canceled, ended, all)."""
    given, status = call.params, call.params.get("status")
    if given.get("customer"):
        world.store.get("customer", given["customer"], "customer")

    def fits(row: Json) -> bool:
        if status == "ended":
            right = row["status"] in ENDED
        elif status in (None, "", "all"):
            right = status == "all" or row["status"] != "canceled"
        else:
            right = row["status"] == status
        return (
            right
            and (not given.get("customer") or row["customer"] == given["customer"])
            and (not given.get("price") or any(item["price"]["id"] == given["price"] for item in row["items"]["data"]))
        )

    return paged(world.store.all("subscription"), given, "/v1/subscriptions", fits)


def living(world: World, given: str) -> Json:
    """Not ended; raises Refusal 404."""
    sub = world.store.get("subscription", given)
    if sub["status"] in ENDED:
        raise missing("subscription", given)
    return sub


def update(world: World, call: Call) -> Json:
    """All that changes.py can."""
    given = call.params
    sub = world.store.get("subscription", call.ids[0])
    if sub["status"] in ENDED:
        if set(given) <= {"metadata", "cancellation_details", "expand"}:
            sub["metadata"] = merged(sub["metadata"], given.get("metadata"))
            return sub
        raise invalid("A canceled subscription can only update its cancellation_details and metadata.")
    change = (
        changes.planned(world, sub, given) if given.get("items") or given.get("billing_cycle_anchor") == "now" else None
    )
    before = copy.deepcopy(sub)
    changes.set_cancel(world, sub, given)
    changes.set_pause(world, sub, given)
    changes.set_discounts(world, sub, given)
    if "default_payment_method" in given:
        sub["default_payment_method"] = world.store.get("payment_method", given["default_payment_method"])["id"]
    if "description" in given:
        sub["description"] = given["description"] or None
    for name in ("comment", "feedback"):
        if (given.get("cancellation_details") or {}).get(name):
            sub["cancellation_details"][name] = given["cancellation_details"][name]
    sub["metadata"] = merged(sub["metadata"], given.get("metadata"))
    if change is not None:
        changes.apply(world, sub, change, given.get("payment_behavior") or "allow_incomplete")
    changes.set_trial_end(world, sub, given)
    world.changed("customer.subscription.updated", sub, before)
    return sub


def cancel(world: World, call: Call) -> Json:
    """At once. invoice_now bills the use so far; prorate credits the rest of the period to the customer's balance."""
    sub, given = living(world, call.ids[0]), call.params
    for name in ("comment", "feedback"):
        if (given.get("cancellation_details") or {}).get(name):
            sub["cancellation_details"][name] = given["cancellation_details"][name]
    if flag(given, "prorate"):
        span, now = subscriptions.period(sub), world.clock.now()
        rows = lines.prorations(world, sub, sub["items"]["data"], [], max(now, span.start), credit_only=True)
        world.secret(sub["id"]).setdefault("pending_lines", []).extend(rows)
    subscriptions.end(
        world, sub, reason="cancellation_requested", charge_use=flag(given, "invoice_now") or flag(given, "prorate")
    )
    return sub


def resume(world: World, call: Call) -> Json:
    """A paused one: a new period begins and is billed."""
    sub = living(world, call.ids[0])
    if sub["status"] != "paused":
        raise invalid("Only paused subscriptions can be resumed.")
    before, now = copy.deepcopy(sub), world.clock.now()
    sub.update(status="active", billing_cycle_anchor=now)
    subscriptions.set_period(world, sub, now, subscriptions.next_end(sub, now))
    rows, span = lines.full(world, sub, subscriptions.period(sub)), subscriptions.period(sub)
    invoice = invoicing.draft(world, sub, rows, reason="subscription_update", period=span)
    invoicing.finalize(world, invoice)
    if invoice["status"] == "open":
        invoicing.collect(world, invoice)
    world.changed("customer.subscription.updated", sub, before)
    world.emit("customer.subscription.resumed", sub)
    return sub


# --- Items --------------------------------------------------------------------------------------------------------


def _item(world: World, given: str) -> tuple[Json, Json]:
    for sub in world.store.all("subscription"):
        for item in sub["items"]["data"]:
            if item["id"] == given:
                return sub, item
    raise missing("subscription_item", given)


def list_items(world: World, call: Call) -> Json:
    """Of a subscription."""
    sub = world.store.get("subscription", call.params.get("subscription"), "subscription")
    return paged(sub["items"]["data"], call.params, "/v1/subscription_items")


def get_item(world: World, call: Call) -> Json:
    """One."""
    return _item(world, call.ids[0])[1]


def _update_items(world: World, sub: Json, call: Call, entry: Json) -> None:
    passed: Json = {name: call.params[name] for name in ("proration_behavior", "payment_behavior", "proration_date")
              if name in call.params}  # fmt: skip
    update(world, Call((sub["id"],), {"items": [entry], **passed}, call.request_id, call.idempotency_key))


def create_item(world: World, call: Call) -> Json:
    """One more, as the metered overage when it is opted in to."""
    sub = living(world, str(call.params.get("subscription")))
    known = {item["id"] for item in sub["items"]["data"]}
    _update_items(world, sub, call, {name: call.params[name] for name in ("price", "quantity", "metadata")
                                     if name in call.params})  # fmt: skip
    return next(item for item in sub["items"]["data"] if item["id"] not in known)


def update_item(world: World, call: Call) -> Json:
    """Price or quantity."""
    sub, _ = _item(world, call.ids[0])
    given: Json = {name: call.params[name] for name in ("price", "quantity", "metadata") if name in call.params}
    _update_items(world, sub, call, {"id": call.ids[0], **given})
    return _item(world, call.ids[0])[1]


def delete_item(world: World, call: Call) -> Json:
    """One less; the last stays."""
    sub, _ = _item(world, call.ids[0])
    _update_items(world, sub, call, {"id": call.ids[0], "deleted": "true"})
    return {"id": call.ids[0], "object": "subscription_item", "deleted": True}
