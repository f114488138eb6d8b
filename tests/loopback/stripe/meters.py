"""Billing meters and their events. A repeated identifier is refused with 400, as reported of Stripe."""

import copy

from tests.loopback.stripe import lines
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import whole
from tests.loopback.stripe.errors import Refusal, invalid, required
from tests.loopback.stripe.shapes import blank
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

PAST_SECONDS = 35 * DAY
FUTURE_SECONDS = 300
FORMULAS = ("sum", "count", "last")


def create(world: World, call: Call) -> Json:
    """Of an event name that no other active meter has."""
    given = call.params
    for name in ("display_name", "event_name", "default_aggregation"):
        if not given.get(name):
            raise required(name)
    if given["default_aggregation"].get("formula") not in FORMULAS:
        raise invalid("Invalid formula.", "default_aggregation[formula]")
    if any(row["status"] == "active" for row in world.store.all("billing.meter", event_name=given["event_name"])):
        raise invalid(f"An active meter already exists for event_name {given['event_name']}.", "event_name")
    mapping, value = given.get("customer_mapping") or {}, given.get("value_settings") or {}
    meter = world.make(
        "billing.meter", "mtr", display_name=given["display_name"], event_name=given["event_name"], status="active",
        customer_mapping={"event_payload_key": mapping.get("event_payload_key", "stripe_customer_id"), "type": "by_id"},
        default_aggregation={"formula": given["default_aggregation"]["formula"]}, event_time_window=None,
        status_transitions={"deactivated_at": None}, updated=world.clock.now(),
        value_settings={"event_payload_key": value.get("event_payload_key", "value")},
    )  # fmt: skip
    world.emit("billing.meter.created", meter)
    return meter


def get(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("billing.meter", call.ids[0])


def update(world: World, call: Call) -> Json:
    """Its name for people."""
    meter = world.store.get("billing.meter", call.ids[0])
    before = copy.deepcopy(meter)
    meter.update(display_name=call.params.get("display_name") or meter["display_name"], updated=world.clock.now())
    world.changed("billing.meter.updated", meter, before)
    return meter


def every(world: World, call: Call) -> Json:
    """By status."""
    status = call.params.get("status")
    rows = world.store.all("billing.meter", **({"status": status} if status else {}))
    return paged(rows, call.params, "/v1/billing/meters")


def deactivate(world: World, call: Call) -> Json:
    """No events any more."""
    return _switch(world, call, "inactive")


def reactivate(world: World, call: Call) -> Json:
    """Events again."""
    return _switch(world, call, "active")


def _switch(world: World, call: Call, status: str) -> Json:
    meter = world.store.get("billing.meter", call.ids[0])
    meter["status"] = status
    meter["status_transitions"]["deactivated_at"] = world.clock.now() if status == "inactive" else None
    world.emit(f"billing.meter.{'de' if status == 'inactive' else 're'}activated", meter)
    return meter


def add_event(world: World, call: Call) -> Json:
    """One count. value: a whole number, not below 0; timestamp: at most 35 days ago and 5 minutes ahead."""
    given, now = call.params, world.clock.now()
    name, payload = given.get("event_name"), given.get("payload")
    if not name or not isinstance(payload, dict):
        raise required("event_name" if not name else "payload")
    meter = next((row for row in world.store.all("billing.meter", event_name=name) if row["status"] == "active"), None)
    if meter is None:
        raise invalid(f"No active meter found for event_name {name}.", "event_name", "no_meter")
    customer = payload.get(meter["customer_mapping"]["event_payload_key"])
    value = payload.get(meter["value_settings"]["event_payload_key"])
    counted = meter["default_aggregation"]["formula"] == "count"
    if not customer or (value is None and not counted):
        raise invalid("The payload lacks the customer or the value.", "payload")
    if not counted and not str(value).isdigit():
        raise invalid("The value must be a whole number that is not negative.", "payload")
    world.store.get("customer", customer, "payload")
    when = whole(given, "timestamp", now) or now
    if not now - PAST_SECONDS <= when <= now + FUTURE_SECONDS:
        raise invalid("The timestamp must be within the past 35 days or up to 5 minutes in the future.", "timestamp")
    identifier = given.get("identifier") or world.store.new_id("mevt")
    kept = world.secret(name)
    if identifier in kept.setdefault("identifiers", {}):
        raise Refusal(400, f"An event already exists with identifier {identifier}.", param="identifier",
                      code="duplicate_meter_event")  # fmt: skip
    kept["identifiers"][identifier] = now
    entry = {"customer": customer, "value": int(value or 1), "timestamp": when, "identifier": identifier}
    kept.setdefault("events", []).append(entry)
    return blank("billing.meter_event", created=now, event_name=name, identifier=identifier, livemode=world.livemode,
                 payload={key: str(each) for key, each in payload.items()}, timestamp=when)  # fmt: skip


def summaries(world: World, call: Call) -> Json:
    """Use of a customer in [start_time, end_time), as one summary, or one per day or hour."""
    meter, given = world.store.get("billing.meter", call.ids[0]), call.params
    start, end = whole(given, "start_time"), whole(given, "end_time")
    if start is None or end is None or not given.get("customer"):
        raise required("start_time" if start is None else "end_time" if end is None else "customer")
    if start % 60 or end % 60:
        raise invalid("start_time and end_time must be aligned with minute boundaries.", "start_time")
    step = {"hour": 3600, "day": DAY}.get(str(given.get("value_grouping_window")), max(1, end - start))
    rows = []
    for begin in range(start, end, step):
        span = lines.Span(begin, min(end, begin + step))
        amount = lines.usage(world, meter["id"], given["customer"], span)
        rows.append(blank("billing.meter_event_summary", id=f"mtrusg_{meter['id'][4:12]}{begin}", meter=meter["id"],
                          aggregated_value=float(amount), start_time=span.start, end_time=span.end,
                          livemode=world.livemode))  # fmt: skip
    return paged([row for row in rows if row["aggregated_value"] or step == end - start], given, call.path)
