"""What is out of the ordinary in an hour: a trend, a machine without work, a price that moved. Pure.

hours      twice as dear for hours on end           day     half as dear again over a day
week       a slow leak: a fifth dearer over a week, its dearest day left out
forgotten  a machine that costs every hour while no run works on it
price      a machine hour of a GPU type costs another amount than in the last two weeks
forecast   at the month's end its budget will not have been enough

A window must pass each of: a share of what is expected, five spreads, what ordinary days strayed by, and so much money.
It is over again below half of that: what lies between keeps the state that is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gpujobs.alerts import baseline
from gpujobs.alerts.baseline import Baseline, median
from gpujobs.alerts.series import BUDGET, DAY_HOURS, WEEK_HOURS, Ledger, Machine, Series

MICRO = 1_000  # nano-dollars
CENT = 10_000 * MICRO
HOURS, DAY, WEEK, FORGOTTEN, PRICE, FORECAST = "hours", "day", "week", "forgotten", "price", "forecast"
BUDGET_SOFT, BUDGET_HARD = "budget_soft", "budget_hard"
RULES = (BUDGET_HARD, FORGOTTEN, PRICE, HOURS, DAY, WEEK, FORECAST, BUDGET_SOFT)  # the most telling first
OF_BUDGETS = frozenset({BUDGET_SOFT, BUDGET_HARD})
TELLS_OF_COST = frozenset({FORGOTTEN, PRICE, HOURS, DAY, WEEK})  # and so explains what other series cost


@dataclass(frozen=True, slots=True)
class Trend:
    """window: hours.  percent: of what is expected, on top.  spreads: the like.  least: nano-dollars in the window."""

    window: int
    percent: int
    spreads: int
    least: int


SHORT, LONG = Trend(4, 80, 5, 25 * CENT), Trend(DAY_HOURS, 45, 4, 50 * CENT)
WEEKLY = Trend(WEEK_HOURS, 20, 3, 150 * CENT)
SHARE_OF_ENTER = 2  # leaves at half of what it enters at
IDLE_HOURS = {"inference": 3}  # without a run, until a machine counts as forgotten
LEAST_IDLE_HOURS = 2  # until a trend's message names such a machine
OTHER_IDLE_HOURS = 6  # training and benchmarks: no run tells of each of their hours
FULL_HOUR_MS = 55 * 60 * 1000
FORGOTTEN_LEAST = 25 * CENT
PRICE_PERCENT = 8  # moved by so much
PRICE_WINDOWS = (4, 12, 24)  # hours: the first in which there is enough machine time
PRICE_HISTORY_DAYS = 14
PRICE_LEAST_DAYS = 5
PRICE_LEAST_MS = 10 * 60 * 1000  # of machine time in the window: below it roundings and mixtures speak
PRICE_LEAST = 50 * CENT  # more a month, at the machine time of the last days
MONTH_DAYS = 30
FORECAST_LEAVE_PERCENT = 95  # of the limit
SLACK_PART = 4  # of the excess by now, and
SLACK_PERCENT = 10  # above what is expected: below it an hour doesn't count as the beginning


@dataclass(frozen=True, slots=True)
class Finding:
    """Nano-dollars in the window of `hours` hours. enter, leave: of `excess`.  days: of history it rests on.

    Of a price: actual and expected are of one machine hour, excess is per window at the machine time of late.
    """

    rule: str
    series: Series
    hours: int
    actual: int
    expected: int
    excess: int
    enter: int
    leave: int
    days: int

    @property
    def above(self) -> bool:
        return self.excess >= self.enter > 0

    @property
    def below(self) -> bool:
        return self.excess < self.leave or self.enter <= 0


class Detector:
    """Findings of a ledger, hour by hour. Baselines are learned once a local day for each series."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._learned: dict[tuple[Series, int], tuple[Baseline | None, Baseline | None]] = {}

    def at(self, hour: int) -> list[Finding]:
        """When `hour` is over. Of rules without a finding nothing is known: too little history."""
        end = hour - self.ledger.clock.first + 1
        return [*self._trends(end), *_forgotten(self.ledger, end), *_prices(self.ledger, end)]

    def baselines(self, series: Series, end: int) -> tuple[Baseline | None, Baseline | None]:
        """Of the four weeks before this day, and of the four weeks before the last seven days."""
        today = self._day_start(end - 1)
        if (series, today) not in self._learned:
            values, clock = self.ledger.money[series], self.ledger.clock
            first = today - baseline.HISTORY_HOURS
            near = baseline.learn(values, clock, first, today, (SHORT.window, LONG.window), baseline.LEAST_KNOWN_HOURS)
            far = None
            if near is not None:
                long_ago = today - WEEK_HOURS
                far = baseline.learn(
                    values, clock, first - WEEK_HOURS, long_ago, (LONG.window,), baseline.LEAST_LONG_HOURS
                )
            self._learned[series, today] = near, far
        return self._learned[series, today]

    def since(self, finding: Finding, hour: int) -> int:
        """The hour in which it began: after the last moment, of eight days, at which nothing had piled up."""
        end = hour - self.ledger.clock.first + 1
        if finding.series in self.ledger.machines:
            return self.ledger.clock.first + _idle_from(self.ledger.machines[finding.series], end)
        near, far = self.baselines(finding.series, end)
        chosen = far if finding.rule == WEEK else near
        if chosen is None:
            return hour - finding.hours + 1
        values, slots = self.ledger.money[finding.series], self.ledger.clock.slots
        start = max(0, end - WEEK_HOURS - DAY_HOURS)
        slack = finding.excess // max(1, finding.hours) // SLACK_PART if finding.rule != PRICE else 0
        piled, lowest, began = 0, 0, start
        for at in range(start, end):
            expected = chosen.slots[slots[at]]
            piled += values[at] - expected - max(slack, expected * SLACK_PERCENT // 100)
            if piled <= lowest:
                lowest, began = piled, at + 1
        return self.ledger.clock.first + min(began, end - 1)

    def _day_start(self, at: int) -> int:
        """Where its local day begins, or the history."""
        slots = self.ledger.clock.slots
        day = slots[at] // DAY_HOURS
        while at and slots[at - 1] // DAY_HOURS == day:
            at -= 1
        return at

    def _trends(self, end: int) -> Iterator[Finding]:
        for series, values in self.ledger.money.items():
            near, far = self.baselines(series, end)
            if near is not None:
                for rule, trend in ((HOURS, SHORT), (DAY, LONG)):
                    yield self._window(rule, trend, series, values, near, end)
            if far is not None:
                yield self._week(series, values, far, end)

    def _window(self, rule: str, trend: Trend, series: Series, values: list[int], usual: Baseline, end: int) -> Finding:
        start = max(0, end - trend.window)
        expected = self._expected(usual, start, end)
        actual = sum(values[start:end])
        stray = usual.strays[trend.window]
        enter = max(expected * trend.percent // 100, stray.spread * trend.spreads, stray.highest, trend.least)
        return Finding(
            rule, series, trend.window, actual, expected, actual - expected, enter, enter // SHARE_OF_ENTER, usual.days
        )

    def _week(self, series: Series, values: list[int], usual: Baseline, end: int) -> Finding:
        """Seven days that end now, without the one that strayed most: one day is a peak."""
        days = []
        for back in range(7):
            until = end - back * DAY_HOURS
            start = max(0, until - DAY_HOURS)
            expected = self._expected(usual, start, until)
            actual = sum(value for value, there in zip(values[start:until], self.ledger.clock.known[start:until],
                                                       strict=True) if there)  # fmt: skip
            days.append((actual - expected, actual, expected))
        days.remove(max(days))
        excess, actual, expected = (sum(column) for column in zip(*days, strict=True))
        enter = max(
            expected * WEEKLY.percent // 100, usual.strays[LONG.window].spread * WEEKLY.spreads * 5 // 2, WEEKLY.least
        )  # sums of six days stray 2.5 times as far as those of one
        return Finding(WEEK, series, WEEK_HOURS, actual, expected, excess, enter, enter // SHARE_OF_ENTER, usual.days)

    def _expected(self, usual: Baseline, start: int, end: int) -> int:
        clock = self.ledger.clock
        return sum(usual.slots[clock.slots[at]] for at in range(start, end) if clock.known[at])


def _forgotten(ledger: Ledger, end: int) -> Iterator[Finding]:
    """Every one of the last hours was paid for in full, and none of them had a run."""
    for series, machine in ledger.machines.items():
        hours = IDLE_HOURS.get(series.name.split("/")[0], OTHER_IDLE_HOURS)
        start = end - hours
        if start < 0:
            continue
        cost = sum(machine.nanousd[start:end])
        full = all(ms >= FULL_HOUR_MS for ms in machine.milliseconds[start:end])
        idle = full and not any(machine.worked[start:end])
        yield Finding(FORGOTTEN, series, hours, cost, 0, cost if idle else 0, FORGOTTEN_LEAST, 1, 0)


def _idle_from(machine: Machine, end: int) -> int:
    """Since when it has been paid for in full without a run."""
    start = end - 1
    while start and machine.milliseconds[start - 1] >= FULL_HOUR_MS and not machine.worked[start - 1]:
        start -= 1
    return start


def idle_machines(ledger: Ledger, hour: int) -> list[Series]:
    """Machines that were paid for in full in the last hours, and on which no run worked in any of them."""
    end = hour - ledger.clock.first + 1
    start = max(0, end - LEAST_IDLE_HOURS)
    return [
        series
        for series, machine in ledger.machines.items()
        if all(ms >= FULL_HOUR_MS for ms in machine.milliseconds[start:end]) and not any(machine.worked[start:end])
    ]


def _prices(ledger: Ledger, end: int) -> Iterator[Finding]:
    """Against the median of the last fourteen days: after a week a new price is the ordinary one."""
    for series, (times, paid) in ledger.times.items():
        window = next((hours for hours in PRICE_WINDOWS if sum(times[max(0, end - hours) : end]) >= PRICE_LEAST_MS), 0)
        start = max(0, end - window)
        spent = sum(times[start:end])
        days = _daily_rates(times, paid, start)
        if spent < PRICE_LEAST_MS or len(days) < PRICE_LEAST_DAYS:
            continue
        usual, now = median(days), sum(paid[start:end]) * 3_600_000 // spent
        lately = sum(times[max(0, end - WEEK_HOURS) : end]) // 7  # milliseconds a day
        a_month = abs(now - usual) * lately // 3_600_000 * MONTH_DAYS
        moved = abs(now - usual) * 100 >= usual * PRICE_PERCENT and a_month >= PRICE_LEAST
        per_window = (now - usual) * spent // 3_600_000
        excess = max(abs(per_window), 1) if moved else 0
        yield Finding(PRICE, series, window, now, usual, excess, 1, 1, len(days))


def _daily_rates(times: list[int], paid: list[int], end: int) -> list[int]:
    """Nano-dollars of a machine hour, of each of the days before in which there was enough of it."""
    found = []
    for back in range(PRICE_HISTORY_DAYS):
        until = end - back * DAY_HOURS
        start = until - DAY_HOURS
        if start < 0:
            break
        spent = sum(times[start:until])
        if spent >= PRICE_LEAST_MS:
            found.append(sum(paid[start:until]) * 3_600_000 // spent)
    return found


def forecast(budget: str, expected: int, limit: int, days: int) -> Finding:
    """Of a month's budget. expected, limit: at the month's end."""
    leave = limit * FORECAST_LEAVE_PERCENT // 100
    return Finding(FORECAST, Series(BUDGET, budget), 0, expected, limit, expected, limit + 1, leave, days)
