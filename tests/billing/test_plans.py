"""The table of plans: what it holds, what settings change of it, and what an account has by its own row."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import LazySettings
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from billing import plans, quota
from billing.accounts import Owner, account_of, allowance_of
from billing.models import Account, User

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def given(account: Account, name: str, **fields: object) -> Account:
    Account.objects.filter(pk=account.pk).update(plan_name=name, **fields)
    account.refresh_from_db()
    return account


def test_it_offers_four_plans_and_each_gives_at_least_what_the_one_below_gives() -> None:
    offered = plans.current()
    assert [plan.name for plan in offered] == ["free", "starter", "pro", "team"]
    for below, above in itertools.pairwise(offered):
        for what in ("words_per_month", "requests_per_minute", "file_mb", "seats", "retention_days", "rank"):
            assert getattr(below, what) <= getattr(above, what)
        assert below.words_per_month < above.words_per_month


def test_each_sold_plan_has_a_price_for_each_interval_and_currency() -> None:
    for plan in plans.table():
        assert set(plan.prices) == ({(i, c) for i in plans.INTERVALS for c in plans.CURRENCIES} if plan.rank else set())
        for currency in plans.CURRENCIES if plan.rank else ():
            assert 0 < plan.prices[plans.MONTH, currency] < plan.prices[plans.YEAR, currency]
            assert plan.prices[plans.YEAR, currency] < 12 * plan.prices[plans.MONTH, currency]


def test_versions_of_a_plan_and_names_of_prices_are_told_apart() -> None:
    versions = [(plan.name, plan.version) for plan in plans.table()]
    keys = [plan.lookup_key(*price) for plan in plans.table() for price in plan.prices]
    assert len(set(versions)) == len(versions)
    assert len(set(keys)) == len(keys)
    assert "inkcloak_pro_v1_month_usd" in keys


def test_free_is_as_the_settings_have_it(settings: LazySettings) -> None:
    (written,) = [plan for plan in plans.table() if plan.name == plans.FREE]
    assert plans.free() == written
    settings.FREE_WORDS_PER_MONTH, settings.API_REQUESTS_PER_MINUTE, settings.ACCOUNT_RETENTION_DAYS = 7, 8, 9
    free = plans.free()
    assert (free.words_per_month, free.requests_per_minute, free.retention_days) == (7, 8, 9)
    assert plans.get("pro") == plans.get("pro", 1)
    assert plans.get("pro", 99) is plans.get("golden") is None


def test_an_account_keeps_the_version_that_it_subscribed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    old = plans.get("pro", 1)
    assert old is not None
    new = replace(old, version=2, words_per_month=1)
    table = (*plans.table(), new)
    monkeypatch.setattr(plans, "table", lambda: table)
    assert plans.get("pro") == new
    assert plans.plan_of(Account(plan_name="pro", plan_version=1), NOW) == old


def test_a_plan_ends_at_its_moment_and_what_follows_begins() -> None:
    account = Account(plan_name="pro", plan_until=NOW, next_plan_name="starter")
    assert plans.plan_of(account, NOW - timedelta(seconds=1)).name == "pro"
    assert plans.plan_of(account, NOW).name == "starter"
    assert plans.plan_of(Account(plan_name="pro", plan_until=NOW), NOW).name == plans.FREE
    assert plans.plan_of(Account(plan_name="a plan that is gone")).name == plans.FREE


def test_what_an_account_may_do_is_known_without_a_query(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    account = given(account_of(alice), "team")
    with django_assert_num_queries(0):
        assert plans.plan_of(account).name == "team"


def test_an_upgrade_adds_words_to_the_running_month_and_a_downgrade_leaves_nothing_below_zero(alice: User) -> None:
    account = account_of(alice)
    owner = Owner(account=account)
    quota.settle(quota.reserve(allowance=allowance_of(owner, NOW), amount=9_000, now=NOW))
    given(account, "starter")
    assert quota.balance(allowance_of(owner, NOW)).left == 91_000
    quota.settle(quota.reserve(allowance=allowance_of(owner, NOW), amount=50_000, now=NOW))
    given(account, plans.FREE)
    balance = quota.balance(allowance_of(owner, NOW))
    assert (balance.limit, balance.left) == (10_000, 0)
    with pytest.raises(quota.Exhausted):
        quota.reserve(allowance=allowance_of(owner, NOW), amount=1, now=NOW)


def test_the_api_says_which_plan_and_goes_by_it(alice: User, api: Client) -> None:
    given(account_of(alice), "pro")
    answer = api.get("/api/v1/usage")
    assert answer.json()["plan"] == "pro"
    assert answer.json()["words"]["limit"] == 500_000
    assert answer["X-RateLimit-Limit"] == "300"
