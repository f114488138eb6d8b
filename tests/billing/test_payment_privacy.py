"""A card, a key, a signing secret and a customer's address are planted; after every flow and every fault nothing that
we keep or write has them: log lines, rows and their error columns, Redis, mail, pages.
"""

import base64
import json
import logging
from typing import Any
from urllib.parse import quote

import factories
import pytest
import redis
from django.apps import apps
from django.conf import LazySettings
from django.core import mail
from django.test import Client
from django.utils import timezone
from stripe_shop import Shop, stripe, stripe_server

from billing import subscriptions, tasks, webhooks
from billing.accounts import account_of
from billing.models import StripeEvent, User
from inkcloak.celery import app
from tests.loopback.stripe.cards import DECLINED, FAILS_LATER, GOOD
from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["stripe", "stripe_server"]

pytestmark = pytest.mark.django_db(transaction=True)
PAYER = "planted.payer@private.example"
NAME = "Planted Payer"
VAT = "ESX1234567X"
# The only rows where a person's own address belongs.
PEOPLES_ROWS = {"billing.User", "billing.Account", "billing.Invitation", "account.EmailAddress", "sessions.Session"}
OF_THE_TEST = ("httpx", "httpcore", "asyncio")  # what directs the double
CHOICE = {"plan": "starter", "per": "month", "currency": "usd"}


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Every line there is at LOG_LEVEL=DEBUG; loggers that settings hold back stay so."""
    caplog.set_level(logging.DEBUG)
    return caplog


def everything_happens(shop: Shop, user: User, browser: Client) -> list[str]:
    """By the pages; what they showed."""
    stripe, seen = shop.stripe, []

    def press(path: str, **fields: str) -> None:
        seen.append(browser.post(f"/plan/{path}", fields).content.decode())

    stripe.fault("server_error", after=True, where={"op": "POST /v1/customers"})
    press("checkout", **CHOICE)
    for kind in ("reset", "server_error", "unavailable", "key_refused", "rate_limited"):
        stripe.fault(kind, times=3)
        press("checkout", **CHOICE | {"plan": "pro"})
        stripe.clear_faults()
    press("checkout", **CHOICE)
    session = str([each for each in stripe.objects("checkout.session") if each["status"] == "open"][-1]["id"])
    with pytest.raises(AssertionError, match="declined"):
        stripe.pay(session, card=DECLINED, email=PAYER, name=NAME)
    stripe.pay(session, card=GOOD, email=PAYER, name=NAME, tax_id=VAT)
    customer = stripe.objects("customer")[-1]["id"]
    named: Any = {"email": PAYER, "name": NAME, "phone": "+34 600 000 000"}
    stripe.sdk().v1.customers.update(customer, named)
    seen.append(browser.get(f"/plan/return/?session_id={session}").content.decode())
    shop.hear(order="reverse")
    for path in ("", "change/?plan=pro&per=month", "cancel/"):
        seen.append(browser.get(f"/plan/{path}").content.decode())
    seen.append(browser.get("/pricing/").content.decode())
    stripe.use_card(customer, FAILS_LATER)
    press("change/", plan="pro", per="month")
    for path in ("portal", "cancel/", "resume", "pause", "resume"):
        press(path)
    charge = stripe.objects("charge")[0]["id"]
    part: Any = {"charge": charge, "amount": 100}
    stripe.sdk().v1.refunds.create(part)
    stripe.dispute(charge=charge)
    return seen


def time_goes_on(shop: Shop, user: User) -> None:
    """Dunning to its end; deliveries and calls that fail on the way; the customer is deleted."""
    stripe = shop.stripe
    for kind in ("webhook_dropped", "webhook_wrong_secret", "webhook_old", "webhook_garbage", "webhook_unsigned"):
        stripe.fault(kind)
    stripe.advance(days=70)
    stripe.hand_over(stripe.take(order="random"), shop.post)
    stripe.fault("server_error", times=9)
    tasks.sweep_stripe_events()
    for pk in StripeEvent.objects.filter(done_at=None).values_list("pk", flat=True)[:3]:
        tasks.process_stripe_event(str(pk))
    stripe.clear_faults()
    body = json.dumps({"email": PAYER, "card": {"number": GOOD}, "key": stripe.key})
    for signature in ("t=1,v1=0", "", f"t=x,v1={stripe.key}"):
        assert shop.post("/hooks/stripe/", body, {"Stripe-Signature": signature}) == 400
    # An event that nobody can read: a fault of ours, and its payload is a person's.
    broken = StripeEvent.objects.order_by("received_at")[0]
    StripeEvent.objects.filter(pk=broken.pk).update(
        type="invoice.paid", object_id="in_x", payload={"data": {"object": [PAYER]}}, done_at=None
    )
    tasks.process_stripe_event(str(broken.pk))
    broken.refresh_from_db()
    assert broken.error_code == tasks.CRASHED
    StripeEvent.objects.filter(pk=broken.pk).update(payload={"data": {"object": {}}})
    webhooks.catch_up(now=timezone.now(), hours=webhooks.WHOLE_LIST_HOURS)
    shop.stripe.sdk().v1.customers.delete(shop.stripe.objects("customer")[-1]["id"])
    shop.hear_again(order="random", duplicates=0.3)
    subscriptions.sync_everybody(now=timezone.now())


def test_nothing_that_was_planted_is_found(
    stripe: LoopbackStripe, settings: LazySettings, written: pytest.LogCaptureFixture, broker: redis.Redis
) -> None:
    shop, user = Shop(stripe, settings), factories.person("alice")
    browser = Client()
    browser.force_login(user)
    browser.post("/team/invite", {"email": "colleague@example.com", "role": "member"})
    seen = everything_happens(shop, user, browser)
    time_goes_on(shop, user)
    kept_in_redis = in_redis(settings)
    assert webhooks.TASK in kept_in_redis, "workers were woken: there was something to search"
    assert StripeEvent.objects.count() > 40
    lines = "\n".join(r.getMessage() + str(r.exc_text or "") for r in written.records if _ours(r))
    assert "payment" in lines, "there are log lines to search"
    secrets = [GOOD, FAILS_LATER, DECLINED, stripe.key, *settings.STRIPE_WEBHOOK_SECRETS, PAYER, NAME, VAT]
    mails = "\n".join(str(each.message()) for each in mail.outbox)
    places = {"log": lines, "rows": rows(), "redis": kept_in_redis, "mail": mails, "pages": "\n".join(seen)}
    secrets += [quote(secret) for secret in (PAYER, NAME)]
    found = [(place, secret) for place, text in places.items() for secret in secrets if secret in text]
    assert not found
    assert user.email not in lines
    assert quote(user.email) not in lines, "in an address that was asked for"
    assert user.email not in kept_in_redis
    assert user.email not in rows(), "beside the rows about people themselves"
    assert f'"last4": "{GOOD[-4:]}"' not in rows()
    assert account_of(user).plan_name == "free"


def _ours(record: logging.LogRecord) -> bool:
    return not record.name.startswith(OF_THE_TEST)


def rows() -> str:
    """Every column of every table but those about people themselves."""
    models = [model for model in apps.get_models() if model._meta.label not in PEOPLES_ROWS]
    assert StripeEvent in models
    return json.dumps({model._meta.label: list(model._default_manager.values()) for model in models}, default=str)


def in_redis(settings: LazySettings) -> str:
    """All keys of both databases with their values; messages' bodies as they were before Celery packed them."""
    said: list[str] = []
    for url in (settings.REDIS_URL, settings.CACHE_URL):
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter():
                kind = client.type(key).decode()
                read = {"string": client.get, "hash": client.hgetall, "set": client.smembers,
                        "list": lambda name: client.lrange(name, 0, -1),
                        "zset": lambda name: client.zrange(name, 0, -1)}[kind]  # fmt: skip
                said.append(f"{key!r} {read(key)!r}")
                if kind == "list":
                    said += [unpacked(message) for message in client.lrange(key, 0, -1)]
    return "\n".join(said)


def unpacked(message: bytes) -> str:
    return base64.b64decode(json.loads(message)["body"]).decode()


def test_the_search_would_find_it(broker: redis.Redis, settings: LazySettings) -> None:
    """Else an empty hand proves nothing."""
    app.send_task("billing.tasks.process_stripe_event", [PAYER])
    assert PAYER in in_redis(settings)
    StripeEvent.objects.create(
        event_id="evt_1", livemode=False, payload={}, error_code=PAYER, created_at=timezone.now(),
        received_at=timezone.now(),
    )  # fmt: skip
    assert PAYER in rows()
