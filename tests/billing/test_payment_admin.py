"""Staff see what Stripe told us and what became of it; a superuser has it done again."""

from datetime import timedelta

import factories
import pytest
from django.test import Client
from django.utils import timezone

from billing import webhooks
from billing.models import StripeEvent

pytestmark = pytest.mark.django_db

PAGE = "/staff/billing/stripeevent/"


def stored(**fields: object) -> StripeEvent:
    now = timezone.now() - timedelta(hours=1)
    plain = {"event_id": "evt_1", "livemode": False, "type": "some.invention", "object_id": "obj_1", "payload": {}}
    plain |= {"created_at": now, "received_at": now, "done_at": now, "outcome": "ignored", "attempts": 1}
    return StripeEvent.objects.create(**plain | fields)


def staff(**fields: object) -> Client:
    client = Client()
    client.force_login(factories.person("dora", is_staff=True, **fields))
    return client


def replay(client: Client, row: StripeEvent) -> int:
    return client.post(PAGE, {"action": "replay", "_selected_action": [str(row.pk)]}).status_code


def test_a_superuser_finds_an_event_and_has_it_done_again() -> None:
    row = stored(done_at=None, error_code="crashed", attempts=30)
    client = staff(is_superuser=True)
    assert b"crashed" in client.get(PAGE, {"q": "obj_1"}).content
    assert client.get(f"{PAGE}{row.pk}/change/").status_code == 200
    assert replay(client, row) == 302
    row.refresh_from_db()
    assert (row.done_at, row.error_code, row.attempts) == (None, "", 0)
    assert webhooks.due(now=timezone.now()) == [row.pk]
    assert webhooks.process(row.pk, now=timezone.now())


def test_nobody_else_does_and_nobody_changes_one() -> None:
    row = stored()
    client = staff()
    assert replay(client, row) == 403
    boss = Client()
    boss.force_login(factories.person("sam", is_staff=True, is_superuser=True))
    assert boss.post(f"{PAGE}{row.pk}/change/", {"type": "other"}).status_code == 403
    assert boss.post(f"{PAGE}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    row.refresh_from_db()
    assert (row.type, row.outcome) == ("some.invention", "ignored")
