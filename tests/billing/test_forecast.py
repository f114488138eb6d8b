"""The month's forecast: a pace carried on, with its reason; none where nothing is known."""

from datetime import UTC, datetime, timedelta
from typing import Any

from billing import forecast

START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)


def of(**changes: Any) -> forecast.Forecast:
    usual: dict[str, Any] = {
        "used": 1_000,
        "limit": 10_000,
        "daily": [100] * 7,
        "last_month": 0,
        "start": START,
        "end": END,
        "now": START + timedelta(days=10),
    }
    return forecast.month(**usual | changes)


def test_it_carries_the_pace_on() -> None:
    found = of()
    assert (found.basis, found.words, found.a_day, found.days, found.days_left) == ("pace", 3_000, 100, 7, 20)
    assert (found.over, found.runs_out_at) == (0, None)


def test_it_says_when_the_words_run_out() -> None:
    found = of(limit=2_000)
    assert (found.words, found.over) == (3_000, 1_000)
    assert found.runs_out_at == START + timedelta(days=20)


def test_it_counts_a_begun_day_as_its_part() -> None:
    found = of(now=START + timedelta(days=10, hours=12))
    assert (found.words, found.days_left) == (2_950, 20)


def test_it_takes_only_days_of_this_month() -> None:
    assert of(now=START + timedelta(days=4), daily=[100, 100, 100, 100, 9_999, 9_999, 9_999]).a_day == 100


def test_it_takes_last_months_sum_while_this_one_is_young() -> None:
    found = of(now=START + timedelta(days=2), used=500, last_month=4_000)
    assert (found.basis, found.words, found.days_left) == ("last_month", 4_000, 28)
    assert of(now=START + timedelta(days=2), used=5_000, last_month=4_000).words == 5_000


def test_it_says_nothing_where_nothing_is_known() -> None:
    found = of(now=START + timedelta(days=1), used=700)
    assert (found.basis, found.words, found.over) == ("none", None, 0)


def test_a_quiet_account_stays_where_it_is() -> None:
    found = of(daily=[0] * 7, used=9_990)
    assert (found.words, found.over, found.runs_out_at) == (9_990, 0, None)


def test_what_is_used_up_does_not_run_out_again() -> None:
    found = of(used=12_000)
    assert (found.over, found.runs_out_at) == (4_000, None)
    assert of(limit=0, used=0).runs_out_at is None


def test_at_the_end_it_is_what_was_used() -> None:
    assert of(now=END).words == 1_000
