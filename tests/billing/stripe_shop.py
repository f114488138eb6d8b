"""The product beside the loopback Stripe: a catalogue, customers who pay, events that come to our own endpoint."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from billing import checkout, plans, webhooks
from billing.accounts import account_of
from billing.checkout import Choice
from billing.models import Account, Checkout, StripeEvent, Subscription, User
from tests.loopback.stripe.cards import GOOD
from tests.loopback.stripe.fixtures import stripe, stripe_server
from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["Shop", "shop", "stripe", "stripe_server"]


class Shop:
    """stripe: the double.  hear() brings its events to us and works them off."""

    def __init__(self, stripe: LoopbackStripe, settings: LazySettings) -> None:
        self.stripe, self.settings, self.client = stripe, settings, Client()
        settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE = stripe.key, stripe.url
        settings.PUBLIC_URL = "http://127.0.0.1:1"  # where nobody listens: tests hand over what is sent there
        said = io.StringIO()
        call_command("stripe_sync_catalogue", "--apply", stdout=said)
        (secret,) = [line for line in said.getvalue().splitlines() if line.startswith("STRIPE_WEBHOOK_SECRETS=")]
        settings.STRIPE_WEBHOOK_SECRETS = [secret.partition("=")[2]]
        self.said = said.getvalue()

    @property
    def now(self) -> datetime:
        """Stripe's own moment."""
        return datetime.fromtimestamp(self.stripe.now(), UTC)

    def open(self, account: Account, plan: str = "pro", interval: str = "month", currency: str = "usd") -> Checkout:
        return checkout.start(account=account, choice=Choice(plan, interval, currency), now=timezone.now())

    def subscribe(self, user: User, plan: str = "pro", interval: str = "month", card: str = GOOD) -> Account:
        """Through the payment page; our side hears of it by events."""
        account = account_of(user)
        self.stripe.pay(self.open(account, plan, interval).stripe_id, card=card, email=user.email)
        self.hear()
        return fresh(account)

    def post(self, path: str, body: str, headers: dict[str, str]) -> int:
        signed = {"Stripe-Signature": headers.get("Stripe-Signature", "")}
        return self.client.post(path, body, content_type="application/json", headers=signed).status_code  # type: ignore

    def hear(self, **wish: Any) -> list[int]:
        """What is held comes in now, in the wished order; then every event is worked off."""
        statuses = self.stripe.hand_over(self.stripe.take(**wish), self.post)
        self.work()
        return statuses

    def hear_again(self, **wish: Any) -> list[int]:
        """Old events anew, without telling the double how they were answered."""
        rows = self.stripe.again(take=True, **wish)
        statuses = [self.post(row["path"], row["body"], row["headers"]) for row in rows]
        self.work()
        return statuses

    def work(self) -> None:
        for event_id in webhooks.due(now=timezone.now() + timedelta(days=400)):
            assert webhooks.process(event_id, now=timezone.now()), StripeEvent.objects.get(pk=event_id).error_code


def fresh(account: Account) -> Account:
    return Account.objects.get(pk=account.pk)


def plan(account: Account) -> str:
    return plans.plan_of(fresh(account)).name


def row(account: Account) -> Subscription:
    return Subscription.objects.get(account=account)


@pytest.fixture
def shop(stripe: LoopbackStripe, settings: LazySettings, db: None) -> Shop:
    return Shop(stripe, settings)
