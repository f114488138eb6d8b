"""Tables and drawings of the page that plans a month, from a plan of gpujobs.planning. Pure.

fields()      the form, as it was filled in
sections()    all that stands below it
drawing()     cost against scale, both by factors of ten; lines differ in their dashes and letters, not in colour alone
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from detector.templatetags.ink import whole
from detector.views.accuracy_tables import NONE, Cell, Row, Table
from gpujobs.planning import question, words
from gpujobs.planning.assumptions import UNKNOWN, plain
from gpujobs.planning.planner import Plan
from gpujobs.planning.scale import Point
from gpujobs.planning.ways import HYBRID, WAYS, Way
from inkcloak.money import NANO

HINTS: dict[str, str | Promise] = {
    "checks": gettext_lazy("texts that one of them pastes in a day, on average"),
    "words": gettext_lazy("of a pasted text; empty = 559 on average"),
    "p95": gettext_lazy("the longest wait of 95 in 100 pasted texts"),
    "bulk_p95": gettext_lazy("the same for classes and programs"),
}
LETTERS = dict(zip(WAYS, "ABCDEFGH", strict=True))
# Lengths of stroke and gap, in the drawing's units.
DASHES = dict(zip(WAYS, ("", "7 3", "2 3", "12 4", "12 3 2 3", "5 2 1 2 1 2", "1 4", "16 6"), strict=True))
LOWEST_NANOUSD, POWERS = NANO, 7  # the plot's lower edge, $1 a month, and how often ten times it
RADIUS = 8


@dataclass(frozen=True, slots=True)
class Field:
    """One box of the form."""

    name: str
    label: str | Promise
    value: str
    hint: str | Promise


@dataclass(frozen=True, slots=True)
class Tick:
    """at: where, in the drawing's units.  text: below or beside it."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """points: as SVG writes them.  x, y: of the letter."""

    name: str | Promise
    letter: str
    dashes: str
    points: str
    x: int
    y: int
    main: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """In units of its own; left, bottom: of the area with the lines."""

    width: int
    height: int
    left: int
    bottom: int
    right: int
    top: int
    lines: tuple[Line, ...]
    users: tuple[Tick, ...]
    dollars: tuple[Tick, ...]


def fields(given: Mapping[str, str]) -> list[Field]:
    """All but the shape, which is chosen from a list."""
    return [Field(name, question.NAMES[name], given[name], HINTS.get(name, "")) for name in question.LIMITS]


def sections(plan: Plan) -> dict[str, Any]:
    return {
        "plan": plan,
        "recommended": _named(plan.recommended),
        "serverless": _named(plan.recommended_serverless),
        "fastest": _named(plan.fastest),
        "ways": ways(plan),
        "settings": settings(plan),
        "drawings": {"wide": drawing(plan.curve, 720, 430, 62), "narrow": drawing(plan.curve, 340, 330, 40)},
        "legend": [(LETTERS[way], DASHES[way], words.WAYS[way], way == HYBRID) for way in WAYS],
        "curve": curve(plan.curve),
        "crossings": [words.crossing(each) for each in plan.crossings],
        "break_evens": [words.break_even(each) for each in plan.break_evens],
        "credit": words.credit(plan.credit_months),
        "founder": founder(plan),
        "assumptions": assumptions(plan),
    }


def _named(way: Way | None) -> dict[str, Any] | None:
    if way is None:
        return None
    pasted, bulk = words.waits(way)
    return {
        "name": words.WAYS[way.key],
        "month": words.dollars(way.month_nanousd),
        "pasted": pasted,
        "bulk": bulk,
        "settings": way.setting.to_json().items() if way.setting else (),
    }


# --- Tables ---------------------------------------------------------------------------------------------------------


def ways(plan: Plan) -> Table:
    columns = (
        _("Way"),
        _("A month"),
        _("Pasted text, p95"),
        _("Bulk, p95"),
        _("Machines"),
        _("Keeps the wish"),
    )
    return Table(_("What a month costs, way by way"), columns, tuple(map(_way, plan.ways)))


def _way(way: Way) -> Row:
    keeps = _("yes") if way.within else _("no")
    if way.role != "primary":
        keeps = _("batches only") if way.role == "batch" else _("comparison")
    month = Cell(words.dollars(way.month_nanousd), _once(way))
    cells = (month, *map(Cell, words.waits(way)), Cell(whole(way.machines) if way.machines else NONE), Cell(keeps))
    return Row(str(words.WAYS[way.key]), cells, note=str(words.ABOUT[way.key]))


def _once(way: Way) -> tuple[str, ...]:
    return (_("and %(amount)s once") % {"amount": words.dollars(way.once_nanousd)},) if way.once_nanousd else ()


def settings(plan: Plan) -> Table:
    """Of the ways that have some; names are those of the environment."""
    found = [way for way in plan.ways if way.setting]
    names = list(dict.fromkeys(name for way in found if way.setting for name in way.setting.to_json()))
    rows = []
    for name in names:
        values = [way.setting.to_json().get(name, NONE) for way in found if way.setting]
        rows.append(Row(name, tuple(Cell(str(value)) for value in values), raw=True))
    return Table(_("Settings"), (_("Setting"), *(str(words.WAYS[way.key]) for way in found)), tuple(rows))


def curve(points: Sequence[Point]) -> Table:
    columns = (_("Daily users"), *(f"{LETTERS[way]} {words.WAYS[way]}" for way in WAYS))
    rows = [
        Row(whole(point.users), tuple(Cell(words.dollars(point.months_nanousd[way])) for way in WAYS))
        for point in points
    ]
    return Table(_("Dollars a month by daily users"), columns, tuple(rows))


def founder(plan: Plan) -> list[dict[str, Any]]:
    """A list and no table: each line is a sentence, which a phone has no column for."""
    return [
        {
            "name": words.VECTORS[vector.key],
            "wanted": words.wanted(vector),
            "derived": words.amount(vector, vector.derived),
            "holds": vector.holds,
            "how": words.derivation(vector),
        }
        for vector in plan.vectors
    ]


def assumptions(plan: Plan) -> Table:
    """As they are written: names, sources and what they are of stay in English."""
    columns = (_("Assumption"), _("Value"), _("Source"))
    rows = [
        Row(
            row.name,
            (
                Cell(UNKNOWN if row.value is None else plain(row.value), (row.unit,)),
                Cell("", (f"{row.source}{', ' + row.as_of if row.as_of else ''}",), wraps=True),
            ),
            note=row.what,
            raw=True,
        )
        for row in plan.book.values()
    ]
    return Table(_("Every price and every assumption"), columns, tuple(rows))


# --- Drawing --------------------------------------------------------------------------------------------------------


def drawing(points: Sequence[Point], width: int, height: int, left: int) -> Drawing:
    """What costs less than the lower edge lies on it."""
    right, top, bottom = width - 12, 12, height - 28
    first, last = (math.log10(point.users) for point in (points[0], points[-1]))

    def x(users: int) -> int:
        return round(left + (math.log10(users) - first) / (last - first) * (right - left))

    def y(nanousd: int) -> int:
        power = math.log10(max(nanousd, LOWEST_NANOUSD) / LOWEST_NANOUSD)
        return round(bottom - min(power, POWERS) / POWERS * (bottom - top))

    def line(place: int, way: str) -> Line:
        spots = [(x(point.users), y(point.months_nanousd[way])) for point in points]
        letter = spots[min(2 * place + 1, len(spots) - 1)]  # each at another place, so that lines on one another show
        path = " ".join(f"{across},{down}" for across, down in spots)
        return Line(words.WAYS[way], LETTERS[way], DASHES[way], path, *letter, main=way == HYBRID)

    powers = range(math.ceil(first), math.floor(last) + 1)
    return Drawing(
        width,
        height,
        left,
        bottom,
        right,
        top,
        lines=tuple(line(place, way) for place, way in enumerate(WAYS)),
        users=tuple(Tick(x(10**power), short(10**power)) for power in powers),
        dollars=tuple(Tick(y(LOWEST_NANOUSD * 10**power), f"${short(10**power)}") for power in range(POWERS + 1)),
    )


def short(number: int) -> str:
    """1000 -> "1k", 10000000 -> "10M"."""
    for unit, letter in ((1_000_000, "M"), (1000, "k")):
        if number >= unit:
            return f"{number // unit}{letter}"
    return str(number)
