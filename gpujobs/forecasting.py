"""What a month will have cost at its end: ordinary days of four weeks, and how far days strayed from them. Pure.

Each day that is left costs what its weekday did on average in the last four weeks; of today, only what is left of it.
The band: the same sum many times over, each time from weekdays drawn anew from those four weeks and with each day
straying as some past day strayed; it holds 80 of 100 such months. It knows nothing of what is planned: no promotion, no
new price. Below two weeks of history there is none.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from math import isqrt

LONGEST_HISTORY = 28  # days: each weekday four times
SHORTEST_HISTORY = 14
DRAWS = 500
LOW, HIGH = 0.1, 0.9  # of the draws
SEED = 6  # the same rows give the same band
DAY_SECONDS = 86_400
WEEKDAYS = 7
MILLION = 10**6


@dataclass(frozen=True, slots=True)
class Step:
    """At the day's end; low and high hold 80 of 100 such months."""

    day: date
    expected: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """In nano-dollars. days: of history that it rests on.  path: what the month will have cost at each day's end, from
    today on; its last step is the month's."""

    days: int
    path: tuple[Step, ...]

    @property
    def expected(self) -> int:
        return self.path[-1].expected

    @property
    def low(self) -> int:
        return self.path[-1].low

    @property
    def high(self) -> int:
        return self.path[-1].high


def month_end(
    history: Mapping[date, int], so_far: int, *, today: date, left_seconds: int, last: date
) -> Forecast | None:
    """history: each full day before today, zeros included.  so_far: of this month, until now.  left_seconds: of today.
    last: the month's last day.  None where there is too little history."""
    recent = sorted(history)[-LONGEST_HISTORY:]
    if len(recent) < SHORTEST_HISTORY:
        return None
    by_weekday: dict[int, list[int]] = defaultdict(list)
    for day in recent:
        by_weekday[day.weekday()].append(history[day])
    means = {weekday: sum(values) // len(values) for weekday, values in by_weekday.items()}
    coming = [today + timedelta(days=n) for n in range((last - today).days + 1)]
    draws = _draws(by_weekday, _strays(recent, history, means), coming, so_far, today, left_seconds)
    path, at = [], so_far
    for day, found in zip(coming, zip(*draws, strict=True), strict=True):
        at += _of(day, means[day.weekday()], today, left_seconds)
        ordered = sorted(found)
        low, high = ordered[int(LOW * DRAWS)], ordered[int(HIGH * DRAWS) - 1]
        path.append(Step(day, at, min(low, at), max(high, at)))
    return Forecast(len(recent), tuple(path))


def _of(day: date, amount: int, today: date, left_seconds: int) -> int:
    """Of today, only the part that is left."""
    return amount * min(left_seconds, DAY_SECONDS) // DAY_SECONDS if day == today else amount


def _strays(recent: Sequence[date], history: Mapping[date, int], means: Mapping[int, int]) -> list[int]:
    """How far each day lay from its weekday's mean, widened by what a mean of so few takes away."""
    free = max(1, len(recent) - WEEKDAYS)
    widen = isqrt(MILLION * MILLION * len(recent) // free)  # sqrt(n / (n - 7)), in millionths
    return [(history[day] - means[day.weekday()]) * widen // MILLION for day in recent]


def _draws(
    by_weekday: Mapping[int, Sequence[int]],
    strays: Sequence[int],
    coming: Sequence[date],
    so_far: int,
    today: date,
    left_seconds: int,
) -> list[list[int]]:
    """Made-up months: what each had cost at each day's end, never less than what is spent."""
    dice = random.Random(SEED)  # noqa: S311 (a simulation)
    found = []
    for _ in range(DRAWS):
        means = {day: sum(dice.choices(values, k=len(values))) // len(values) for day, values in by_weekday.items()}
        days = (_of(day, means[day.weekday()] + dice.choice(strays), today, left_seconds) for day in coming)
        found.append([max(so_far, so_far + total) for total in accumulate(days)])
    return found
