"""The billing portal: configurations and sessions. What its page's buttons do is portal_page.py's."""

import copy
from typing import Any

from tests.loopback.stripe import customers
from tests.loopback.stripe.encoding import flag, merged
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

PROFILE = ("headline", "privacy_policy_url", "terms_of_service_url")


def features(given: Any) -> Json:
    """All of them, as asked."""
    asked = given or {}
    cancel, update = asked.get("subscription_cancel") or {}, asked.get("subscription_update") or {}
    why = cancel.get("cancellation_reason") or {}
    later = list((update.get("schedule_at_period_end") or {}).get("conditions") or [])
    changes: Json = {
        "billing_cycle_anchor": None, "default_allowed_updates": list(update.get("default_allowed_updates") or []),
        "enabled": flag(update, "enabled"), "proration_behavior": update.get("proration_behavior") or "none",
        "schedule_at_period_end": {"conditions": later},
        "trial_update_behavior": "end_trial",
    }  # fmt: skip
    if update.get("products"):
        changes["products"] = [{"adjustable_quantity": {"enabled": False, "maximum": None, "minimum": 1},
                                "prices": list(each.get("prices") or []), "product": each["product"]}
                               for each in update["products"]]  # fmt: skip
    customer = asked.get("customer_update") or {}
    return {
        "customer_update": {"allowed_updates": list(customer.get("allowed_updates") or []),
                            "enabled": flag(customer, "enabled")},
        "invoice_history": {"enabled": flag(asked.get("invoice_history") or {}, "enabled")},
        "payment_method_update": {"enabled": flag(asked.get("payment_method_update") or {}, "enabled"),
                                  "payment_method_configuration": None},
        "subscription_cancel": {
            "cancellation_reason": {"enabled": flag(why, "enabled"), "options": list(why.get("options") or [])},
            "enabled": flag(cancel, "enabled"), "mode": cancel.get("mode") or "at_period_end",
            "proration_behavior": cancel.get("proration_behavior") or "none"},
        "subscription_pause": {"duration": {"interval_options": [], "type": "indefinite"}, "enabled": False},
        "subscription_update": changes,
    }  # fmt: skip


def create_configuration(world: World, call: Call) -> Json:
    """The first is the default one."""
    given = call.params
    profile = given.get("business_profile") or {}
    return world.make(
        "billing_portal.configuration", "bpc", active=True, default_return_url=given.get("default_return_url"),
        business_profile={name: profile.get(name) for name in PROFILE},
        features=features(given.get("features")), is_default=not world.store.all("billing_portal.configuration"),
        login_page={"enabled": False, "url": None}, metadata=merged({}, given.get("metadata")), name=given.get("name"),
        updated=world.clock.now(),
    )  # fmt: skip


def default(world: World) -> Json:
    """The one of a session that names none: as Stripe's dashboard makes it, with everything on."""
    for row in world.store.all("billing_portal.configuration", is_default=True):
        return row
    return create_configuration(world, Call((), {"features": {
        "customer_update": {"enabled": "true", "allowed_updates": ["email", "tax_id"]},
        "invoice_history": {"enabled": "true"}, "payment_method_update": {"enabled": "true"},
        "subscription_cancel": {"enabled": "true", "mode": "at_period_end"},
        "subscription_update": {"enabled": "true", "default_allowed_updates": ["price"],
                                "proration_behavior": "always_invoice"},
    }}))  # fmt: skip


def get_configuration(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("billing_portal.configuration", call.ids[0])


def update_configuration(world: World, call: Call) -> Json:
    """What is given; a feature that is given is given whole."""
    row, given = world.store.get("billing_portal.configuration", call.ids[0]), call.params
    before = copy.deepcopy(row)
    fresh = features(given.get("features"))
    for name in given.get("features") or {}:
        row["features"][name] = fresh[name]
    for name in ("default_return_url", "name"):
        row[name] = given.get(name, row[name])
    row["active"] = flag(given, "active", row["active"])
    row["metadata"] = merged(row["metadata"] or {}, given.get("metadata"))
    row["updated"] = world.clock.now()
    world.changed("billing_portal.configuration.updated", row, before)
    return row


def list_configurations(world: World, call: Call) -> Json:
    """By active, is_default."""
    given = call.params
    wanted = {name: flag(given, name) for name in ("active", "is_default") if name in given}
    return paged(world.store.all("billing_portal.configuration", **wanted), given, call.path)


def create_session(world: World, call: Call) -> Json:
    """For a living customer."""
    given = call.params
    customer = customers.living(world, given.get("customer"))
    configuration = (
        world.store.get("billing_portal.configuration", given["configuration"], "configuration")
        if given.get("configuration") else default(world)
    )  # fmt: skip
    if not configuration["active"]:
        raise invalid("This configuration is inactive.", "configuration")
    session = world.make(
        "billing_portal.session", "bps", configuration=configuration["id"], customer=customer["id"],
        flow=_flow(given.get("flow_data")), locale=given.get("locale"),
        return_url=given.get("return_url") or configuration["default_return_url"],
    )  # fmt: skip
    session["url"] = f"{world.base_url}/portal/{session['id']}"
    world.emit("billing_portal.session.created", session)
    return session


def _flow(given: Any) -> Json | None:
    if not given:
        return None
    kind = given.get("type")
    after = given.get("after_completion") or {}
    flow: Json = {
        "after_completion": {"hosted_confirmation": None, "redirect": after.get("redirect"),
                             "type": after.get("type") or "portal_homepage"},
        "subscription_cancel": None, "subscription_update": None, "subscription_update_confirm": None, "type": kind,
    }  # fmt: skip
    if kind == "subscription_cancel":
        flow[kind] = {"retention": None, "subscription": given[kind]["subscription"]}
    elif kind in ("subscription_update", "subscription_update_confirm"):
        flow[kind] = copy.deepcopy(given[kind])
    return flow
