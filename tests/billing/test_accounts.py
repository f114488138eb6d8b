"""Whose account, whose address, which allowance."""

import uuid
from datetime import UTC, datetime, timedelta, timezone

import factories
import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import RequestFactory

from billing import accounts
from billing.models import Account, Membership, User


def asking(user: object = None, **meta: str) -> HttpRequest:
    request = RequestFactory().get("/", **({"REMOTE_ADDR": "203.0.113.5"} | meta))
    request.user = user or AnonymousUser()
    request.session = {}
    return request


def test_it_makes_a_persons_account_once(alice: User) -> None:
    assert accounts.account_of(alice) == accounts.account_of(alice)
    assert Account.objects.count() == 1
    assert Membership.objects.get().role == Membership.Role.OWNER


@pytest.mark.django_db(transaction=True)
def test_it_makes_one_account_when_first_requests_race() -> None:
    user = User.objects.create_user("new@example.com", factories.PASSWORD)
    found = factories.together(lambda _n: accounts.account_of(user).pk, 8)
    assert len(set(found)) == 1
    assert Account.objects.count() == Membership.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_it_makes_one_internal_account_when_commands_race() -> None:
    found = factories.together(lambda _n: accounts.internal_account().pk, 8)
    assert len(set(found)) == 1


def test_it_knows_the_signed_in_by_their_account(alice: User) -> None:
    owner = accounts.owner_of(asking(alice))
    assert (owner.account, owner.user, owner.visitor) == (accounts.account_of(alice), alice, None)


def test_it_knows_a_visitor_by_the_session(db) -> None:
    request = asking()
    first = accounts.owner_of(request)
    assert first.account is None
    assert accounts.owner_of(request).visitor == first.visitor
    assert accounts.owner_of(asking()).visitor != first.visitor


def test_it_makes_no_session_for_who_only_reads(db) -> None:
    request = asking()
    assert accounts.reader_of(request) is None
    assert request.session == {}
    owner = accounts.owner_of(request)
    assert accounts.reader_of(request) == owner


def test_it_has_exactly_one_kind_of_owner(alice: User) -> None:
    with pytest.raises(ValueError, match="an account or a visitor"):
        accounts.Owner()
    with pytest.raises(ValueError, match="an account or a visitor"):
        accounts.Owner(account=accounts.account_of(alice), visitor=uuid.uuid4())


FORGED = "1.1.1.1, 2.2.2.2, 10.0.0.9"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, FORGED, "203.0.113.5"),
        (0, None, "203.0.113.5"),
        (1, FORGED, "10.0.0.9"),
        (1, "10.0.0.9", "10.0.0.9"),
        (1, None, "203.0.113.5"),
        (1, " , ,", "203.0.113.5"),
        (2, FORGED, "2.2.2.2"),
        (2, "10.0.0.9", "10.0.0.9"),
    ],
)
def test_it_counts_proxies_from_the_right(settings, proxies: int, forwarded: str | None, address: str) -> None:
    settings.TRUSTED_PROXY_COUNT = proxies
    request = asking(**({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}))
    assert accounts.client_address(request) == address


def test_it_keeps_no_address_that_could_be_read() -> None:
    one, same, other = asking(), asking(), asking(REMOTE_ADDR="203.0.113.6")
    key = accounts.keyed_address(one)
    assert "203" not in key
    assert key == accounts.keyed_address(same)
    assert key != accounts.keyed_address(other)


def test_it_gives_visitors_checks_a_day_by_address(settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 4
    allowance = accounts.allowance_of(factories.visitor("key"), factories.NOW)
    assert (allowance.holder, allowance.unit, allowance.limit) == ("visitor:key", "checks", 4)
    assert allowance.period_start == datetime(2026, 6, 15, tzinfo=UTC)
    assert allowance.period_end == datetime(2026, 6, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "start", "end"),
    [
        (
            datetime(2026, 12, 31, 23, tzinfo=UTC),
            datetime(2026, 12, 1, tzinfo=UTC),
            datetime(2027, 1, 1, tzinfo=UTC),
        ),
        (datetime(2024, 2, 29, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)),
        (
            datetime(2026, 7, 1, 1, tzinfo=timezone(timedelta(hours=2))),  # still June in UTC
            datetime(2026, 6, 1, tzinfo=UTC),
            datetime(2026, 7, 1, tzinfo=UTC),
        ),
    ],
)
def test_it_gives_accounts_words_a_calendar_month(alice: User, now: datetime, start: datetime, end: datetime) -> None:
    allowance = accounts.allowance_of(factories.owner(alice), now)
    assert (allowance.unit, allowance.period_start, allowance.period_end) == ("words", start, end)
    assert allowance.holder == f"account:{accounts.account_of(alice).pk}"


def test_it_never_limits_ourselves(db) -> None:
    allowance = accounts.allowance_of(accounts.Owner(account=accounts.internal_account()), factories.NOW)
    assert allowance.limit >= 10**12
