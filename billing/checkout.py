"""To a first plan: one payment page at Stripe for an account, however often and from however many tabs it is asked for.

start(…)    the page's address; the same one again while it is open
settle(…)   after the return from there: what it says grants nothing, only Stripe's own answer does
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from billing import customers, payment_errors, plans, stripe_client, subscriptions
from billing.entitlements import LIVE
from billing.models import Account, Checkout, StripeCustomer, Subscription
from billing.stripe_client import StripeError
from billing.stripe_shapes import ACCOUNT, Price, Session
from inkcloak.errors import DomainError

RETURN_PATH = "/plan/return/"
CANCEL_PATH = "/pricing/"
CHOICE = "price"  # metadata: the lookup key of what is bought
LOCALES = {"en": "en", "es": "es"}
OPEN, COMPLETE, EXPIRED = Checkout.Status.OPEN, Checkout.Status.COMPLETE, Checkout.Status.EXPIRED


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan as it is bought. interval: "month" or "year".  currency: "usd" or "eur"."""

    plan: str
    interval: str
    currency: str

    @property
    def lookup_key(self) -> str:
        """Raises Invalid for what isn't sold."""
        found = plans.get(self.plan)
        if found is None or (self.interval, self.currency) not in found.prices:
            raise payment_errors.not_for_sale()
        return found.lookup_key(self.interval, self.currency)


def start(*, account: Account, choice: Choice, now: datetime, language: str = "en") -> Checkout:
    """The page to pay on. Raises Invalid for what isn't sold, Conflict for an account with a plan, Unavailable."""
    lookup_key = choice.lookup_key
    with payment_errors.spoken():
        found = _start(account, lookup_key, language, now)
    if isinstance(found, DomainError):  # raised here, so that what was learnt on the way is kept
        raise found
    return found


@transaction.atomic
def _start(account: Account, lookup_key: str, language: str, now: datetime) -> Checkout | DomainError:
    customers.lock(account.pk)
    customer = _customer(account, now)
    if any(row.status in LIVE - {Subscription.Status.INCOMPLETE} for row in subscriptions.sync_all(account, now=now)):
        return payment_errors.already_subscribed()
    for row in Checkout.objects.filter(account=account, livemode=customer.livemode, status=OPEN):
        session = stripe_client.checkout(row.stripe_id)
        if session.status == OPEN and row.lookup_key == lookup_key and session.customer == customer.stripe_id:
            return row  # a deleted customer's page stays open, and nobody can pay on it
        if session.status == OPEN:
            session = _expire(session)
        if _note(row, session, now) == COMPLETE:
            return payment_errors.already_subscribed()
    return _open(account, customer, lookup_key, language)


def _customer(account: Account, now: datetime) -> StripeCustomer:
    """Also where somebody deleted them at Stripe."""
    customer = customers.ensure(account)
    return customer if customers.refresh(customer.stripe_id, now=now) else customers.ensure(account)


def _expire(session: Session) -> Session:
    """Two tabs, two choices: the older page stops taking payments, unless it just took one."""
    try:
        return stripe_client.expire_checkout(session.id)
    except StripeError as error:
        if not error.permanent:
            raise
        return stripe_client.checkout(session.id)


def _open(account: Account, customer: StripeCustomer, lookup_key: str, language: str) -> Checkout | DomainError:
    price = stripe_client.price(lookup_key)
    if price is None:
        return payment_errors.not_for_sale()
    params = _params(account, customer, price, language)
    number = Checkout.objects.filter(account=account, livemode=customer.livemode).count()
    key = customers.request_key(f"checkout-{account.pk}-{number}", params)
    session = customers.create_once(
        lambda key: stripe_client.create_checkout(params, key), key, lambda: _made_before(customer, lookup_key)
    )
    return Checkout.objects.create(
        account=account, stripe_id=session.id, livemode=session.livemode, url=session.url, lookup_key=lookup_key
    )


def _made_before(customer: StripeCustomer, lookup_key: str) -> Session | None:
    found = stripe_client.open_checkouts(customer.stripe_id)
    return next((each for each in found if each.metadata.get(CHOICE) == lookup_key), None)


def _params(account: Account, customer: StripeCustomer, price: Price, language: str) -> dict[str, Any]:
    whose = {ACCOUNT: str(account.pk)}
    params: dict[str, Any] = {
        "mode": "subscription",
        "customer": customer.stripe_id,
        "client_reference_id": str(account.pk),
        "line_items": [{"price": price.id, "quantity": 1}],
        "success_url": f"{settings.PUBLIC_URL}{RETURN_PATH}?session_id={{CHECKOUT_SESSION_ID}}",
        "cancel_url": f"{settings.PUBLIC_URL}{CANCEL_PATH}",
        "allow_promotion_codes": True,
        "tax_id_collection": {"enabled": True},
        "customer_update": {"name": "auto", "address": "auto"},
        "locale": LOCALES.get(language, "auto"),
        "metadata": {**whose, CHOICE: price.lookup_key},
        "subscription_data": {"metadata": whose},
    }
    if settings.STRIPE_AUTOMATIC_TAX:
        params["automatic_tax"] = {"enabled": True}
    return params


def settle(*, account: Account, session_id: str, now: datetime) -> Checkout | None:
    """What became of one of this account's pages; None for anything else. Raises Unavailable."""
    rows = Checkout.objects.filter(account=account, livemode=stripe_client.livemode())
    row = rows.filter(stripe_id=session_id).first()
    if row is None or row.status != OPEN:
        return row
    with payment_errors.spoken(), transaction.atomic():
        customers.lock(account.pk)
        _note(row, stripe_client.checkout(session_id), now)
    return row


def refresh(session_id: str, *, now: datetime) -> bool:
    """The same when an event speaks of it. False where it is none of ours. Raises StripeError."""
    rows = Checkout.objects.filter(stripe_id=session_id, livemode=stripe_client.livemode())
    row = rows.select_related("account").first()
    if row is None:
        return False
    with transaction.atomic():
        customers.lock(row.account.pk)
        _note(row, stripe_client.checkout(session_id), now)
    return True


def _note(row: Checkout, session: Session, now: datetime) -> str:
    """Writes how it ended; a paid one's subscription is fetched at once."""
    if session.status == COMPLETE and session.subscription:
        subscriptions.sync(session.subscription, now=now, account=row.account)
    if session.status in (COMPLETE, EXPIRED):
        row.status = session.status
        Checkout.objects.filter(pk=row.pk).update(status=session.status)
    return str(row.status)
