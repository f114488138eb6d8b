"""The texts of one day, as `make bench-billing` has people send them. Pure and seeded.

Nobody has measured such a day of ours yet: every figure below is an assumption with its reason, to be replaced when
there are real ones. Three kinds of people, one each: most paste a text and paste it again when they have changed it,
some teachers upload a class, a few programs send a job through the API.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detector.batching import Waiting

DAY_SECONDS = 86_400
PASTED, CLASS, API = "pasted", "class", "api"
KINDS = (PASTED, CLASS, API)
INTERACTIVE, BULK = 0, 1  # lanes, as detector.models.Submission numbers them
LANES = {PASTED: INTERACTIVE, CLASS: BULK, API: BULK}

CLASS_SHARE = 0.03  # of the day's users: teachers are few, and collect essays every other week
API_SHARE = 0.01  # of the day's users: paying customers whose programs send a job a day
CLASS_TEXTS = (20, 35)  # a school class, at least and at most
API_TEXTS = (100, 1000)  # of a job, evenly in the logarithm: small jobs are the common ones

# Offset from UTC in hours -> share of the people: English and Spanish readers, half of them between Boston and Bogota,
# half between London and Madrid.
TIME_ZONES = {-5: 0.5, 1: 0.5}
# Relative number of people by hour of their own day: asleep until six, a plateau in school and office hours, the
# highest at night before something is due.
HOURS = (2, 1, 1, 1, 1, 1, 2, 4, 7, 9, 10, 10, 8, 9, 10, 10, 9, 8, 8, 10, 11, 11, 8, 4)
# Checks of one person -> share of the people; 3.0 on average. A visitor has five a day, more needs an account.
CHECKS = {1: 0.35, 2: 0.22, 3: 0.15, 4: 0.10, 5: 0.08, 8: 0.06, 12: 0.04}
BETWEEN_SECONDS, BETWEEN_SIGMA = 60.0, 1.0  # median and spread (log-normal) between two checks: somebody rewrites

# Characters at these shares of the texts, in between evenly in the logarithm.
SHARES = (0.0, 0.10, 0.25, 0.50, 0.75, 0.90, 0.99, 1.0)
CHARACTERS = {
    PASTED: (300, 700, 1200, 2000, 3500, 6000, 20_000, 60_000),  # a paragraph, an essay, now and then a thesis chapter
    CLASS: (1200, 2200, 2800, 3600, 4800, 6500, 12_000, 20_000),  # essays of 500 to 1,000 words
    API: (300, 500, 900, 1500, 2800, 5000, 12_000, 40_000),  # reviews, descriptions, articles
}


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
    rng = random.Random(seed)
    teachers, programs = round(users * CLASS_SHARE), round(users * API_SHARE)
    sent = [(at, PASTED) for _ in range(users - teachers - programs) for at in _session(rng)]
    sent += [(at, CLASS) for _ in range(teachers) for at in [_moment(rng)] for _ in range(rng.randint(*CLASS_TEXTS))]
    for _ in range(programs):
        at = rng.uniform(0, DAY_SECONDS)  # programs run by their own timetables, day and night
        sent += [(at, API)] * _between(rng.random(), API_TEXTS)
    sent.sort()
    return [text(number, at, characters(rng.random(), kind), kind) for number, (at, kind) in enumerate(sent)]


def _session(rng: random.Random) -> Iterator[float]:
    """When one person checks; what would come after midnight is the same day's early morning."""
    at = _moment(rng)
    for _ in range(_weighted(rng, CHECKS)):
        yield at % DAY_SECONDS
        at += rng.lognormvariate(math.log(BETWEEN_SECONDS), BETWEEN_SIGMA)


def _moment(rng: random.Random) -> float:
    """When somebody comes, in seconds since midnight UTC."""
    zone = _weighted(rng, TIME_ZONES)
    hour = _weighted(rng, dict(enumerate(HOURS)))
    return ((hour - zone) % 24 + rng.random()) * 3600


def _weighted(rng: random.Random, shares: dict[int, float]) -> int:
    (chosen,) = rng.choices(list(shares), list(shares.values()))
    return chosen


def characters(share: float, kind: str) -> int:
    """The length that this share (0 to 1) of such texts does not exceed."""
    place = min(bisect_right(SHARES, share), len(SHARES) - 1) - 1
    low, high = SHARES[place], SHARES[place + 1]
    return _between((share - low) / (high - low), CHARACTERS[kind][place : place + 2])


def _between(share: float, ends: Sequence[int]) -> int:
    """Evenly in the logarithm between two numbers."""
    low, high = ends
    return round(low * math.pow(high / low, share))
