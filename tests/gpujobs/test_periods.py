"""Days and months as instants: clocks that change, midnights that don't exist or come twice, zones that move."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpujobs.periods import DAY, MONTH, Span, span_of

ZONES = (
    "UTC",
    "Europe/Madrid",
    "America/New_York",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Asia/Kathmandu",  # 5:45
    "America/Havana",  # midnight twice
    "Africa/Cairo",  # no midnight in April
    "America/Nuuk",  # clocks go back over midnight
    "Pacific/Apia",  # had no 30 December 2011
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def hours(span: Span) -> float:
    return (span.end - span.start) / timedelta(hours=1)


@pytest.mark.parametrize(
    ("zone", "now", "start", "length"),
    [
        ("UTC", "2026-03-29T23:59:59", "2026-03-29T00:00", 24),
        ("Europe/Madrid", "2026-03-29T12:00", "2026-03-28T23:00", 23),
        ("Europe/Madrid", "2026-10-25T12:00", "2026-10-24T22:00", 25),
        ("Europe/Madrid", "2026-10-25T23:00", "2026-10-25T23:00", 24),
        ("America/Havana", "2026-11-01T04:30", "2026-11-01T04:00", 25),
        ("America/Havana", "2026-11-01T05:30", "2026-11-01T04:00", 25),
        ("Africa/Cairo", "2026-04-24T12:00", "2026-04-23T22:00", 23),
        ("Asia/Kathmandu", "2026-06-15T18:14", "2026-06-14T18:15", 24),
    ],
)
def test_a_day_is_as_long_as_clocks_make_it(zone: str, now: str, start: str, length: float) -> None:
    span = span_of(DAY, zone, at(now))
    assert span.start == at(start)
    assert hours(span) == length


def test_a_month_ends_where_the_next_begins() -> None:
    march = span_of(MONTH, "Europe/Madrid", at("2026-03-31T21:59"))
    assert march == Span(at("2026-02-28T23:00"), at("2026-03-31T22:00"))
    assert hours(march) == 31 * 24 - 1
    assert span_of(MONTH, "UTC", at("2026-12-31T23:59")) == Span(at("2026-12-01T00:00"), at("2027-01-01T00:00"))
    assert hours(span_of(MONTH, "UTC", at("2028-02-29T12:00"))) == 29 * 24


def test_another_zone_is_another_day() -> None:
    """Whoever moves a budget from one zone to another asks for other instants; no sum is carried over."""
    late = at("2026-06-15T22:30")
    assert span_of(DAY, "UTC", late).end == at("2026-06-16T00:00")
    assert span_of(DAY, "Europe/Madrid", late).start == at("2026-06-15T22:00")


@settings(max_examples=200, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    period=st.sampled_from([DAY, MONTH]),
    now=st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),
)
def test_periods_follow_each_other_without_gap_or_overlap(zone: str, period: str, now: datetime) -> None:
    span = span_of(period, zone, now)
    assert span.start <= now < span.end
    assert span_of(period, zone, span.end).start == span.end
    assert span_of(period, zone, span.start - timedelta(microseconds=1)).end == span.start


@pytest.mark.parametrize("zone", ZONES)
def test_noon_lies_in_the_day_of_its_date(zone: str) -> None:
    for number in range(0, 366, 5):
        day = date(2026, 1, 1) + timedelta(days=number)
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone))
        assert span_of(DAY, zone, noon).start.astimezone(ZoneInfo(zone)).date() == day


def test_it_refuses_what_is_no_zone_or_period() -> None:
    for zone in ("Nowhere/Land", "../etc/passwd", ""):
        with pytest.raises((LookupError, ValueError)):
            span_of(DAY, zone, at("2026-06-15T12:00"))
    with pytest.raises(ValueError, match="day or month"):
        span_of("week", "UTC", at("2026-06-15T12:00"))
