"""The month at its end, and who a rise was, from the same hours that alerts look at. Pure."""

from collections import defaultdict
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from gpujobs import date_ranges, forecasting
from gpujobs.alerts.rules import Detector
from gpujobs.alerts.series import ALL, GPU, KIND, SERVICE, VERSION, Ledger, Series, instant
from gpujobs.forecasting import Forecast

TOP = 4  # contributors that a message names
SIDES = (SERVICE, VERSION, GPU, KIND)
LATELY_HOURS = 28 * 24


def forecast(ledger: Ledger, series: Series, hour: int, zone: str) -> Forecast | None:
    """Of the local month in which `hour` lies, when it is over. None where there is too little history."""
    values = ledger.money.get(series)
    if values is None:
        return None
    end = instant(hour + 1)
    today = date_ranges.today_of(zone, instant(hour))
    sums = _by_day(ledger, values, hour, zone)
    so_far = sum(amount for day, amount in sums.items() if (day.year, day.month) == (today.year, today.month))
    history = {day: amount for day, amount in sums.items() if day < today}
    left = date_ranges.start_of(today + timedelta(days=1), zone) - end
    return forecasting.month_end(
        history,
        so_far,
        today=today,
        left_seconds=max(0, int(left.total_seconds())),
        last=date_ranges.month_end(today),
    )


def contributors(detector: Detector, began: int, hour: int, most: int = TOP) -> list[tuple[Series, int]]:
    """(series, nano-dollars more than is ordinary there) from `began` to `hour`, the most first, from every side."""
    ledger = detector.ledger
    start, end = max(0, began - ledger.clock.first), hour - ledger.clock.first + 1
    found = []
    for series, values in ledger.money.items():
        if series.side in SIDES:
            usual, _far = detector.baselines(series, end)
            if usual is not None:
                expected = sum(usual.slots[ledger.clock.slots[at]] for at in range(start, end))
            else:  # no ordinary hour is known: what an hour cost on average
                before = values[max(0, start - LATELY_HOURS) : start]
                expected = sum(before) * (end - start) // max(1, len(before))
            found.append((series, sum(values[start:end]) - expected))
    found.sort(key=lambda item: (-item[1], str(item[0])))
    return [(series, excess) for series, excess in found if excess > 0][:most]


def _by_day(ledger: Ledger, values: list[int], hour: int, zone: str) -> dict[date, int]:
    """Whole local days from the first known hour on, and the one that runs."""
    where = ZoneInfo(zone)
    sums: dict[date, int] = defaultdict(int)
    begun = next((at for at, value in enumerate(ledger.money.get(ALL, values)) if value), len(values))
    first_day = instant(ledger.clock.first + begun).astimezone(where).date()
    for at in range(begun, hour - ledger.clock.first + 1):
        day = instant(ledger.clock.first + at).astimezone(where).date()
        sums[day] += values[at]
    whole = first_day + timedelta(days=1) if begun == 0 else first_day  # the window may begin in the midst of a day
    return {day: amount for day, amount in sums.items() if day >= whole}
