"""Made-up months for alerts, by a seed: an ordinary week's shape with noise, a launch day, and what is planted in it.

    python -m tests.gpujobs.alert_months [--quiet 12] [--planted 8]     how many alerts, when, and how many were false

Ordinary: some $8 a day of checks on one GPU type, weekends half as busy, nights nearly empty; each hour strays by 20 %,
each day by 8 %, and it grows by 1 % a week; a training of 50 cents on Sundays; cents of storage; on the launch day and
the one after it more than twice as much. Five weeks of history come before the month.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import exp

from gpujobs.alerts import rules, series, turns
from gpujobs.alerts.series import DAY_HOURS, Cell, Ledger
from gpujobs.alerts.turns import Raised

DOLLAR = 10**9
START = series.hour_of(datetime(2026, 8, 24, tzinfo=UTC))  # a Monday, at Madrid's 2 o'clock
HISTORY_DAYS, MONTH_DAYS = 35, 30
ZONE = "Europe/Madrid"
CARD, POD_CARD = "NVIDIA RTX A4000", "NVIDIA RTX A5000"
RATE = 58 * DOLLAR // 100  # a machine hour, flex
POD_RATE = 27 * DOLLAR // 100
SHAPE = (1, 1, 1, 1, 1, 2, 4, 8, 14, 18, 19, 18, 14, 12, 15, 18, 19, 16, 12, 9, 7, 5, 3, 2)
BUSY_DAY = 8 * DOLLAR
LAUNCH = HISTORY_DAYS + 20  # days after the start
Extra = Callable[[int], Iterator[Cell]]


@dataclass(frozen=True)
class Month:
    """Its ledger hour by hour. quiet: hours after the start without any cost at all (the site was down)."""

    seed: int
    extras: tuple[Extra, ...] = ()
    launch: bool = True
    price_from: int = 10**9  # hours after the start, from when the GPU costs `price_percent`
    price_percent: int = 100
    down: range = range(0)
    start: int = START

    @property
    def end(self) -> int:
        return self.start + (HISTORY_DAYS + MONTH_DAYS) * DAY_HOURS

    def cells(self) -> list[Cell]:
        dice = random.Random(self.seed)
        found: list[Cell] = []
        for at in range(self.end - self.start):
            hour = self.start + at
            if at % DAY_HOURS == 0:
                of_day = exp(dice.gauss(0, 0.08))
            noise = exp(dice.gauss(0, 0.2)) * of_day
            if at not in self.down:
                found += self._hour(at, hour, noise)
                for extra in self.extras:
                    found += extra(at)
        return found

    def _hour(self, at: int, hour: int, noise: float) -> Iterator[Cell]:
        slot = series.slot_of(hour, ZONE)
        day, clock = divmod(slot, DAY_HOURS)
        share = SHAPE[clock] / sum(SHAPE) * (0.5 if day >= 5 else 1.0) * noise * 1.01 ** (at / series.WEEK_HOURS)
        if self.launch and LAUNCH * DAY_HOURS <= at < (LAUNCH + 2) * DAY_HOURS:
            share *= 2.2 if at < (LAUNCH + 1) * DAY_HOURS else 1.5
        ms = int(BUSY_DAY * share) * 3_600_000 // RATE
        rate = RATE * (self.price_percent if at >= self.price_from else 100) // 100
        for kind, percent in (("execution", 65), ("cold_start", 15), ("idle", 20)):
            part = ms * percent // 100
            yield Cell(hour, kind, "inference", "runpod", CARD, "v1", part, part * rate // 3_600_000)
        if slot == 6 * DAY_HOURS + 3:
            yield Cell(hour, "training", "training", "runpod", POD_CARD, "v2", 2_400_000, DOLLAR // 2)
        if clock == 3:
            yield Cell(hour, "storage", "inference", "runpod", "", "", 0, 9_000_000)


def leak(start: int, an_hour: int, hours: int = 72, most: int = DOLLAR // 2, base: int = START) -> Extra:
    """Workers that stay warm: from day `start` on each hour costs `an_hour` nano-dollars more than the one before."""

    def extra(at: int) -> Iterator[Cell]:
        age = at - start * DAY_HOURS
        if 0 <= age < hours:
            amount = min(most, an_hour * (age + 1))
            yield Cell(base + at, "idle", "inference", "runpod", CARD, "v1", amount * 3_600_000 // RATE, amount)

    return extra


def forgotten_pod(start: int, hours: int = 60, base: int = START) -> Extra:
    """A training pod that nobody takes down."""

    def extra(at: int) -> Iterator[Cell]:
        if start * DAY_HOURS <= at < start * DAY_HOURS + hours:
            yield Cell(base + at, "training", "training", "runpod", POD_CARD, "v2", 3_600_000, POD_RATE)

    return extra


PLANTED = {"leak": HISTORY_DAYS + 3, "pod": HISTORY_DAYS + 11, "price": HISTORY_DAYS + 16}  # days after the start
LEAK_AN_HOUR = DOLLAR // 100  # after a day an hour costs 24 cents more; an ordinary busy one costs 60


def planted(seed: int) -> Month:
    extras = (leak(PLANTED["leak"], LEAK_AN_HOUR), forgotten_pod(PLANTED["pod"]))
    return Month(seed, extras, price_from=PLANTED["price"] * DAY_HOURS, price_percent=130)


def alerts(month: Month) -> list[Raised]:
    """Every alert of the month."""
    cells = month.cells()
    work = ((cell.hour, cell.service, cell.provider, cell.gpu_type) for cell in cells if cell.kind == "execution")
    ledger = series.build(cells, first=month.start, end=month.end, zone=ZONE, worked=work)
    return run(ledger, range(month.start + HISTORY_DAYS * DAY_HOURS, month.end))


def run(ledger: Ledger, hours: range) -> list[Raised]:
    """Every alert of these hours, one by one, as the product raises them."""
    detector = rules.Detector(ledger)
    watches: dict[turns.Key, turns.Watch] = {}
    found: list[Raised] = []
    for hour in hours:
        result = turns.turn(hour, detector.at(hour), watches, found, detector)
        for alert in found:
            if alert.key in result.ended and alert.ended is None:
                alert.ended = hour
        found += result.raised
    return found


def causes(found: list[Raised], start: int = START) -> tuple[dict[str, int], list[Raised]]:
    """What was planted -> hours until it was told, and the alerts that told of nothing planted."""
    told: dict[str, int] = {}
    false: list[Raised] = []
    for alert in found:
        after = {name: alert.at - start - day * DAY_HOURS for name, day in PLANTED.items()}
        name = next((name for name in ("price", "pod", "leak") if 0 <= after[name] <= 96 and fits(name, alert)), None)
        if name is None:
            false.append(alert)
        else:
            told.setdefault(name, after[name])
    return told, false


def fits(name: str, alert: Raised) -> bool:
    """Whether an alert tells of that anomaly, and not of something else at the time."""
    rule, of = alert.key
    if name == "price":
        return rule == rules.PRICE
    if name == "pod":
        return rule == rules.FORGOTTEN or of.name in ("", "training", "v2", f"runpod/{POD_CARD}")
    return rule in (rules.HOURS, rules.DAY, rules.WEEK) and of.name in ("", "inference", "idle", "v1", f"runpod/{CARD}")


def quiet(seed: int) -> Month:
    return replace(Month(seed), launch=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", type=int, default=12)
    parser.add_argument("--planted", type=int, default=8)
    options = parser.parse_args()
    for seed in range(options.planted):
        found = alerts(planted(seed))
        told, false = causes(found)
        print(f"seed {seed}: told after hours {told}; {len(found)} alerts, false: {_said(false)}")  # noqa: T201
    for seed in range(100, 100 + options.quiet):
        print(f"quiet {seed}: {_said(alerts(quiet(seed)))}")  # noqa: T201
    return 0


def _said(found: list[Raised]) -> list[str]:
    return [
        f"{alert.key[0]} {alert.key[1]} day {(alert.at - START) / 24 - HISTORY_DAYS:.1f}"
        f" ${alert.finding.actual / DOLLAR:.2f}/{alert.finding.expected / DOLLAR:.2f}"
        for alert in found
        if alert.finding
    ]


if __name__ == "__main__":
    sys.exit(main())
