"""The texts of one day, as `make bench-billing` has people send them: the planner's, whose assumptions stand with
their reasons in gpujobs/planning/arrivals.py, as the detector's queue holds texts. Pure and seeded.
"""

from dataclasses import dataclass

from detector.batching import Waiting
from gpujobs.planning import arrivals
from gpujobs.planning.arrivals import API, BULK, CLASS, DAY_SECONDS, INTERACTIVE, KINDS, LANES, PASTED, characters

__all__ = ["API", "BULK", "CLASS", "DAY_SECONDS", "INTERACTIVE", "KINDS", "PASTED", "Text", "characters", "day", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Waiting):
    """A text as the queue holds it. at: when it is sent, in seconds since midnight UTC.  kind: one of KINDS."""

    at: float
    kind: str


def text(number: int, at: float, characters: int, kind: str = PASTED) -> Text:
    """One text; `number` is its id."""
    return Text(
        id=number, model_version="champion", characters=characters, attempts=0, lane=LANES[kind], at=at, kind=kind
    )


def day(users: int, seed: int) -> list[Text]:
    """What so many users send in one day, in the order of time. The same seed gives the same day."""
    sent = arrivals.day(arrivals.Demand(users), seed)
    return [text(each.id, each.at, each.characters, each.kind) for each in sent]
