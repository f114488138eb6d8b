"""Who was active when: every way in is counted, deletion changes nothing, visitors are followed nowhere."""

from datetime import UTC, date, datetime, timedelta

import factories
import pytest
import samples
from django.test import Client

from billing.accounts import Owner, internal_account
from billing.models import User
from detector import activity, retention
from detector.models import ActivityLine, ActivityQuarter
from gpujobs.date_ranges import DateRange
from gpujobs.models import ModelVersion

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 6, 15, 12, 7, tzinfo=UTC)
DAY = DateRange(date(2026, 6, 15), date(2026, 6, 15), "UTC")


def today(chosen: DateRange = DAY) -> activity.ActiveDay:
    activity.fold()
    return activity.days(chosen)[0]


def test_it_counts_accounts_people_and_visitors_once_a_day(champion: ModelVersion, alice: User, bob: User) -> None:
    stranger = factories.visitor()
    for owner, hours in ((factories.owner(alice), (0, 0, 3)), (factories.owner(bob), (1,)), (stranger, (0, 5))):
        for hour in hours:
            factories.accepted(owner, samples.HUMAN + f" {hour}", now=NOON + timedelta(hours=hour), reuse=False)
    found = today()
    assert (found.accounts, found.people, found.visitors, found.users, found.checks) == (2, 2, 1, 3, 6)
    assert found.words > 6 * 50
    assert today() == found, "folding again counts nothing again"


def test_deleted_checks_keep_counting(champion: ModelVersion, alice: User) -> None:
    retention.delete(factories.accepted(factories.owner(alice), now=NOON))
    assert (today().accounts, today().checks) == (1, 1)
    alice.personal_account.delete()
    assert today().accounts == 1


def test_our_own_account_is_no_user(champion: ModelVersion) -> None:
    factories.accepted(Owner(account=internal_account()), now=NOON)
    assert (today().users, today().checks) == (0, 0)


def test_a_visitor_of_two_days_is_two_visitors(champion: ModelVersion) -> None:
    stranger = factories.visitor()
    for days in (0, 1):
        factories.accepted(stranger, now=NOON + timedelta(days=days), reuse=False)
    activity.fold()
    names = set(ActivityQuarter.objects.values_list("who", flat=True))
    assert len(names) == 2
    assert str(stranger.visitor) not in names


def test_a_day_of_another_zone_holds_other_checks(champion: ModelVersion, alice: User) -> None:
    factories.accepted(factories.owner(alice), now=datetime(2026, 6, 14, 22, 30, tzinfo=UTC))
    assert today().accounts == 0
    assert today(DateRange(DAY.first, DAY.last, "Europe/Madrid")).accounts == 1


def test_the_page_itself_is_a_way_in(champion: ModelVersion) -> None:
    Client().post("/check", {"text": samples.HUMAN})
    assert ActivityLine.objects.count() == 1


def test_folding_side_by_side_counts_once(transactional_db: None, champion: ModelVersion) -> None:
    stranger = factories.visitor()
    for _ in range(3):
        factories.accepted(stranger, now=NOON, reuse=False)
    factories.together(lambda _n: activity.fold(), 4)
    assert [row.checks for row in ActivityQuarter.objects.all()] == [3]


def test_it_forgets_after_two_years(champion: ModelVersion) -> None:
    factories.accepted(factories.visitor(), now=NOON)
    activity.fold()
    assert activity.forget(NOON - timedelta(minutes=7) + activity.KEPT) == 0
    assert activity.forget(NOON + activity.KEPT + timedelta(days=1)) == 1
