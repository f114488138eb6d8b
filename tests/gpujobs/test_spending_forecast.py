"""The month's end: weekdays count, the band widens with disorder, and little history gives none."""

from datetime import date, timedelta

from gpujobs.forecasting import DAY_SECONDS, Forecast, Step, month_end

TODAY = date(2026, 6, 15)  # a Monday
LAST = date(2026, 6, 30)


def history(days: int, amount: object) -> dict[date, int]:
    past = [TODAY - timedelta(days=n) for n in range(1, days + 1)]
    return {day: amount(day) for day in past}  # type: ignore[operator]


def weekly(day: date) -> int:
    return 10 if day.weekday() >= 5 else 100


def forecast(past: dict[date, int], so_far: int = 0, left: int = DAY_SECONDS) -> Forecast | None:
    return month_end(past, so_far, today=TODAY, left_seconds=left, last=LAST)


def test_it_knows_weekends() -> None:
    found = forecast(history(28, weekly), so_far=1000)
    assert found is not None
    assert found.expected == 1000 + 12 * 100 + 4 * 10  # 15 to 30 June
    assert (found.low, found.high, found.days) == (found.expected, found.expected, 28), "no day strayed"
    assert found.path[0] == Step(TODAY, 1100, 1100, 1100)
    assert found.path[-1].day == LAST


def test_of_today_only_the_rest_is_to_come() -> None:
    found = forecast(history(28, weekly), so_far=1000, left=DAY_SECONDS // 4)
    assert found is not None
    assert found.expected == 1000 + 25 + 11 * 100 + 4 * 10


def test_the_band_holds_what_past_days_hold_and_widens_with_them() -> None:
    calm = forecast(history(28, lambda day: 100 + day.day % 5))
    wild = forecast(history(28, lambda day: 100 + 30 * (day.day % 5)))
    assert calm is not None
    assert wild is not None
    for found in (calm, wild):
        assert all(step.low <= step.expected <= step.high for step in found.path)
        assert found.low < found.expected < found.high
    assert wild.high - wild.low > 5 * (calm.high - calm.low)
    assert forecast(history(28, lambda day: 100 + day.day % 5)) == calm, "the same rows give the same band"


def test_two_weeks_are_the_least() -> None:
    assert forecast(history(13, weekly)) is None
    assert forecast(history(14, weekly)) is not None


def test_only_the_last_four_weeks_count() -> None:
    past = history(28, weekly) | {TODAY - timedelta(days=n): 10**9 for n in range(29, 60)}
    assert forecast(past) == forecast(history(28, weekly))


def test_the_months_last_day_is_not_below_what_is_spent() -> None:
    found = month_end(history(28, weekly), 5000, today=TODAY, left_seconds=60, last=TODAY)
    assert found is not None
    assert 5000 <= found.low <= found.expected <= found.high
