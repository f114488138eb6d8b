"""No card, key, secret or e-mail address in a log line or a stored event, after everything that can happen."""

import json
import logging

import pytest
from django.conf import LazySettings
from django.utils import timezone
from stripe_shop import Shop, shop, stripe, stripe_server

from billing import plan_changes, subscriptions, webhooks
from billing.models import StripeEvent, User
from inkcloak.errors import DomainError
from tests.loopback.stripe.cards import FAILS_LATER, GOOD

__all__ = ["shop", "stripe", "stripe_server"]


def test_nothing_of_it_is_written_anywhere(
    shop: Shop, alice: User, settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    account = shop.subscribe(alice, "starter", card=GOOD)
    shop.stripe.fault("server_error", times=9)
    with pytest.raises(DomainError):
        plan_changes.change(account=account, plan="pro", interval="month", now=shop.now)
    shop.stripe.clear_faults()
    customer = shop.stripe.objects("customer")[0]["id"]
    shop.stripe.use_card(customer, FAILS_LATER)
    with pytest.raises(DomainError):
        plan_changes.change(account=account, plan="pro", interval="month", now=shop.now)
    shop.stripe.advance(days=60)
    shop.stripe.sdk().v1.customers.delete(customer)
    shop.hear(order="reverse")
    webhooks.catch_up(now=timezone.now())
    subscriptions.sync_everybody(now=timezone.now())
    shop.post("/hooks/stripe/", json.dumps({"email": alice.email}), {"Stripe-Signature": "t=1,v1=0"})
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    rows = json.dumps(list(StripeEvent.objects.values("payload", "error_code", "outcome", "object_id")))
    assert StripeEvent.objects.count() > 20
    for planted in (alice.email, GOOD, FAILS_LATER, GOOD[-4:] + '"', shop.stripe.key, *settings.STRIPE_WEBHOOK_SECRETS):
        assert planted not in "\n".join(ours)
        assert planted not in rows
