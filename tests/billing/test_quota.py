"""Reserve, settle, release: exact under races, harmless when repeated."""

from datetime import timedelta

import pytest
from factories import NOW, together

from billing import quota
from billing.models import Meter, Reservation
from billing.quota import Allowance
from inkcloak.errors import Exhausted

START = NOW.replace(hour=0)


def allowance(limit: int = 5, unit: str = "checks", holder: str = "visitor:somebody") -> Allowance:
    return Allowance(holder, unit, limit, START, START + timedelta(days=1))


def reserve(amount: int = 1, **fields) -> Reservation:
    return quota.reserve(allowance=allowance(**fields), amount=amount, now=NOW)


def numbers() -> tuple[int, int]:
    meter = Meter.objects.get()
    return meter.used, meter.held


def test_it_holds_what_is_reserved(db) -> None:
    assert reserve(3).status == Reservation.Status.HELD
    assert numbers() == (0, 3)


def test_of_many_it_refuses_those_that_no_longer_fit(db) -> None:
    amounts = [3, 4, 2, 1]
    found = quota.reserve_all(allowance=allowance(), amounts=amounts, now=NOW)
    assert [getattr(one, "amount", None) for one in found] == [3, None, 2, None]
    assert [type(found[at]) for at in (1, 3)] == [Exhausted, Exhausted]
    assert numbers() == (0, 5)
    assert Reservation.objects.count() == 2


def test_many_that_fit_take_as_few_statements_as_one(db, django_assert_num_queries) -> None:
    reserve(1, limit=100)
    for count in (1, 50):
        with django_assert_num_queries(3):
            quota.reserve_all(allowance=allowance(limit=100), amounts=[1] * count, now=NOW)
    assert numbers() == (0, 52)


def test_it_charges_what_is_settled_once(db) -> None:
    held = reserve(3)
    assert quota.settle(held)
    assert not quota.settle(held)
    assert numbers() == (3, 0)


def test_it_frees_what_is_released_once(db) -> None:
    held = reserve(3)
    assert quota.release(held)
    assert not quota.release(held)
    assert numbers() == (0, 0)


def test_it_settles_many_of_several_holders_at_once(db) -> None:
    mine, yours, free = reserve(1), reserve(3, holder="visitor:another"), reserve(1)
    more = reserve(2)
    quota.release(free)
    assert quota.settle(mine, yours, free, more) == 3
    assert quota.settle(mine, yours, more) == 0
    assert quota.settle() == 0
    assert sorted(Meter.objects.values_list("used", "held")) == [(3, 0), (3, 0)]


def test_it_neither_releases_what_was_settled_nor_settles_what_was_released(db) -> None:
    settled, released = reserve(2), reserve(1)
    quota.settle(settled)
    quota.release(released)
    assert not quota.release(settled)
    assert not quota.settle(released)
    assert numbers() == (2, 0)


def test_it_refuses_what_does_not_fit_and_says_when_it_will(db) -> None:
    quota.settle(reserve(2))
    reserve(2)
    with pytest.raises(Exhausted) as refused:
        reserve(2)
    assert refused.value.code == "visitor_checks_used"
    assert refused.value.retry_after == 12 * 3600  # NOW is noon, the period ends at midnight
    assert refused.value.status == 429
    assert numbers() == (2, 2)
    assert Reservation.objects.count() == 2


def test_it_says_to_accounts_that_words_are_used_up(db) -> None:
    with pytest.raises(Exhausted) as refused:
        reserve(6, unit="words")
    assert refused.value.code == "words_used"


def test_it_gives_the_last_unit(db) -> None:
    reserve(5)
    assert quota.balance(allowance()).left == 0


def test_it_starts_again_in_the_next_period(db) -> None:
    reserve(5)
    tomorrow = START + timedelta(days=1)
    later = Allowance("visitor:somebody", "checks", 5, tomorrow, tomorrow + timedelta(days=1))
    quota.reserve(allowance=later, amount=5, now=tomorrow)
    assert Meter.objects.count() == 2


def test_it_takes_over_a_raised_limit(db) -> None:
    reserve(5)
    assert reserve(1, limit=6)
    assert Meter.objects.get().limit == 6


def test_it_gives_nothing_more_under_a_lowered_limit(db) -> None:
    held = reserve(4)
    with pytest.raises(Exhausted):
        reserve(1, limit=3)
    quota.settle(held)
    balance = quota.balance(allowance(limit=3))
    assert (balance.limit, balance.left) == (3, 0)


def test_it_reads_a_balance_without_making_a_meter(db) -> None:
    balance = quota.balance(allowance())
    assert (balance.limit, balance.left, balance.resets_at) == (5, 5, START + timedelta(days=1))
    assert not Meter.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_gives_a_race_exactly_what_is_there() -> None:
    """Twenty requests of somebody who was never seen before, five units."""
    found = together(lambda _n: reserve(1), 20)
    refused = [error for error in found if isinstance(error, Exception)]
    assert len(found) - len(refused) == 5
    assert {type(error) for error in refused} == {Exhausted}
    assert numbers() == (0, 5)


@pytest.mark.django_db(transaction=True)
def test_it_has_one_winner_when_settle_and_release_race() -> None:
    held = reserve(2)
    ended = together(lambda n: quota.settle(held) if n % 2 else quota.release(held), 8)
    assert sorted(map(bool, ended)) == [False] * 7 + [True]
    used, still_held = numbers()
    assert still_held == 0
    assert used == (2 if Reservation.objects.get().status == Reservation.Status.SETTLED else 0)
