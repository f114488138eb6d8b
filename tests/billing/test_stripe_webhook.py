"""What Stripe tells us: signed, kept before anything is done, once, without what is about people."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import stripe
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from billing import webhooks
from billing.models import StripeEvent

pytestmark = pytest.mark.django_db

SECRET, OLD_SECRET = "whsec_new_one", "whsec_old_one"
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
PLANTED = "planted.person@example.com"
Tell = Callable[..., HttpResponse]


@pytest.fixture(autouse=True)
def _set_up(settings: LazySettings) -> None:
    """Nothing answers at this address: whoever asks is found out."""
    settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE = "sk_test_nobody", "http://127.0.0.1:9"
    settings.STRIPE_WEBHOOK_SECRETS = [SECRET, OLD_SECRET]


def event(**changes: Any) -> dict[str, Any]:
    plain = {"id": f"evt_{uuid.uuid4().hex}", "object": "event", "type": "price.created", "livemode": False}
    return plain | {"created": int(time.time()), "api_version": "x", "data": {"object": {"id": "price_1"}}} | changes


@pytest.fixture
def tell(client: Client) -> Tell:
    """tell(body): a post as Stripe sends it."""

    def sent(body: Any, *, secret: str = SECRET, at: float | None = None, header: str | None = None) -> HttpResponse:
        raw = body if isinstance(body, str) else json.dumps(body)
        signed = stripe.WebhookSignature.generate_signature_header(raw, secret, int(at or time.time()))
        headers = {"Stripe-Signature": signed if header is None else header}
        return client.post("/hooks/stripe/", raw, content_type="application/json", headers=headers)  # type: ignore

    return sent


def test_it_keeps_what_stripe_signed_and_answers_at_once(tell: Tell) -> None:
    sent = event()
    assert tell(sent).status_code == 200
    row = StripeEvent.objects.get()
    assert (row.event_id, row.type, row.object_id, row.api_version) == (sent["id"], "price.created", "price_1", "x")
    assert row.done_at is None
    assert row.payload["data"] == sent["data"]


def test_the_same_event_is_kept_once(tell: Tell) -> None:
    sent = event()
    assert [tell(sent).status_code for _ in range(3)] == [200, 200, 200]
    assert StripeEvent.objects.count() == 1


def test_either_of_two_secrets_is_good_while_one_is_replaced(tell: Tell, settings: LazySettings) -> None:
    assert tell(event(), secret=OLD_SECRET).status_code == 200
    settings.STRIPE_WEBHOOK_SECRETS = [SECRET]
    assert tell(event(), secret=OLD_SECRET).status_code == 400


@pytest.mark.parametrize("header", ["", "t=1", "v1=00", "t=x,v1=00", "nonsense", "t=1,v0=00", "t=,v1="])
def test_it_refuses_what_is_not_signed(tell: Tell, header: str) -> None:
    assert tell(event(), header=header).status_code == 400
    assert not StripeEvent.objects.exists()


@pytest.mark.parametrize("seconds", [-3600, -301, 320, 3600, 10**9])
def test_it_refuses_a_signature_of_another_time_also_of_the_future(tell: Tell, seconds: int) -> None:
    assert tell(event(), at=time.time() + seconds).status_code == 400
    assert not StripeEvent.objects.exists()


@pytest.mark.parametrize(
    "body", ["", "no JSON", "[]", "{}", '{"object": "v2.core.event", "id": "x"}', "null", "[" * 9000]
)
def test_it_refuses_a_signed_body_that_is_no_event(tell: Tell, body: str) -> None:
    assert tell(body).status_code == 400
    assert not StripeEvent.objects.exists()


def test_it_refuses_everything_without_a_secret(tell: Tell, settings: LazySettings, client: Client) -> None:
    settings.STRIPE_WEBHOOK_SECRETS = [""]
    assert tell(event(), secret="").status_code == 400
    assert client.get("/hooks/stripe/").status_code == 405


def test_the_other_mode_is_kept_and_changes_nothing(tell: Tell) -> None:
    assert tell(event(livemode=True)).status_code == 200
    row = StripeEvent.objects.get()
    assert row.outcome == webhooks.WRONG_MODE
    assert row.done_at is not None
    assert webhooks.due(now=timezone.now() + timedelta(days=9)) == []


def test_what_is_about_people_is_not_kept(tell: Tell) -> None:
    about = {
        "id": "in_1",
        "customer": "cus_1",
        "customer_email": PLANTED,
        "lines": [{"billing_details": {"x": PLANTED}}],
    }
    tell(event(type="some.invention", data={"object": about | {"email": PLANTED, "card": {"last4": "4242"}}}))
    row = StripeEvent.objects.get()
    assert PLANTED not in json.dumps(row.payload)
    assert "4242" not in json.dumps(row.payload)
    assert row.payload["data"]["object"]["customer"] == "cus_1"


def test_an_unknown_type_is_done_without_asking_stripe(tell: Tell) -> None:
    tell(event(type="some.invention"))
    row = StripeEvent.objects.get()
    assert webhooks.process(row.pk, now=NOW)
    assert not webhooks.process(row.pk, now=NOW), "the second time there is nothing to do"
    row.refresh_from_db()
    assert (row.outcome, row.done_at, row.attempts) == ("ignored", NOW, 1)


def test_what_fails_waits_longer_each_time_and_says_why(tell: Tell, settings: LazySettings) -> None:
    settings.STRIPE_SECRET_KEY = ""  # nobody to ask: the quickest failure
    tell(event(type="customer.subscription.updated", data={"object": {"id": "sub_1", "customer": None}}))
    settings.STRIPE_SECRET_KEY = "sk_test_nobody"
    row = StripeEvent.objects.get()
    for attempt, seconds in enumerate([30, 60, 120], start=1):
        webhooks.failed(row.pk, "unreachable", now=NOW)
        row.refresh_from_db()
        assert (row.attempts, row.error_code, row.done_at) == (attempt, "unreachable", None)
        assert row.next_try_at == NOW + timedelta(seconds=seconds)
    assert webhooks.due(now=NOW) == []
    assert webhooks.due(now=NOW + timedelta(seconds=120)) == [row.pk]


def test_in_the_end_it_gives_up_until_somebody_replays_it(tell: Tell) -> None:
    tell(event())
    row = StripeEvent.objects.get()
    for _ in range(webhooks.MOST_ATTEMPTS):
        webhooks.failed(row.pk, "unreachable", now=NOW)
    assert webhooks.due(now=NOW + timedelta(days=99)) == []
    webhooks.replay(row, now=NOW)
    assert webhooks.due(now=NOW) == [row.pk]
    assert webhooks.process(row.pk, now=NOW)
    webhooks.failed(row.pk, "late", now=NOW)
    row.refresh_from_db()
    assert (row.done_at, row.error_code) == (NOW, ""), "what is done stays done"
