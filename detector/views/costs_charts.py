"""Drawings of the pages about costs, as geometry that a template writes as SVG. Pure.

Drawn here and not by a script: they are there without one, under the strict policy, in print and in the mail's page;
a test reads them; each bar is a link. Colours are never alone: each kind has a pattern and a fixed place in the stack,
and the numbers stand in the table below.

    stacked()    a bar a day, by kind      bars()    a bar a day, of one number      month()    spent, forecast, budget
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from detector.views.costs_words import KINDS
from gpujobs.forecasting import Forecast
from gpujobs.spending import Day
from inkcloak import money

GAP = 0.2  # of a day's width
WIDEST = 16.0  # percent of the drawing: a day alone is a bar too
HEAD = 0.04  # of the height, free above the highest
WIDE, HIGH = 1000, 300  # of the month's drawing, in its own units
LABELLED_DAYS = 7  # each day is named below up to that many; else three dates are


@dataclass(frozen=True, slots=True)
class Piece:
    """In percent of the drawing, as SVG reads them. kind: "" of a bar that is not stacked."""

    kind: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Bar:
    """title: the same in words.  href: the lines that it is made of; "" of none."""

    x: str
    width: str
    title: str
    href: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """highest: what the upper edge stands for.  legend: (kind, name), from the foot of a bar up.  dates: below it."""

    name: str
    about: str
    highest: str
    bars: tuple[Bar, ...]
    dates: tuple[str, ...]
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """points: as SVG reads them.  sort: how it is drawn.  name: for the legend."""

    sort: str
    points: str
    name: str


@dataclass(frozen=True, slots=True)
class Month:
    about: str
    highest: str
    lines: tuple[Line, ...]
    dates: tuple[str, ...]
    width: int = WIDE
    height: int = HIGH


def stacked(days: Sequence[Day], href: Callable[[date], str]) -> Drawing:
    """What was spent, a bar a day. What is below zero (an adjustment) can't be stacked: the table has it."""
    tallest = max((_positive(day) for day in days), default=0)
    seen = [kind for kind in KINDS if any(day.kinds.get(kind) for day in days)]
    bars = []
    for place, day in enumerate(days):
        foot, pieces = 0, []
        for kind in seen:
            amount = max(0, day.kinds.get(kind, 0))
            if amount:
                pieces.append(_piece(kind, foot, amount, tallest))
                foot += amount
        title = ", ".join([f"{_day(day.day)}: {money.shown(day.total)}", *_kinds(day, seen)])
        bars.append(_bar(place, len(days), title, href(day.day) if day.kinds else "", pieces))
    return Drawing(
        name=_("Spent by day"),
        about=_about(_("Spent by day"), money.shown(tallest), days[-1].day, money.shown(days[-1].total)),
        highest=money.shown(tallest) if tallest else "",
        bars=tuple(bars),
        dates=dates([day.day for day in days]),
        legend=tuple((kind, str(KINDS[kind])) for kind in seen),
    )


def bars(name: str, values: Sequence[tuple[date, int | None]], shown: Callable[[int], str]) -> Drawing:
    """One number a day; none where it could not be divided."""
    tallest = max((value or 0 for _, value in values), default=0)
    found = []
    for place, (day, value) in enumerate(values):
        pieces = [_piece("", 0, value, tallest)] if value and value > 0 else []
        found.append(_bar(place, len(values), f"{_day(day)}: {'–' if value is None else shown(value)}", "", pieces))
    last_day, last = values[-1]
    return Drawing(
        name=name,
        about=_about(name, shown(tallest), last_day, "–" if last is None else shown(last)),
        highest=shown(tallest) if tallest else "",
        bars=tuple(found),
        dates=dates([day for day, _ in values]),
    )


def month(
    spent: Sequence[tuple[date, int]], forecast: Forecast | None, last: date, soft: int | None, hard: int | None
) -> Month:
    """spent: what the month had cost at each day's end, today's being now. soft, hard: of the month's budget."""
    first = spent[0][0]
    slots = (last - first).days + 1
    top = max([amount for _, amount in spent] + [forecast.high if forecast else 0, hard or 0, 1])
    top += int(top * HEAD)

    def point(day: date, amount: int) -> str:
        return f"{WIDE * ((day - first).days + 1) // slots},{HIGH - HIGH * max(0, amount) // top}"

    lines = []
    if forecast is not None:
        today, now = spent[-1]
        before = point(today, now)
        upper = [point(step.day, step.high) for step in forecast.path[1:]]
        lower = [point(step.day, step.low) for step in reversed(forecast.path[1:])]
        lines.append(Line("band", " ".join([before, *upper, *lower]), _("8 of 10 such months")))
        path = " ".join([before, *(point(step.day, step.expected) for step in forecast.path[1:])])
        lines.append(Line("expected", path, _("forecast")))
    lines.append(Line("spent", " ".join([f"0,{HIGH}", *(point(day, each) for day, each in spent)]), _("spent")))
    for sort, limit, name in (("soft", soft, _("budget: warning")), ("hard", hard, _("budget: limit"))):
        if limit is not None:
            height = HIGH - HIGH * limit // top
            lines.append(Line(sort, f"0,{height} {WIDE},{height}", name))
    about = _("What this month has cost day by day, its forecast and its budget; the numbers are in the table below.")
    return Month(about, money.shown(top), tuple(lines), (_day(first), _day(last)))


def dates(days: Sequence[date]) -> tuple[str, ...]:
    """Below a drawing: each day ("Mon 23"), or the first, the middle and the last one's date."""
    if len(days) == 1:
        return (_day(days[0]),)
    if len(days) <= LABELLED_DAYS:
        return tuple(date_format(day, "D j") for day in days)
    return tuple(_day(days[place]) for place in (0, len(days) // 2, -1))


def _positive(day: Day) -> int:
    return sum(amount for amount in day.kinds.values() if amount > 0)


def _kinds(day: Day, seen: Sequence[str]) -> list[str]:
    return [f"{KINDS[kind]} {money.shown(day.kinds[kind])}" for kind in seen if day.kinds.get(kind)]


def _piece(kind: str, foot: int, amount: int, tallest: int) -> Piece:
    scale = (1 - HEAD) * 100 / tallest
    return Piece(kind, _percent(100 - (foot + amount) * scale), _percent(amount * scale))


def _bar(place: int, count: int, title: str, href: str, pieces: Sequence[Piece]) -> Bar:
    slot = 100 / count
    width = min((1 - GAP) * slot, WIDEST)
    return Bar(_percent(place * slot + (slot - width) / 2), _percent(width), title, href, tuple(pieces))


def _percent(value: float) -> str:
    """With a point in every language."""
    return f"{max(0.0, value):.3f}%"


def _about(name: str, highest: str, last: date, value: str) -> str:
    words = _("%(name)s. Highest: %(highest)s. Last, %(day)s: %(last)s. The numbers are in the table below.")
    return words % {"name": name, "highest": highest, "day": _day(last), "last": value}


def _day(day: date) -> str:
    return date_format(day, "MONTH_DAY_FORMAT")
