"""What plans earn, by hand-made rows: sums, shares with their n, and no figure where a rate is missing."""

import itertools
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.db import DatabaseError, transaction

from billing import revenue
from billing.accounts import account_of
from billing.models import Account, RevenueEntry, Subscription, User
from billing.revenue import Share

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
START, END = NOON - timedelta(days=1), NOON + timedelta(days=1)
numbers = itertools.count()


def post(kind: str, cents: int, *, plan: str = "pro", currency: str = "usd", **fields: object) -> RevenueEntry:
    plain = {"kind": kind, "amount_cents": cents, "plan": plan, "currency": currency, "at": NOON, "livemode": False}
    return RevenueEntry.objects.create(**{"effect_key": f"movement:{next(numbers)}"} | plain | fields)


def subscribed(account: Account, plan: str = "pro", **fields: object) -> Subscription:
    plain = {"status": "active", "plan": plan, "plan_version": 1, "interval": "month", "currency": "usd"}
    plain |= {"amount_cents": 2_900, "livemode": False, "fetched_at": NOON, "started_at": NOON - timedelta(days=9)}
    return Subscription.objects.create(account=account, stripe_id=f"sub_{next(numbers)}", **plain | fields)


def test_it_adds_up_by_kind_plan_account_and_currency() -> None:
    alice, bob = uuid.uuid4(), uuid.uuid4()
    post("paid", 2_900, account_id=alice)
    post("fee", -114, account_id=alice)
    post("refund", -900, account_id=alice)
    post("paid", 900, plan="starter", currency="eur", account_id=bob)
    post("paid", 99, at=END)
    post("paid", 99, livemode=True)
    whole = revenue.earned(START, END)
    assert whole.net == {"usd": 2_900 - 114 - 900, "eur": 900}
    assert (whole.paid, whole.refunded, whole.fees, whole.disputed) == (
        {"usd": 2_900, "eur": 900},
        {"usd": -900},
        {"usd": -114},
        {},
    )
    assert revenue.by_plan(START, END)["starter"].net == {"eur": 900}
    assert revenue.by_account(START, END)[alice].net == {"usd": 1_886}
    assert set(revenue.by_account(START, END, [bob])) == {bob}
    assert revenue.earned().net["usd"] == 1_886 + 99


def test_the_database_refuses_to_change_or_delete_a_line() -> None:
    row = post("paid", 2_900)
    rows = RevenueEntry.objects.filter(pk=row.pk)
    for change in (lambda: rows.update(amount_cents=1), lambda: rows.delete()):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()
    with pytest.raises(DatabaseError), transaction.atomic():
        post("paid", 1, effect_key=row.effect_key)
    assert rows.get().amount_cents == 2_900


def test_monthly_revenue_counts_a_year_by_its_twelfth_and_not_what_ends(alice: User, bob: User) -> None:
    subscribed(account_of(alice))
    subscribed(account_of(bob), "starter", interval="year", amount_cents=9_001)
    for left_out in (
        {"status": "canceled"},
        {"cancels_at": END},
        {"paused": True},
        {"plan": ""},
        {"livemode": True},
        {"started_at": END},
    ):
        subscribed(account_of(bob), **left_out)
    found = revenue.mrr(at=NOON)
    assert (found.subscriptions, found.cents) == (2, {"usd": (2_900 * 12 + 9_001) // 12})
    assert revenue.mrr(at=NOON, plan="starter").cents == {"usd": 750}


def test_churn_is_of_those_who_were_paying_at_the_start(alice: User, bob: User, charlie: User) -> None:
    assert revenue.churn(START, END) == Share(0, 0)
    assert revenue.churn(START, END).percent is None
    subscribed(account_of(alice))
    subscribed(account_of(bob), status="canceled", ended_at=NOON)
    assert revenue.churn(START, END) == Share(1, 2)
    assert revenue.churn(START, END).percent == 50
    subscribed(account_of(bob), started_at=NOON)
    subscribed(account_of(charlie), status="canceled", ended_at=START - timedelta(days=1))
    assert revenue.churn(START, END) == Share(0, 2), "Bob came back; Charlie had left before"


def test_conversion_is_of_the_accounts_made_then(alice: User, bob: User) -> None:
    Account.objects.all().update(created_at=NOON)
    subscribed(account_of(alice), status="canceled", ended_at=NOON)
    subscribed(account_of(bob), status="incomplete_expired")
    assert revenue.conversion(START, END) == Share(1, 2)
    assert revenue.conversion(END, END + timedelta(days=1)) == Share(0, 0)


def test_other_currencies_count_by_their_rate_and_without_one_there_is_no_figure(settings: LazySettings) -> None:
    assert revenue.nanousd({"usd": 1_999}) == 19_990_000_000
    assert revenue.nanousd({}) == 0
    assert revenue.nanousd({"usd": 100, "eur": 100}) is None
    assert revenue.nanousd({"usd": 100, "eur": 0}) == 1_000_000_000
    settings.EXCHANGE_RATES = ["EUR=1.08", "jpy=0.0065", "kwd = 3.25"]
    assert revenue.nanousd({"usd": 100, "eur": 100}) == 2_080_000_000
    assert revenue.nanousd({"jpy": 1_000}) == 6_500_000_000, "a yen has no cents"
    assert revenue.nanousd({"kwd": 1_000}) == 3_250_000_000, "a dinar has a thousand fils"
    assert revenue.nanousd({"eur": -100}) == -1_080_000_000


@pytest.mark.parametrize("rates", [["EUR"], ["EUR=x"], ["EURO=1"], ["EUR=0"], ["EUR=-1"], ["EUR=NaN"], ["EUR=inf"]])
def test_a_rate_that_is_none_is_an_error(settings: LazySettings, rates: list[str]) -> None:
    settings.EXCHANGE_RATES = ["GBP=1.27"]
    assert revenue.exchange_rates()["gbp"] == Decimal("1.27")
    settings.EXCHANGE_RATES = rates
    with pytest.raises(ValueError, match="not a rate"):
        revenue.exchange_rates()
