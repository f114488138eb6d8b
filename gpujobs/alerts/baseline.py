"""What is ordinary: medians by hour and weekday over four weeks, and how far windows of hours strayed from them. Pure.

Medians, so that a launch day or a week with a leak does not become the measure; a neighbour hour on either side
counts too, so that four weeks give twelve values. Money is whole nano-dollars throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from gpujobs.alerts.series import DAY_HOURS, WEEK_HOURS, Clock

HISTORY_HOURS = 28 * DAY_HOURS
LEAST_KNOWN_HOURS = 14 * DAY_HOURS  # of these: below it nothing is called unusual
LEAST_ACTIVE_DAYS = 14  # with any cost: a series that costs now and then has no ordinary hour
LEAST_LONG_HOURS = 21 * DAY_HOURS  # the same for the week's trend
MAD_PERCENT = 148  # a spread like a standard deviation is 1.48 times the median of distances
STRAYS_FORGIVEN = 3  # days of four weeks that strayed most are no measure: a launch, an alert of before


@dataclass(frozen=True, slots=True)
class Stray:
    """Of sums over a window: spread, and the most that ordinary days strayed upward."""

    spread: int
    highest: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """slots: nano-dollars of each hour of the week.  strays: by hours of the window.  days: known days it rests on."""

    slots: tuple[int, ...]
    strays: dict[int, Stray]
    days: int


def learn(
    values: Sequence[int], clock: Clock, start: int, end: int, windows: Sequence[int], least_hours: int
) -> Baseline | None:
    """From values[start:end]; None where there is too little history, or where it hardly ever cost anything."""
    start = max(0, start)
    known_hours = sum(clock.known[start:end])
    active = sum(any(values[at : min(at + DAY_HOURS, end)]) for at in range(start, end, DAY_HOURS))
    if known_hours < least_hours or active < min(LEAST_ACTIVE_DAYS, (end - start) // DAY_HOURS):
        return None
    slots = _medians(values, clock, start, end)
    excess = [values[at] - slots[clock.slots[at]] if clock.known[at] else 0 for at in range(start, end)]
    sums = list(accumulate(excess, initial=0))
    strays = {window: _stray(sums, window) for window in windows}
    return Baseline(slots, strays, known_hours // DAY_HOURS)


def _medians(values: Sequence[int], clock: Clock, start: int, end: int) -> tuple[int, ...]:
    pools: list[list[int]] = [[] for _ in range(WEEK_HOURS)]
    slots, known = clock.slots, clock.known
    for at in range(start, end):
        if known[at]:
            pools[slots[at]].append(values[at])
    return tuple(median(pools[slot - 1] + pools[slot] + pools[(slot + 1) % WEEK_HOURS]) for slot in range(WEEK_HOURS))


def _stray(sums: Sequence[int], window: int) -> Stray:
    """sums: running totals of the excess by the hour."""
    rolling = [after - before for before, after in zip(sums, sums[window:], strict=False)]
    if not rolling:
        return Stray(0, 0)
    middle = median(rolling[::2])
    spread = median([abs(value - middle) for value in rolling[::2]]) * MAD_PERCENT // 100
    peaks = sorted((max(rolling[at : at + DAY_HOURS]) for at in range(0, len(rolling), DAY_HOURS)), reverse=True)
    return Stray(spread, max(0, peaks[min(STRAYS_FORGIVEN, len(peaks) - 1)]))


def median(values: list[int]) -> int:
    """The middle one, the lower of two; 0 of none."""
    return sorted(values)[(len(values) - 1) // 2] if values else 0
