"""Alerts over made-up months: what is planted is told within a day, and ordinary weeks are left in peace."""

import functools
from datetime import UTC, datetime

import alert_months as made
import pytest

from gpujobs.alerts import rules, series, states
from gpujobs.alerts.baseline import HISTORY_HOURS
from gpujobs.alerts.rules import Finding
from gpujobs.alerts.series import ALL, DAY_HOURS, Cell
from gpujobs.alerts.turns import Raised

SEEDS = range(6)
QUIET_SEEDS = range(100, 106)
DAY = DAY_HOURS
FIRST = made.START + made.HISTORY_DAYS * DAY  # hour in which the month begins


@functools.cache
def planted(seed: int) -> list[Raised]:
    return made.alerts(made.planted(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leak_a_forgotten_pod_and_a_price_are_told_within_a_day(seed: int) -> None:
    told, false = made.causes(planted(seed))
    assert set(told) == {"leak", "pod", "price"}
    assert max(told.values()) <= DAY
    assert len(false) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_one_cause_is_one_alert(seed: int) -> None:
    """Each of the three moves five series and three windows."""
    assert len(planted(seed)) <= 5


def test_ordinary_months_are_quiet() -> None:
    """Half a year: what docs/alerts.md says of twelve months, more loosely."""
    assert sum(len(made.alerts(made.quiet(seed))) for seed in QUIET_SEEDS) <= 2


def test_a_leak_of_weeks_is_told_too() -> None:
    """Each day 5 % of an ordinary one more: no day by itself is far from the one before."""
    slow = made.Month(1, (made.leak(40, 8 * 10**9 * 5 // 100 // DAY // DAY, hours=24 * DAY),), launch=False)
    first = made.alerts(slow)[0]
    assert first.key[0] in (rules.DAY, rules.WEEK, rules.HOURS)
    assert first.at <= made.START + (40 + 12) * DAY


@pytest.mark.parametrize("hours", [1, 2])
def test_a_single_peak_is_no_alert(hours: int) -> None:
    """An hour or two of ten times what is ordinary, at noon."""
    peak = range(3 * DAY + 10, 3 * DAY + 10 + hours)
    assert flat(peaks=dict.fromkeys(peak, 10), stop=peak.stop) == []


def test_hours_on_end_are_one() -> None:
    found = flat(peaks=dict.fromkeys(range(3 * DAY + 10, 3 * DAY + 20), 3))
    assert found[0].began == FIRST + 3 * DAY + 10
    assert len(found) == 1
    assert found[0].ended is not None


def test_below_the_least_money_nothing_is_said() -> None:
    """Ten times as dear as ordinary, and two cents an hour."""
    assert flat(peaks=dict.fromkeys(range(3 * DAY, 5 * DAY), 10), ordinary=2_000_000) == []


def test_without_two_weeks_of_history_no_trend_is_told() -> None:
    assert flat(peaks=dict.fromkeys(range(3 * DAY, 4 * DAY), 3), history=9) == []
    assert len(flat(peaks=dict.fromkeys(range(3 * DAY, 4 * DAY), 3), history=16)) == 1


def test_days_when_the_site_was_down_are_no_history() -> None:
    """Eleven days without any cost: coming back to the ordinary is no alert."""
    down = range(18 * DAY, 29 * DAY)
    month = made.Month(4, launch=False, down=down)
    assert made.alerts(month) == []
    costs = [0 if at in down else 1 for at in range(35 * DAY)]
    assert [at for at, there in enumerate(series.known(costs)) if not there] == list(down)


@pytest.mark.parametrize("zone_start", [datetime(2026, 9, 14, tzinfo=UTC), datetime(2026, 2, 16, tzinfo=UTC)])
def test_changed_clocks_are_no_alert(zone_start: datetime) -> None:
    """Months with a day of 25 and of 23 hours: the week's shape is the wall clock's, before and after."""
    month = made.Month(6, launch=False, start=series.hour_of(zone_start))
    hours = range(month.start, month.end)
    assert any(series.slot_of(hour + DAY, made.ZONE) % DAY != series.slot_of(hour, made.ZONE) % DAY for hour in hours)
    assert made.alerts(month) == []


def test_leaving_takes_less_than_half_and_patience() -> None:
    def finding(excess: int) -> Finding:
        return Finding(rules.HOURS, ALL, 4, 100 + excess, 100, excess, 80, 40, 28)

    def next_of(status: str, excess: int, hours: int) -> str | None:
        return states.following(rules.HOURS, status, 0, finding(excess), hours)

    assert next_of("ok", 79, 9) is None
    assert next_of("ok", 80, 9) == "pending"
    assert next_of("pending", 80, 1) is None
    assert next_of("pending", 80, 2) == "firing"
    assert next_of("pending", 79, 2) == "ok"
    assert next_of("firing", 41, 9) is None
    assert next_of("firing", 39, 9) == "recovering"
    assert next_of("recovering", 60, 99) is None
    assert next_of("recovering", 80, 1) == "firing"
    assert next_of("recovering", 39, 5) is None
    assert next_of("recovering", 39, 6) == "ok"
    assert states.following(rules.HOURS, "firing", 0, None, 9) == "recovering"


def test_a_machine_with_runs_is_not_forgotten_and_one_without_is() -> None:
    def machine(worked: bool) -> bool:
        pods = [Cell(hour, "execution", "inference", "runpod", "A", "v", 3_600_000, 300_000_000) for hour in range(9)]
        runs = [(hour, "inference", "runpod", "A") for hour in range(9) if worked]
        ledger = series.build(pods, first=0, end=9, zone="UTC", worked=runs)
        (found,) = [each for each in rules.Detector(ledger).at(8) if each.rule == rules.FORGOTTEN]
        return found.above

    assert machine(worked=False)
    assert not machine(worked=True)


def test_workers_that_are_kept_warm_on_purpose_are_no_finding() -> None:
    cells = [Cell(hour, "idle", "inference", "runpod", "A", "v", 3_600_000, 300_000_000) for hour in range(9)]
    for warm, count in ((True, 0), (False, 1)):
        ledger = series.build(cells, first=0, end=9, zone="UTC", warm_on_purpose=warm)
        above = [each for each in rules.Detector(ledger).at(8) if each.rule == rules.FORGOTTEN and each.above]
        assert len(above) == count


def flat(
    peaks: dict[int, int], *, stop: int = 6 * DAY, ordinary: int = 200_000_000, history: int = HISTORY_HOURS // DAY + 7
) -> list[Raised]:
    """Alerts of `stop` hours after days in which each hour cost the same. peaks: hour -> times the ordinary."""
    start = FIRST - history * DAY
    cells = [
        Cell(hour, "execution", "inference", "runpod", "A", "v", 100_000 * times, ordinary * times)
        for hour in range(start, FIRST + stop)
        for times in [peaks.get(hour - FIRST, 1)]
    ]
    work = [(cell.hour, "inference", "runpod", "A") for cell in cells]
    ledger = series.build(cells, first=start, end=FIRST + stop, zone=made.ZONE, worked=work)
    return made.run(ledger, range(FIRST, FIRST + stop))
