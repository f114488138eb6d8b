"""Named days, and the earlier ones that they are held against: like with like."""

from datetime import UTC, date, datetime

import pytest

from gpujobs.date_ranges import DateRange, Earlier, earlier, month_end, named, start_of, today_of, zones

MADRID = "Europe/Madrid"
NOW = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)  # 1 December, 0:30, in Madrid


def span(name: str, zone: str = "UTC") -> tuple[str, str]:
    chosen = named(name, zone, NOW)
    return chosen.first.isoformat(), chosen.last.isoformat()


@pytest.mark.parametrize(
    ("name", "utc", "madrid"),
    [
        ("today", ("2026-11-30", "2026-11-30"), ("2026-12-01", "2026-12-01")),
        ("yesterday", ("2026-11-29", "2026-11-29"), ("2026-11-30", "2026-11-30")),
        ("7days", ("2026-11-24", "2026-11-30"), ("2026-11-25", "2026-12-01")),
        ("30days", ("2026-11-01", "2026-11-30"), ("2026-11-02", "2026-12-01")),
        ("month", ("2026-11-01", "2026-11-30"), ("2026-12-01", "2026-12-01")),
        ("last_month", ("2026-10-01", "2026-10-31"), ("2026-11-01", "2026-11-30")),
    ],
)
def test_names_follow_the_clock_of_the_zone(name: str, utc: tuple[str, str], madrid: tuple[str, str]) -> None:
    assert (span(name), span(name, MADRID)) == (utc, madrid)


def against(name: str, now: datetime, zone: str = "UTC") -> Earlier:
    return earlier(named(name, zone, now), name, now)


def test_a_day_that_is_not_over_is_held_against_as_much_of_the_day_before() -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert against("today", noon).end == datetime(2026, 11, 29, 12, tzinfo=UTC)
    week = against("7days", noon)
    assert (week.days.first, week.end) == (date(2026, 11, 17), datetime(2026, 11, 23, 12, tzinfo=UTC))


def test_a_day_that_is_over_is_held_against_a_whole_one() -> None:
    found = against("yesterday", NOW)
    assert (found.days.last, found.end) == (date(2026, 11, 28), start_of(date(2026, 11, 29), "UTC"))


def test_a_month_is_held_against_as_much_of_the_month_before() -> None:
    found = against("month", datetime(2026, 3, 31, 6, tzinfo=UTC))
    assert (found.days.first, found.days.last) == (date(2026, 2, 1), date(2026, 2, 28))
    assert found.end == datetime(2026, 2, 28, 6, tzinfo=UTC)
    whole = against("last_month", datetime(2026, 3, 31, 6, tzinfo=UTC))
    assert whole.days == DateRange(date(2026, 1, 1), date(2026, 1, 31), "UTC")


def test_the_clocks_change_under_a_comparison() -> None:
    """At 12:00 of the day of 23 hours, 11 hours are gone: the day before is cut after as many."""
    now = datetime(2026, 3, 29, 10, tzinfo=UTC)
    assert against("today", now, MADRID).end == datetime(2026, 3, 28, 10, tzinfo=UTC)


def test_a_midnight_that_is_skipped_begins_its_day() -> None:
    assert today_of("Africa/Cairo", datetime(2026, 4, 23, 22, 0, tzinfo=UTC)) == date(2026, 4, 24)


def test_zones_are_places_and_utc() -> None:
    assert {"UTC", MADRID, "America/New_York"} <= zones()
    assert zones().isdisjoint({"localtime", "Factory", "EST5EDT"})


@pytest.mark.parametrize(("day", "last"), [((2026, 2, 3), 28), ((2028, 2, 3), 29), ((2026, 12, 31), 31)])
def test_months_end(day: tuple[int, int, int], last: int) -> None:
    assert month_end(date(*day)).day == last
