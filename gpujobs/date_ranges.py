"""Runs of local days, and the earlier ones that they are held against. Pure.

    named("7days", zone, now)    the last seven days, today included
    earlier(...)                 as many days before, cut off where today is not over yet: like with like

A day is 23 or 25 hours long where clocks are changed (gpujobs/periods.py): every sum is taken between instants.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from gpujobs import periods

ONE_DAY = timedelta(days=1)
TODAY, YESTERDAY, SEVEN_DAYS, THIRTY_DAYS = "today", "yesterday", "7days", "30days"
MONTH, LAST_MONTH, CUSTOM = "month", "last_month", "custom"
NAMES = (TODAY, YESTERDAY, SEVEN_DAYS, THIRTY_DAYS, MONTH, LAST_MONTH, CUSTOM)
LENGTHS = {SEVEN_DAYS: 7, THIRTY_DAYS: 30}


@dataclass(frozen=True, slots=True)
class DateRange:
    """first to last, both included, of the calendar of that zone."""

    first: date
    last: date
    zone: str

    @property
    def start(self) -> datetime:
        return start_of(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """When the last day is over."""
        return start_of(self.last + ONE_DAY, self.zone)

    @property
    def days(self) -> list[date]:
        return [self.first + n * ONE_DAY for n in range((self.last - self.first).days + 1)]

    @property
    def starts(self) -> list[datetime]:
        """When each day begins."""
        return [start_of(day, self.zone) for day in self.days]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a range is held against: [days.start, end), where `end` leaves out what today has not brought yet."""

    days: DateRange
    end: datetime


def start_of(day: date, zone: str) -> datetime:
    """Its first instant, in UTC: of two midnights the first; of none, when clocks jump."""
    return datetime.combine(day, time(), tzinfo=ZoneInfo(zone)).astimezone(UTC)


def today_of(zone: str, now: datetime) -> date:
    """The date there."""
    return periods.span_of(periods.DAY, zone, now).start.astimezone(ZoneInfo(zone)).date()


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """Names of zones that may be asked for."""
    return frozenset(name for name in available_timezones() if "/" in name or name == "UTC")


def named(name: str, zone: str, now: datetime) -> DateRange:
    """Raises KeyError for a name that stands for no fixed range."""
    today = today_of(zone, now)
    if name == YESTERDAY:
        return DateRange(today - ONE_DAY, today - ONE_DAY, zone)
    if name == MONTH:
        return DateRange(today.replace(day=1), today, zone)
    if name == LAST_MONTH:
        last = today.replace(day=1) - ONE_DAY
        return DateRange(last.replace(day=1), last, zone)
    return DateRange(today - (LENGTHS[name] - 1 if name != TODAY else 0) * ONE_DAY, today, zone)


def earlier(chosen: DateRange, name: str, now: datetime) -> Earlier:
    """The days before; of a month, the month before as far as this one has come."""
    days = _month_before(chosen) if name in (MONTH, LAST_MONTH) else _days_before(chosen)
    if chosen.last < today_of(chosen.zone, now) or name == LAST_MONTH:
        return Earlier(days, days.end)
    gone = now - start_of(chosen.last, chosen.zone)  # of today
    return Earlier(days, min(days.end, start_of(days.last, chosen.zone) + gone))


def _days_before(chosen: DateRange) -> DateRange:
    return DateRange(chosen.first - len(chosen.days) * ONE_DAY, chosen.first - ONE_DAY, chosen.zone)


def _month_before(chosen: DateRange) -> DateRange:
    end = chosen.first - ONE_DAY
    whole = chosen.last == month_end(chosen.last)
    last = end if whole else end.replace(day=min(chosen.last.day, end.day))
    return DateRange(end.replace(day=1), last, chosen.zone)


def month_end(day: date) -> date:
    """The last day of its month."""
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1) - ONE_DAY
