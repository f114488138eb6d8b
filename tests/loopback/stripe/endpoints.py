"""Webhook endpoints and events, as the product sees them."""

import copy

from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import flag, merged
from tests.loopback.stripe.errors import invalid, missing, required
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import API_VERSION, Call, World

EVENT_DAYS = 30


def create(world: World, call: Call) -> Json:
    """The only answer that carries the secret."""
    given = call.params
    for name in ("url", "enabled_events"):
        if not given.get(name):
            raise required(name)
    if not str(given["url"]).startswith(("http://", "https://")):
        raise invalid("Invalid URL: An explicit scheme (such as https) must be provided.", "url", "url_invalid")
    endpoint = world.make(
        "webhook_endpoint", "we", api_version=given.get("api_version") or API_VERSION, status="enabled",
        url=given["url"],
        description=given.get("description"), enabled_events=list(given["enabled_events"]),
        metadata=merged({}, given.get("metadata")),
    )  # fmt: skip
    secret = world.secret(endpoint["id"])["secret"] = world.store.new_id("whsec", 32)
    return {**endpoint, "secret": secret}


def get(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("webhook_endpoint", call.ids[0])


def update(world: World, call: Call) -> Json:
    """url, enabled_events, disabled, description, metadata. The API version stays what it was."""
    endpoint, given = world.store.get("webhook_endpoint", call.ids[0]), call.params
    for name in ("url", "description"):
        endpoint[name] = given.get(name, endpoint[name])
    endpoint["enabled_events"] = list(given.get("enabled_events") or endpoint["enabled_events"])
    if "disabled" in given:
        endpoint["status"] = "disabled" if flag(given, "disabled") else "enabled"
    endpoint["metadata"] = merged(endpoint["metadata"], given.get("metadata"))
    return endpoint


def delete(world: World, call: Call) -> Json:
    """No deliveries any more."""
    endpoint = world.store.get("webhook_endpoint", call.ids[0])
    endpoint["status"] = "disabled"
    gone = copy.deepcopy(endpoint)
    world.store.drop(endpoint)
    return {"id": gone["id"], "object": "webhook_endpoint", "deleted": True}


def every(world: World, call: Call) -> Json:
    """All."""
    return paged(world.store.all("webhook_endpoint"), call.params, "/v1/webhook_endpoints")


def get_event(world: World, call: Call) -> Json:
    """One, of the last 30 days."""
    event = world.store.get("event", call.ids[0])
    if event["created"] < world.clock.now() - EVENT_DAYS * DAY:
        raise missing("event", call.ids[0])
    return event


def list_events(world: World, call: Call) -> Json:
    """Of the last 30 days, by type (* at the end fits a beginning), types, delivery_success."""
    given, oldest = call.params, world.clock.now() - EVENT_DAYS * DAY
    kinds = [given["type"]] if given.get("type") else list(given.get("types") or [])
    success = None if "delivery_success" not in given else flag(given, "delivery_success")
    return paged(
        world.store.all("event"), given, "/v1/events",
        lambda row: row["created"] >= oldest and (success is None or (row["pending_webhooks"] == 0) is success)
        and (not kinds or any(row["type"] == kind or (kind.endswith("*") and row["type"].startswith(kind[:-1]))
                              for kind in kinds)),
    )  # fmt: skip
