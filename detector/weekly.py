"""The week's report: where the money went, and what each change did to cost and quality. Read side.

A week is Monday to Sunday in the zone of the budgets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings

from detector import activity, unit_costs
from detector.activity import ActiveDay
from detector.unit_costs import Quality, Units
from gpujobs import changes, date_ranges, spending
from gpujobs.changes import Change, Effect
from gpujobs.date_ranges import ONE_DAY, DateRange
from gpujobs.spending import Cell

WEEK = timedelta(days=7)
MOST_EFFECTS = 12  # whose cost before and after is looked up


@dataclass(frozen=True, slots=True)
class Told:
    """A change with what it did. effect: None of what changes no cost of a token (a limit).  before, after: quality of
    the model versions, of a change of the live model, where a report of them is stored."""

    change: Change
    effect: Effect | None
    before: Quality | None = None
    after: Quality | None = None


@dataclass(frozen=True, slots=True)
class Week:
    """cells, active, units: of the week; earlier…: of the week before, as far as this one has come."""

    days: DateRange
    now: datetime
    cells: tuple[Cell, ...]
    earlier_cells: tuple[Cell, ...]
    active: tuple[ActiveDay, ...]
    units: Units
    earlier_units: Units
    changes: tuple[Told, ...]

    @property
    def total(self) -> int:
        return spending.total(self.cells)

    @property
    def earlier_total(self) -> int:
        return spending.total(self.earlier_cells)


def zone() -> str:
    return settings.BUDGET_ZONE if settings.BUDGET_ZONE in date_ranges.zones() else "UTC"


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def last_week(now: datetime) -> date:
    """Monday of the last week that is over."""
    return monday_of(date_ranges.today_of(zone(), now)) - WEEK


def report(monday: date, now: datetime) -> Week:
    days = DateRange(monday, monday + WEEK - ONE_DAY, zone())
    earlier = DateRange(monday - WEEK, monday - ONE_DAY, days.zone)
    end = min(days.end, now)
    cut = min(earlier.end, earlier.start + (end - days.start))
    cells, before = spending.cells(days), spending.cells(earlier, cut)
    active = activity.days(days)
    return Week(
        days=days,
        now=now,
        cells=cells,
        earlier_cells=before,
        active=tuple(active),
        units=unit_costs.units(cells, active, days.start, end),
        earlier_units=unit_costs.units(before, activity.days(earlier, cut), earlier.start, cut),
        changes=tuple(_told(changes.between(days.start, end), now)),
    )


def _told(found: Sequence[Change], now: datetime) -> list[Told]:
    told = []
    for number, change in enumerate(found):
        costs = change.sort != "limit" and number < MOST_EFFECTS
        told.append(
            Told(
                change,
                changes.effect(change.at, now) if costs else None,
                unit_costs.quality(change.previous or None),
                unit_costs.quality(change.current or None),
            )
        )
    return told
