"""Cost against scale: each way from 100 to 10,000,000 daily users, where two cross, when a purchase pays. Pure.

The curve is fluid's (fluid.py says what it leaves out), so that its points can be compared; the plan itself plays small
days. Crossing points lie between two points of the curve, evenly in both logarithms, and are told to two digits.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from gpujobs.planning import question, ways
from gpujobs.planning.assumptions import Assumptions
from gpujobs.planning.question import Question
from gpujobs.planning.ways import ALWAYS_ON, HYBRID, KEPT_WARM, OWN, POD, SERVERLESS
from inkcloak.money import NANO

USERS = (*(first * 10**power for power in range(2, 7) for first in (1, 2, 5)), 10_000_000)
SUSTAINED_NANOUSD = 500 * NANO  # a month: past it, says the founder, own hardware is worth it
# Which becomes cheaper than which.
PAIRS = (
    (POD, SERVERLESS),
    (POD, HYBRID),
    (ALWAYS_ON, SERVERLESS),
    (OWN, SERVERLESS),
    (OWN, HYBRID),
    (OWN, POD),
)
LONGEST_MONTHS = 1200


@dataclass(frozen=True, slots=True)
class Point:
    """months_nanousd: by way."""

    users: int
    months_nanousd: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        return {"users": self.users, "months_nanousd": dict(self.months_nanousd)}


@dataclass(frozen=True, slots=True)
class Crossing:
    """From so many daily users on `cheaper` costs less than `dearer` (or, where `cheaper` is empty, `dearer` costs more
    than month_nanousd). users: None = nowhere on the curve; the curve's first number = from the beginning."""

    cheaper: str
    dearer: str
    users: int | None
    month_nanousd: int | None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Own hardware instead of a bill. months: the first in which it has cost less in all; None = never."""

    instead_of: str
    users: int
    bill_nanousd: int
    gpus: int
    purchase_nanousd: int
    colocation_nanousd: int
    months: int | None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def curve(asked: Question, book: Assumptions) -> tuple[Point, ...]:
    points = []
    for users in USERS:
        found = ways.every(replace(asked, users=users), book, quick=True)
        points.append(Point(users, {way.key: way.month_nanousd for way in found}))
    return tuple(points)


def crossings(points: Sequence[Point]) -> tuple[Crossing, ...]:
    found = [crossing(points, cheaper, dearer) for cheaper, dearer in PAIRS]
    return (*found, *(passing(points, way, SUSTAINED_NANOUSD) for way in (SERVERLESS, HYBRID)))


def crossing(points: Sequence[Point], cheaper: str, dearer: str) -> Crossing:
    """The last place from which on it stays cheaper."""

    def ahead(point: Point) -> float:
        return _log(point.months_nanousd[dearer]) - _log(point.months_nanousd[cheaper])

    if ahead(points[-1]) <= 0:
        return Crossing(cheaper, dearer, None, None)
    for left, right in reversed(list(pairwise(points))):
        if ahead(left) <= 0:
            users, month = _between(left, right, cheaper, -ahead(left) / (ahead(right) - ahead(left)))
            return Crossing(cheaper, dearer, users, month)
    return Crossing(cheaper, dearer, points[0].users, points[0].months_nanousd[cheaper])


def passing(points: Sequence[Point], way: str, bill: int) -> Crossing:
    """From where on a way's month costs more than a sum."""
    for left, right in pairwise(points):
        low, high = left.months_nanousd[way], right.months_nanousd[way]
        if low <= bill < high:
            users, _month = _between(left, right, way, (_log(bill) - _log(low)) / (_log(high) - _log(low)))
            return Crossing("", way, users, bill)
    return Crossing("", way, None, bill)


def _between(left: Point, right: Point, way: str, share: float) -> tuple[int, int]:
    users = left.users * math.pow(right.users / left.users, share)
    low, high = left.months_nanousd[way], right.months_nanousd[way]
    return two_digits(users), round(math.exp(_log(low) + share * (_log(high) - _log(low))))


def two_digits(number: float) -> int:
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return round(number / unit) * unit


def _log(amount: float) -> float:
    """Nothing costs as little as a dollar's millionth here: a logarithm needs something."""
    return math.log(max(amount, 1000))


# --- Own hardware -----------------------------------------------------------------------------------------------


def break_even_month(purchase: int, monthly: int, bill: int) -> int | None:
    """The first month after which purchase and monthly cost are at most the bills."""
    saved = bill - monthly
    if saved <= 0:
        return None
    months = max(1, -(-purchase // saved))
    return months if months <= LONGEST_MONTHS else None


def break_even(asked: Question, book: Assumptions, instead_of: str, bill: int) -> BreakEven:
    """Own hardware for this load instead of that bill."""
    gpus = ways.own_gpus(question.demand(asked, book), book)
    purchase, monthly = ways.purchase(gpus, book), ways.colocation(gpus, book)
    months = break_even_month(purchase, monthly, bill)
    return BreakEven(instead_of, asked.users, bill, gpus, purchase, monthly, months)


def break_evens(
    asked: Question, book: Assumptions, found: Sequence[ways.Way], crossed: Sequence[Crossing]
) -> tuple[BreakEven, ...]:
    """For the asked number of users, against each rented way; and where the serverless bill passes $500."""
    rented = [way for way in found if way.key in (HYBRID, SERVERLESS, KEPT_WARM, ALWAYS_ON, POD)]
    here = [break_even(asked, book, way.key, way.month_nanousd) for way in rented]
    there = [
        break_even(replace(asked, users=each.users), book, each.dearer, SUSTAINED_NANOUSD)
        for each in crossed
        if not each.cheaper and each.users and each.dearer == SERVERLESS
    ]
    return (*here, *there)
