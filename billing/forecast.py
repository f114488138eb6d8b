"""How many words an account will have used at the end of the month, and why we think so. Pure.

The pace of the last whole days, carried on to the end. While there are too few of them, last month's sum; with neither
there is no forecast, and the page says that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

PACE_DAYS = 7  # whole days that the pace is taken from, at most
LEAST_DAYS = 3  # of this month, before its pace says anything
SECONDS_A_DAY = 86_400

Basis = Literal["pace", "last_month", "none"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """words: at the end of the period; None where basis is "none".  a_day, days: the pace, and of how many days.

    days_left: whole days to the end, begun ones counted.  runs_out_at: when `limit` is reached at this pace; None if it
    lasts, or is used up already.
    """

    basis: Basis
    words: int | None = None
    a_day: int = 0
    days: int = 0
    days_left: int = 0
    over: int = 0
    runs_out_at: datetime | None = None


def month(
    *, used: int, limit: int, daily: Sequence[int], last_month: int, start: datetime, end: datetime, now: datetime
) -> Forecast:
    """used: words of [start, now).  daily: words of the whole days before today, newest first; those before `start`
    don't matter.  last_month: its sum, 0 where there was nothing."""
    left = max(0.0, (end - now).total_seconds() / SECONDS_A_DAY)
    days_left = -int(-left // 1)
    whole = min(PACE_DAYS, int((now - start).total_seconds() // SECONDS_A_DAY), len(daily))
    if whole >= LEAST_DAYS:
        pace = sum(daily[:whole])  # in `whole` days
        words = used + round(pace * left / whole)
        return Forecast(
            "pace",
            words,
            a_day=round(pace / whole),
            days=whole,
            days_left=days_left,
            over=max(0, words - limit),
            runs_out_at=_runs_out(used, limit, pace / whole, now, end),
        )
    if last_month:
        words = max(used, last_month)
        return Forecast("last_month", words, days_left=days_left, over=max(0, words - limit))
    return Forecast("none", days_left=days_left)


def _runs_out(used: int, limit: int, a_day: float, now: datetime, end: datetime) -> datetime | None:
    if a_day <= 0 or used >= limit:
        return None
    days = (limit - used) / a_day
    if days * SECONDS_A_DAY >= (end - now).total_seconds():
        return None
    return now + timedelta(days=days)
