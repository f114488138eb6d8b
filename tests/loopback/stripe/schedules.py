"""Subscription schedules: a price changes at a period's end. from_subscription, then phases, then release."""

import copy
from typing import Any

from tests.loopback.stripe import changes, lines, renewals, subscriptions
from tests.loopback.stripe.catalogue import unit_in
from tests.loopback.stripe.clock import add_interval
from tests.loopback.stripe.encoding import merged, whole
from tests.loopback.stripe.errors import invalid, required
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

LIVE = ("not_started", "active")


def phase(start: int, end: int, items: list[Json], currency: str, **more: Any) -> Json:
    """One, with all its keys."""
    return {
        "add_invoice_items": [], "application_fee_percent": None, "automatic_tax": None, "billing_cycle_anchor": None,
        "billing_thresholds": None, "collection_method": None, "currency": currency, "default_payment_method": None,
        "default_tax_rates": [], "description": None, "discounts": [], "end_date": end, "invoice_settings": None,
        "items": items, "metadata": {}, "on_behalf_of": None, "proration_behavior": "create_prorations",
        "start_date": start, "transfer_data": None, "trial_end": None, **more,
    }  # fmt: skip


def phase_item(price: str, quantity: int | None) -> Json:
    """price and quantity, with all its keys."""
    made: Json = {
        "billing_thresholds": None,
        "discounts": [],
        "metadata": {},
        "plan": price,
        "price": price,
        "tax_rates": [],
    }
    return made if quantity is None else {**made, "quantity": quantity}


def create(world: World, call: Call) -> Json:
    """from_subscription only: the running period becomes its first phase."""
    given = call.params
    if not given.get("from_subscription"):
        raise required("from_subscription")
    if given.get("phases"):
        raise invalid("You cannot set `phases` if `from_subscription` is set.", "phases")
    sub = world.store.get("subscription", given["from_subscription"], "from_subscription")
    if sub["schedule"] or sub["status"] in subscriptions.OVER:
        raise invalid("You cannot migrate a subscription that is already attached to a schedule or has ended: "
                      f"`{sub['schedule']}`.", "from_subscription")  # fmt: skip
    span = subscriptions.period(sub)
    items = [phase_item(item["price"]["id"], item.get("quantity")) for item in sub["items"]["data"]]
    row = world.make(
        "subscription_schedule", "sub_sched", customer=sub["customer"], end_behavior="release", status="active",
        billing_mode={"type": "flexible", "flexible": {"proration_discounts": "included"}},
        current_phase={"start_date": span.start, "end_date": span.end}, subscription=sub["id"],
        default_settings={
            "application_fee_percent": None, "billing_cycle_anchor": "automatic", "billing_thresholds": None,
            "automatic_tax": {"disabled_reason": None, "enabled": False, "liability": None},
            "collection_method": "charge_automatically",
            "default_payment_method": None, "description": None, "on_behalf_of": None,
            "invoice_settings": {"account_tax_ids": None, "days_until_due": None, "issuer": {"type": "self"}},
            "transfer_data": None},
        pause_schedules=[], phases=[phase(span.start, span.end, items, sub["currency"])],
    )  # fmt: skip
    _attach(world, sub, row["id"])
    world.emit("subscription_schedule.created", row)
    world.clock.at(span.end, "phase", row["id"])
    return row


def _attach(world: World, sub: Json, schedule: str | None) -> None:
    before = copy.deepcopy(sub)
    sub["schedule"] = schedule
    world.changed("customer.subscription.updated", sub, before)


def get(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("subscription_schedule", call.ids[0])


def every(world: World, call: Call) -> Json:
    """By customer."""
    customer = call.params.get("customer")
    rows = world.store.all("subscription_schedule", **({"customer": customer} if customer else {}))
    return paged(rows, call.params, "/v1/subscription_schedules")


def update(world: World, call: Call) -> Json:
    """All phases anew; the first must be the running one."""
    row, given = _live(world, call.ids[0]), call.params
    before = copy.deepcopy(row)
    if given.get("phases"):
        sub = world.store.get("subscription", row["subscription"])
        row["phases"] = _phases(world, sub, given["phases"], row["phases"][0]["start_date"])
        running = next(each for each in row["phases"] if each["end_date"] > world.clock.now())
        row["current_phase"] = {"start_date": running["start_date"], "end_date": running["end_date"]}
        for each in row["phases"]:
            world.clock.at(each["end_date"], "phase", row["id"])
    row["end_behavior"] = given.get("end_behavior") or row["end_behavior"]
    row["metadata"] = merged(row["metadata"], given.get("metadata"))
    world.changed("subscription_schedule.updated", row, before)
    return row


def _phases(world: World, sub: Json, given: list[Json], first_start: int) -> list[Json]:
    made: list[Json] = []
    start = first_start
    for at, entry in enumerate(given):
        asked = whole(entry, "start_date") if entry.get("start_date") != "now" else world.clock.now()
        if at and asked is not None and asked != start:
            raise invalid(
                "The start date of a phase must be the end date of the one before.", f"phases[{at}][start_date]"
            )
        items = []
        for each in entry.get("items") or []:
            price = world.store.get("price", each.get("price"), f"phases[{at}][items][0][price]")
            unit_in(world, price, sub["currency"])
            items.append(phase_item(price["id"], None if lines.metered(price) else whole(each, "quantity", 1)))
        if not items:
            raise required(f"phases[{at}][items]")
        end = _end(world, entry, start, items)
        made.append(phase(start, end, items, sub["currency"], metadata=merged({}, entry.get("metadata")),
                          proration_behavior=entry.get("proration_behavior") or "create_prorations"))  # fmt: skip
        start = end
    return made


def _end(world: World, entry: Json, start: int, items: list[Json]) -> int:
    if entry.get("end_date"):
        return whole(entry, "end_date") or start
    duration = entry.get("duration")
    if duration:
        return add_interval(start, duration["interval"], whole(duration, "interval_count", 1) or 1)
    recurring = world.store.get("price", items[0]["price"])["recurring"]
    return add_interval(
        start, recurring["interval"], recurring["interval_count"] * (whole(entry, "iterations", 1) or 1)
    )


def _live(world: World, given: str) -> Json:
    row = world.store.get("subscription_schedule", given)
    if row["status"] not in LIVE:
        raise invalid(f"You cannot change a subscription schedule that is {row['status']}.")
    return row


def release(world: World, call: Call) -> Json:
    """The subscription goes on without it."""
    row = _live(world, call.ids[0])
    _release(world, row)
    return row


def _release(world: World, row: Json) -> None:
    row.update(status="released", released_at=world.clock.now(), released_subscription=row["subscription"],
               subscription=None, current_phase=None)  # fmt: skip
    _attach(world, world.store.get("subscription", row["released_subscription"]), None)
    world.emit("subscription_schedule.released", row)


def cancel(world: World, call: Call) -> Json:
    """With the subscription, at once."""
    row = _live(world, call.ids[0])
    subscriptions.end(world, world.store.get("subscription", row["subscription"]), reason="cancellation_requested")
    return row


def let_go(world: World, sub: Json) -> None:
    """The subscription has ended, so has its schedule."""
    if sub["schedule"]:
        row = world.store.get("subscription_schedule", sub["schedule"])
        row.update(status="canceled", canceled_at=world.clock.now(), current_phase=None)
        world.emit("subscription_schedule.canceled", row)


def turn(world: World, sub: Json, when: int) -> None:
    """A period ends: the next phase's items are in force for the period that begins. Called before it is billed."""
    row = world.store.rows.get("subscription_schedule", {}).get(sub["schedule"] or "")
    following = next((each for each in row["phases"] if each["start_date"] == when), None) if row else None
    if row is None or following is None:
        return
    given = _as_items(sub, following)
    sub["items"]["data"] = changes.items_after(world, sub, given)
    _moved(world, row, following)


def _as_items(sub: Json, following: Json) -> list[Json]:
    """The phase as an `items` parameter: the first licensed item changes, so that it keeps its id."""
    wanted, given = list(following["items"]), []
    for item in sub["items"]["data"]:
        same = next((each for each in wanted if each["price"] == item["price"]["id"]), None)
        if same is None and not lines.metered(item["price"]):
            same = next((each for each in wanted if "quantity" in each), None)
        if same is None:
            given.append({"id": item["id"], "deleted": "true"})
        else:
            wanted.remove(same)
            given.append({"id": item["id"], **{name: same[name] for name in ("price", "quantity") if name in same}})
    return [*given, *({name: each[name] for name in ("price", "quantity") if name in each} for each in wanted)]


def _moved(world: World, row: Json, following: Json) -> None:
    before = copy.deepcopy(row)
    row["current_phase"] = {"start_date": following["start_date"], "end_date": following["end_date"]}
    world.changed("subscription_schedule.updated", row, before)


def on_phase(world: World, about: str, when: int) -> None:
    """A phase ends: within a period the next one begins with proration; after the last one, end_behavior."""
    row = world.store.get("subscription_schedule", about)
    if row["status"] != "active" or not row["phases"] or row["current_phase"] is None:
        return
    sub = world.store.get("subscription", row["subscription"])
    if row["phases"][-1]["end_date"] == when:
        if row["end_behavior"] == "cancel":
            subscriptions.end(world, sub, reason="cancellation_requested", charge_use=True)
        else:
            _release(world, row)
        return
    following = next((each for each in row["phases"] if each["start_date"] == when), None)
    if following is None or row["current_phase"]["start_date"] == when or subscriptions.period(sub).end == when:
        return
    before = copy.deepcopy(sub)
    given = {"items": _as_items(sub, following), "proration_behavior": following["proration_behavior"]}
    changes.apply(world, sub, changes.planned(world, sub, given))
    _moved(world, row, following)
    world.changed("customer.subscription.updated", sub, before)


renewals.on_boundary.append(turn)
subscriptions.on_end.append(let_go)
TURNS = {"phase": on_phase}
