"""A local day or month as two instants. Pure.

Nothing is ever reset: what was spent in a period is a sum between its instants. A day is 23 or 25 hours long where
clocks are changed, and begins with the first instant of its date, also where midnight does not exist or comes twice.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY, MONTH = "day", "month"
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """[start, end), in UTC."""

    start: datetime
    end: datetime


def span_of(period: str, zone: str, now: datetime) -> Span:
    """The day or month of that zone in which `now` lies.

    Raises LookupError or ValueError for a zone that there is none of, ValueError for another period.
    """
    if period not in (DAY, MONTH):
        raise ValueError(f"a period is {DAY} or {MONTH}")
    where = ZoneInfo(zone)
    first = _first_of(period, now.astimezone(where).date())
    # Where clocks go back over midnight the date says one thing for some minutes, and the order of days another.
    while _start(first, where) > now:
        first = _first_of(period, first - ONE_DAY)
    while _start(_next(period, first), where) <= now:
        first = _next(period, first)
    return Span(_start(first, where), _start(_next(period, first), where))


def _first_of(period: str, day: date) -> date:
    return day if period == DAY else day.replace(day=1)


def _next(period: str, first: date) -> date:
    return first + ONE_DAY if period == DAY else _first_of(MONTH, first + timedelta(days=31))


def _start(day: date, zone: ZoneInfo) -> datetime:
    """Midnight, the first of two; one that is skipped counts by the clock of before, which is when clocks jump."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
