"""The only file that imports Stripe's SDK: frozen values out (billing.stripe_shapes), StripeError for all that fails.

Each call has a timeout and is repeated by the SDK under the same idempotency key when its answer was lost. Errors carry
a code and never Stripe's message, which may quote a customer's address.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, TypeVar

import stripe
from django.conf import settings

from billing import stripe_shapes as shapes
from billing.stripe_shapes import Json

TIMEOUT_SECONDS = 10.0
RETRIES = 2
PAGE = 100
TOLERANCE_SECONDS = 300  # a webhook's age, and how far ahead its clock may be
T = TypeVar("T")

NOT_SET_UP, UNREACHABLE, KEY_REFUSED, NOT_FOUND = "not_set_up", "unreachable", "key_refused", "not_found"
DECLINED, LIMITED, IN_FLIGHT, BROKEN, REFUSED = "card_declined", "rate_limited", "in_flight", "broken", "refused"
LIVE_PREFIXES, TEST_PREFIXES = ("sk_live_", "rk_live_"), ("sk_test_", "rk_test_")


class StripeError(Exception):
    """permanent: asking again won't help. detail: Stripe's own code, one word."""

    def __init__(self, code: str, *, permanent: bool, detail: str = "") -> None:
        super().__init__(f"{code} {detail}".strip())
        self.code, self.permanent, self.detail = code, permanent, detail


class BadWebhook(Exception):
    """Not from Stripe, not now, or not an event. `code` says which; the body is never quoted."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def is_set_up() -> bool:
    return bool(settings.STRIPE_SECRET_KEY)


def livemode() -> bool:
    """Whose rows count: those of the key's own mode."""
    return str(settings.STRIPE_SECRET_KEY).startswith(LIVE_PREFIXES)


@lru_cache(maxsize=4)
def _client(key: str, base: str, version: str, _process: int) -> stripe.StripeClient:
    """One a process: sockets must not cross a fork."""
    return stripe.StripeClient(
        key,
        base_addresses={"api": base, "meter_events": base},
        stripe_version=version,
        http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
        max_network_retries=RETRIES,
    )


def _call(ask: Callable[[stripe.StripeClient], T]) -> T:
    """Raises StripeError."""
    if not is_set_up():
        raise StripeError(NOT_SET_UP, permanent=True)
    client = _client(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE, settings.STRIPE_API_VERSION, os.getpid())
    try:
        return ask(client)
    except stripe.StripeError as error:
        raise _translated(error) from None  # its message may quote what we sent


def _translated(error: stripe.StripeError) -> StripeError:
    detail = str(error.code or "")
    if isinstance(error, stripe.APIConnectionError):
        return StripeError(UNREACHABLE, permanent=False)
    if isinstance(error, stripe.RateLimitError):
        return StripeError(LIMITED, permanent=False)
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        return StripeError(KEY_REFUSED, permanent=True)
    if isinstance(error, stripe.CardError):
        return StripeError(DECLINED, permanent=True, detail=detail)
    if error.http_status == 404 or detail == "resource_missing":
        return StripeError(NOT_FOUND, permanent=True)
    if error.http_status == 409 or detail in ("idempotency_key_in_use", "lock_timeout"):
        return StripeError(IN_FLIGHT, permanent=False)
    if isinstance(error, stripe.InvalidRequestError | stripe.IdempotencyError):
        return StripeError(REFUSED, permanent=True, detail=detail)
    return StripeError(BROKEN, permanent=False)


def _get(ask: Callable[[stripe.StripeClient], Any]) -> Json:
    """One object, as JSON. Raises StripeError, also for an answer that is none."""
    found: Json = _call(ask).to_dict(for_json=True)
    return found


def _read(parse: Callable[[Json], T], found: Json) -> T:
    try:
        return parse(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise StripeError(BROKEN, permanent=True, detail="shape") from None


def _pages(ask: Callable[[stripe.StripeClient, Any], Any], params: Mapping[str, Any]) -> Iterator[Json]:
    """Every object of a list."""
    asked = {**params, "limit": PAGE}
    while True:
        page = _call(partial(_ask, ask, asked))
        found = [each.to_dict(for_json=True) for each in page.data]
        yield from found
        if not page.has_more or not found:
            return
        asked = {**asked, "starting_after": found[-1]["id"]}


def _ask(ask: Callable[[stripe.StripeClient, Any], Any], params: Any, client: stripe.StripeClient) -> Any:
    return ask(client, params)


def _options(key: str) -> Any:
    return {"idempotency_key": key} if key else {}


# --- Customers, checkouts, portal -------------------------------------------------------------------------------------


def create_customer(params: Any, key: str) -> shapes.Customer:
    return _read(shapes.customer, _get(lambda client: client.v1.customers.create(params, _options(key))))


def customers(email: str) -> list[shapes.Customer]:
    """All with that address."""
    found = _pages(lambda client, asked: client.v1.customers.list(asked), {"email": email})
    return [_read(shapes.customer, each) for each in found]


def customer(customer_id: str) -> shapes.Customer:
    """Deleted ones too: they say so."""
    return _read(shapes.customer, _get(lambda client: client.v1.customers.retrieve(customer_id)))


def price(lookup_key: str) -> shapes.Price | None:
    """The one on sale under that name."""
    found = _pages(lambda client, params: client.v1.prices.list(params), {"lookup_keys": [lookup_key], "active": True})
    return next((_read(shapes.price, each) for each in found), None)


def create_checkout(params: Any, key: str) -> shapes.Session:
    return _read(shapes.session, _get(lambda client: client.v1.checkout.sessions.create(params, _options(key))))


def open_checkouts(customer_id: str) -> list[shapes.Session]:
    params = {"customer": customer_id, "status": "open"}
    found = _pages(lambda client, asked: client.v1.checkout.sessions.list(asked), params)
    return [_read(shapes.session, each) for each in found]


def checkout(session_id: str) -> shapes.Session:
    return _read(shapes.session, _get(lambda client: client.v1.checkout.sessions.retrieve(session_id)))


def expire_checkout(session_id: str) -> shapes.Session:
    return _read(shapes.session, _get(lambda client: client.v1.checkout.sessions.expire(session_id)))


def create_portal(params: Any) -> str:
    """The address of the portal, good for a few minutes."""
    return str(_get(lambda client: client.v1.billing_portal.sessions.create(params))["url"])


# --- Subscriptions and money ------------------------------------------------------------------------------------------

WITH_INVOICE: Any = {"expand": ["latest_invoice"]}


def subscription(subscription_id: str) -> shapes.SubscriptionState:
    found = _get(lambda client: client.v1.subscriptions.retrieve(subscription_id, WITH_INVOICE))
    return _read(shapes.subscription, found)


def subscriptions(customer_id: str) -> list[shapes.SubscriptionState]:
    """All that a customer ever had."""
    params = {"customer": customer_id, "status": "all", "expand": ["data.latest_invoice"]}
    found = _pages(lambda client, asked: client.v1.subscriptions.list(asked), params)
    return [_read(shapes.subscription, each) for each in found]


def update_subscription(subscription_id: str, params: Any, key: str = "") -> shapes.SubscriptionState:
    found = _get(lambda client: client.v1.subscriptions.update(subscription_id, params, _options(key)))
    return _read(shapes.subscription, found)


def preview_invoice(params: Any) -> shapes.InvoiceState:
    return _read(shapes.invoice, _get(lambda client: client.v1.invoices.create_preview(params)))


def invoice(invoice_id: str) -> shapes.InvoiceState:
    return _read(shapes.invoice, _get(lambda client: client.v1.invoices.retrieve(invoice_id)))


def invoices(customer_id: str) -> list[shapes.InvoiceState]:
    found = _pages(lambda client, asked: client.v1.invoices.list(asked), {"customer": customer_id})
    return [_read(shapes.invoice, each) for each in found]


def payments(**of: Any) -> list[shapes.Payment]:
    """Payments that went through: of an invoice (invoice="in_…") or by one intent (intent="pi_…")."""
    if "intent" in of:
        asked: dict[str, Any] = {"payment": {"type": "payment_intent", "payment_intent": of["intent"]}}
    else:
        asked = {"invoice": of["invoice"], "status": "paid"}
    found = _pages(lambda client, params: client.v1.invoice_payments.list(params), asked)
    return [_read(shapes.payment, each) for each in found]


def charge_of(intent: str) -> shapes.Charge | None:
    """The newest charge of a payment intent, with its line in the balance."""
    params: Any = {"expand": ["latest_charge.balance_transaction"]}
    found = _get(lambda client: client.v1.payment_intents.retrieve(intent, params)).get("latest_charge")
    return _read(shapes.charge, found) if isinstance(found, Mapping) else None


def charge(charge_id: str) -> shapes.Charge:
    params: Any = {"expand": ["balance_transaction"]}
    return _read(shapes.charge, _get(lambda client: client.v1.charges.retrieve(charge_id, params)))


def refund(refund_id: str) -> shapes.Refund:
    params: Any = {"expand": ["charge", "balance_transaction"]}
    return _read(shapes.refund, _get(lambda client: client.v1.refunds.retrieve(refund_id, params)))


def refunds(charge_id: str) -> list[str]:
    """Ids of a charge's refunds."""
    return [str(each["id"]) for each in _pages(lambda c, asked: c.v1.refunds.list(asked), {"charge": charge_id})]


def dispute(dispute_id: str) -> shapes.Dispute:
    params: Any = {"expand": ["charge"]}
    return _read(shapes.dispute, _get(lambda client: client.v1.disputes.retrieve(dispute_id, params)))


def events(since: int) -> Iterator[shapes.Event]:
    """What happened since then (seconds since 1970), the newest first; Stripe keeps 30 days."""
    for found in _pages(lambda client, asked: client.v1.events.list(asked), {"created": {"gte": since}}):
        yield _read(shapes.event, found)


# --- The catalogue ----------------------------------------------------------------------------------------------------


def _service(client: stripe.StripeClient, kind: str) -> Any:
    if kind == "portal":
        return client.v1.billing_portal.configurations
    return getattr(client.v1, kind)


def catalogue(kind: str, **params: Any) -> list[Json]:
    """kind: products, prices, webhook_endpoints or portal."""
    return list(_pages(lambda client, asked: _service(client, kind).list(asked), params))


def create(kind: str, params: Any, key: str = "") -> Json:
    return _get(lambda client: _service(client, kind).create(params, _options(key)))


def update(kind: str, object_id: str, params: Any) -> Json:
    return _get(lambda client: _service(client, kind).update(object_id, params))


# --- What Stripe tells us ---------------------------------------------------------------------------------------------


def verified(body: bytes, header: str, *, now: float | None = None) -> shapes.Event:
    """The event in a webhook's body. Raises BadWebhook for what Stripe did not sign, and sign just now."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise BadWebhook("bad_encoding") from None
    if not any(_signed(text, header, secret) for secret in settings.STRIPE_WEBHOOK_SECRETS if secret):
        raise BadWebhook("bad_signature")
    _refuse_future(header, time.time() if now is None else now)
    try:
        return shapes.event(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadWebhook("not_an_event") from None


def _signed(text: str, header: str, secret: str) -> bool:
    """Either of two secrets, while one is being replaced. The SDK itself refuses what is older than the tolerance."""
    try:
        stripe.WebhookSignature.verify_header(text, header, secret, TOLERANCE_SECONDS)
    except (stripe.SignatureVerificationError, ValueError, IndexError, TypeError):
        return False
    return True


def _refuse_future(header: str, now: float) -> None:
    """The SDK takes a signature from next year: it could be kept and sent then."""
    sent = next((part[2:] for part in header.split(",") if part.startswith("t=")), "")
    if not sent.isdigit() or int(sent) > now + TOLERANCE_SECONDS:
        raise BadWebhook("from_the_future")
