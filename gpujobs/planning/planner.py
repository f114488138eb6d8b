"""One plan: each way priced, the cheapest within the wish, cost against scale, and the founder's table beside it. Pure.

plan(question, assumptions)      takes seconds at most, whatever the number of users
to_json()                        everything, the assumptions included; money in nano-dollars
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpujobs.planning import founder, question, scale, tuning, ways
from gpujobs.planning.assumptions import STANDARD, Assumptions
from gpujobs.planning.founder import Vector
from gpujobs.planning.question import Question
from gpujobs.planning.scale import BreakEven, Crossing, Point
from gpujobs.planning.ways import Way


@dataclass(frozen=True, slots=True)
class Plan:
    """recommended: the cheapest primary way within the wish; None where none keeps it.  recommended_serverless: the
    cheapest of those that need no machine of one's own or by the month.  fastest: of the primary ways, whichever keeps
    people waiting least.  texts: of a day.  played: days were simulated; else all is fluid's.  credit_months:
    of T4 spot that Google's starting credit pays."""

    asked: Question
    book: Assumptions
    texts: int
    words: int
    ways: tuple[Way, ...]
    recommended: Way | None
    recommended_serverless: Way | None
    fastest: Way
    played: bool
    credit_months: int
    curve: tuple[Point, ...]
    crossings: tuple[Crossing, ...]
    break_evens: tuple[BreakEven, ...]
    vectors: tuple[Vector, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "question": self.asked.to_json(),
            "method": "simulated" if self.played else "fluid",
            "texts_a_day": self.texts,
            "words_a_text": self.words,
            "recommended": _shown(self.recommended),
            "recommended_serverless": _shown(self.recommended_serverless),
            "fastest": _shown(self.fastest),
            "ways": [way.to_json() for way in self.ways],
            "curve": [point.to_json() for point in self.curve],
            "crossings": [crossing.to_json() for crossing in self.crossings],
            "t4_credit_months": self.credit_months,
            "break_even": [each.to_json() for each in self.break_evens],
            "founder": [vector.to_json() for vector in self.vectors],
            "assumptions": self.book.to_json(),
        }


def _shown(way: Way | None) -> dict[str, Any] | None:
    return way.to_json() if way else None


def _cheapest(found: Sequence[Way]) -> Way | None:
    """Within the wish."""
    return min((way for way in found if way.within), key=lambda way: way.month_nanousd, default=None)


@lru_cache(maxsize=16)
def plan(asked: Question, book: Assumptions = STANDARD) -> Plan:
    """Raises UnknownPrice. The same question is answered once: nothing in it changes by itself."""
    book.require_prices()
    wanted = question.demand(asked, book)
    found = ways.every(asked, book)
    points = scale.curve(asked, book)
    crossed = scale.crossings(points)
    primary = [way for way in found if way.role == "primary"]
    return Plan(
        asked,
        book,
        texts=round(wanted.texts),
        words=round(question.words_a_text(wanted, book)),
        ways=found,
        recommended=_cheapest(primary),
        recommended_serverless=_cheapest([way for way in primary if way.setting]),
        fastest=min(primary, key=lambda way: (way.pasted_p95, way.month_nanousd)),
        played=tuning.playable(wanted),
        credit_months=ways.credit_months(found, book),
        curve=points,
        crossings=crossed,
        break_evens=scale.break_evens(asked, book, found, crossed),
        vectors=founder.vectors(book),
    )
