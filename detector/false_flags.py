"""What to expect of many texts at once if people wrote them all: false flags, and the chance of at least one. Pure.

Each text has the rate that was measured on human texts like it (its rate card's k of n); n texts of one rate p give n·p
and 1 − (1 − p)ⁿ. The same at the upper end of each card's interval says how bad it may be.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from detector import verdicts
from detector.intake import Evidence

LEAST_TEXTS = 2  # of one, the verdict's own rate card speaks


@dataclass(frozen=True, slots=True)
class Expected:
    """texts: those with a measured rate.  number: expected false flags.  chance: of at least one.

    most, most_chance: the same with each rate at the upper end of its 95 % interval.
    """

    texts: int
    number: float
    chance: float
    most: float
    most_chance: float


def expected(cards: Iterable[dict[str, Any] | None]) -> Expected | None:
    """cards: the rate card of each text, None where none was measured. None for fewer than two."""
    known = [card for card in cards if card and card["n"]]
    if len(known) < LEAST_TEXTS:
        return None
    rates, highs = [card["k"] / card["n"] for card in known], [float(card["high"]) for card in known]
    return Expected(len(known), sum(rates), _at_least_one(rates), sum(highs), _at_least_one(highs))


def card_of(found: Evidence, manifest: dict[str, Any], max_fpr: str) -> dict[str, Any] | None:
    """The rate card of a text that is not judged yet; its genre is not known before."""
    if found.reason:
        return None
    cap = verdicts.cap_of(manifest, max_fpr)
    return verdicts.rate_card(manifest, language=found.language, words=found.reading.words, cap=cap)


def _at_least_one(rates: Iterable[float]) -> float:
    none = 1.0
    for rate in rates:
        none *= 1 - rate
    return 1 - none
