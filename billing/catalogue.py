"""Stripe's products, prices, portal and webhook endpoint as our table of plans wants them.

    wanted()         everything, from plans.toml and the settings
    plan(found)      the steps from what Stripe has to that; pure, none the second time
    apply(steps)     carries them out

Prices can't be changed at Stripe, and a version of a plan never is: another amount is refused, with what to do.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from billing import plans, stripe_client
from billing.customers import request_key
from billing.portal import CONFIGURED
from billing.stripe_shapes import PLAN, VERSION, Json

PRODUCTS, PRICES, PORTAL, ENDPOINTS = "products", "prices", "portal", "webhook_endpoints"
KINDS = (PRODUCTS, PRICES, PORTAL, ENDPOINTS)  # in this order: a price names its product
HOOK_PATH = "/hooks/stripe/"
EVENTS = sorted(
    [
        *("checkout.session.completed", "checkout.session.expired", "checkout.session.async_payment_succeeded"),
        *("customer.deleted", "customer.updated"),
        *(f"customer.subscription.{what}" for what in ("created", "updated", "deleted", "paused", "resumed")),
        *(f"invoice.{what}" for what in ("finalized", "paid", "payment_failed", "updated", "voided")),
        *("invoice.payment_action_required", "invoice.marked_uncollectible", "invoice_payment.paid"),
        *("charge.updated", "charge.refunded", "refund.created", "refund.updated", "refund.failed"),
        *(f"charge.dispute.{what}" for what in ("created", "updated", "closed")),
        *("charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"),
    ]
)
PORTAL_FEATURES = {
    "customer_update": {"enabled": True, "allowed_updates": ["address", "email", "name", "tax_id"]},
    "invoice_history": {"enabled": True},
    "payment_method_update": {"enabled": True},
    # Changes of plan are ours: cheaper ones keep what was paid for.
    "subscription_cancel": {"enabled": True, "mode": "at_period_end"},
}


@dataclass(frozen=True, slots=True)
class Thing:
    """What shall exist. id: of Stripe's object, as far as we may choose it.  fixed: what can't be changed later.
    open: what can."""

    kind: str
    name: str
    is_it: Callable[[Json], bool]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    open: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One request. id "": create.  refused: what stands in the way; nothing is asked of Stripe then."""

    kind: str
    name: str
    params: Mapping[str, Any]
    id: str = ""
    refused: str = ""


def wanted() -> list[Thing]:
    sold = [plan for plan in plans.table() if plan.prices]
    names = list(dict.fromkeys(plan.name for plan in sold))
    prices = [_price(plan, *of) for plan in sold for of in sorted(plan.prices)]
    return [*map(_product, names), *prices, _portal(), *_endpoint()]


def _product(name: str) -> Thing:
    product_id = product_of(name)
    return Thing(
        PRODUCTS,
        product_id,
        lambda found: found["id"] == product_id,
        {"id": product_id},
        {"name": f"InkCloak {name.capitalize()}", "metadata": {PLAN: name}, "active": True},
    )


def product_of(name: str) -> str:
    """Stripe's id of a plan's product: ours to choose."""
    return f"inkcloak_{name}"


def _price(plan: plans.Plan, interval: str, currency: str) -> Thing:
    key = plan.lookup_key(interval, currency)
    amount = plan.prices[interval, currency]
    return Thing(
        PRICES,
        key,
        lambda found: found.get("lookup_key") == key,
        {
            "product": product_of(plan.name),
            "currency": currency,
            "unit_amount": amount,
            "recurring": {"interval": interval},
            "tax_behavior": "exclusive",
            "lookup_key": key,
        },
        {"metadata": {PLAN: plan.name, VERSION: str(plan.version)}, "active": True},
    )


def _portal() -> Thing:
    return Thing(
        PORTAL,
        "customer portal",
        lambda found: bool((found.get("metadata") or {}).get(CONFIGURED)) and bool(found.get("active")),
        {},
        {"features": PORTAL_FEATURES, "metadata": {CONFIGURED: "1"}},
    )


def _endpoint() -> list[Thing]:
    """None where Stripe couldn't reach it."""
    url = f"{settings.PUBLIC_URL}{HOOK_PATH}"
    if urlsplit(url).scheme != "https" and not _rehearsal():
        return []
    return [
        Thing(
            ENDPOINTS,
            url,
            lambda found: found.get("url") == url,
            {"api_version": settings.STRIPE_API_VERSION},
            {"url": url, "enabled_events": EVENTS},
        )
    ]


def _rehearsal() -> bool:
    return urlsplit(settings.STRIPE_API_BASE).scheme == "http"


# --- From there to here -----------------------------------------------------------------------------------------------


def found() -> dict[str, list[Json]]:
    """What Stripe has. Raises StripeError."""
    return {kind: stripe_client.catalogue(kind) for kind in KINDS}


def plan(want: Iterable[Thing], have: Mapping[str, list[Json]]) -> list[Step]:
    """What is missing or different, in the order to do it."""
    steps = (_step(thing, next(filter(thing.is_it, have[thing.kind]), None)) for thing in want)
    return [step for step in steps if step is not None]


def _step(thing: Thing, has: Json | None) -> Step | None:
    if has is None:
        return Step(thing.kind, thing.name, {**thing.fixed, **thing.open})
    if differs := [name for name, value in thing.fixed.items() if not covers(has.get(name), value)]:
        return Step(thing.kind, thing.name, {}, str(has["id"]), _refusal(thing.kind, differs))
    changes = {name: value for name, value in thing.open.items() if not covers(has.get(name), value)}
    if thing.kind == ENDPOINTS and has.get("status") == "disabled":  # Stripe does that after days of failures
        changes["disabled"] = False
    return Step(thing.kind, thing.name, changes, str(has["id"])) if changes else None


def _refusal(kind: str, differs: list[str]) -> str:
    named = ", ".join(differs)
    if kind == PRICES:
        return f"Stripe has another {named}: give the plan a new version in plans.toml instead"
    return f"Stripe has another {named}, which can't be changed: delete it in Stripe's dashboard first"


def covers(has: Any, want: Any) -> bool:
    """Whether everything wanted is so; what Stripe has beside it may stay."""
    if isinstance(want, Mapping):
        return isinstance(has, Mapping) and all(covers(has.get(name), value) for name, value in want.items())
    if isinstance(want, list):
        return isinstance(has, list) and sorted(map(str, has)) == sorted(map(str, want))
    return bool(has == want)


def apply(steps: Iterable[Step], done: Callable[[Step, Json], None]) -> None:
    """`done` hears of each with what Stripe answered: a new endpoint's secret is said there, and never again."""
    for step in steps:
        if step.id:
            answer = stripe_client.update(step.kind, step.id, dict(step.params))
        else:
            answer = stripe_client.create(step.kind, dict(step.params), request_key(step.kind, dict(step.params)))
        done(step, answer)
