"""The week's report: where the money went, what changes did, and its mail, which goes out once."""

import re
from datetime import UTC, datetime, timedelta

import factories
import ledger_seed
import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from page_reading import words

from billing.models import User
from detector import weekly, weekly_mail
from detector.models import WeeklyReport
from gpujobs import registry
from gpujobs.models import AliasMove, ModelVersion, RoutingChange

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 6, 15, 7, 30, tzinfo=UTC)


@pytest.fixture
def sam() -> User:
    return factories.person("sam", is_staff=True)


@pytest.fixture
def spent(champion: ModelVersion) -> None:
    ledger_seed.fill(MONDAY, days=20)


def test_it_goes_out_once_a_week_to_the_staff(sam: User, alice: User, spent: None) -> None:
    assert weekly_mail.send(MONDAY)
    assert not weekly_mail.send(MONDAY + timedelta(hours=1))
    assert not weekly_mail.send(MONDAY + timedelta(days=3))
    (sent,) = mail.outbox
    assert sent.bcc == [sam.email]
    assert "June 8, 2026" in sent.subject
    assert "/staff/costs/week/?week=2026-06-08" in sent.body
    assert re.search(r"idle time: \$0\.\d+ \([+−±]\d+", sent.body)
    assert WeeklyReport.objects.get().recipients == 1
    assert weekly_mail.send(MONDAY + timedelta(days=7))
    assert len(mail.outbox) == 2


def test_it_waits_until_monday_morning(sam: User, spent: None) -> None:
    assert not weekly_mail.send(MONDAY.replace(hour=6, minute=59))


def test_nothing_goes_out_where_nothing_was_ever_spent(sam: User) -> None:
    assert not weekly_mail.send(MONDAY)


def test_nothing_is_claimed_while_there_is_no_staff(spent: None) -> None:
    assert not weekly_mail.send(MONDAY)
    assert not WeeklyReport.objects.exists()


def test_whoever_died_in_between_is_relieved_after_a_while(sam: User, spent: None) -> None:
    WeeklyReport.objects.create(week=weekly.last_week(MONDAY), claimed_at=MONDAY)
    assert not weekly_mail.send(MONDAY + timedelta(hours=1))
    assert weekly_mail.send(MONDAY + timedelta(hours=3))


@pytest.mark.django_db(transaction=True)
def test_many_that_try_at_once_send_one(sam: User, spent: None) -> None:
    assert sum(bool(sent) for sent in factories.together(lambda _n: weekly_mail.send(MONDAY), 4)) == 1
    assert len(mail.outbox) == 1


def test_it_tells_what_a_new_model_did(champion: ModelVersion) -> None:
    ledger_seed.fill(MONDAY, days=20)
    moved = AliasMove.objects.get(previous__version="test-version-1-before")
    week = weekly.report(weekly.monday_of(moved.moved_at.date()), MONDAY)
    (told,) = [each for each in week.changes if each.change.sort == "alias"]
    assert told.effect is not None
    before, after = told.effect.before.per_1000, told.effect.after.per_1000
    assert before is not None
    assert after is not None
    assert 1.2 < after / before < 1.5, "the seed makes it a third dearer"
    assert (told.change.previous, told.change.current) == ("test-version-1-before", "test-version-1")


def test_the_page_says_it_in_words(champion: ModelVersion) -> None:
    now = timezone.now()
    ledger_seed.fill(now, days=30)
    RoutingChange.objects.create(policy="cpu", reason="The card is away")
    client = Client()
    client.force_login(factories.person("sam", is_staff=True))
    said = words(client.get("/staff/costs/week/", {"week": now.date().isoformat()}))
    assert "Scoring policy: CPU only. The card is away" in said
    assert "1,000 tokens: $" in said
    moved = (now - timedelta(days=ledger_seed.CHANGE_DAYS)).date().isoformat()
    then = words(client.get("/staff/costs/week/", {"week": moved}))
    assert "Catches more in Spanish" in then
    assert "No stored reports of both versions" in then
    assert registry.resolve() == champion
