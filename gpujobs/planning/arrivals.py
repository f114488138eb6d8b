"""The texts of one day, as daily users send them. Pure and seeded: the same seed gives the same day everywhere.

Nobody has measured such a day of ours yet: every figure below is an assumption with its reason, to be replaced when
there are real ones. Three kinds of people, one each: most paste a text and paste it again when they have changed it,
some teachers upload a class, a few programs send a job through the API.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

DAY_SECONDS, HOUR_SECONDS = 86_400, 3600
PASTED, CLASS, API = "pasted", "class", "api"
KINDS = (PASTED, CLASS, API)
INTERACTIVE, BULK = 0, 1  # lanes, as detector.models.Submission numbers them
LANES = {PASTED: INTERACTIVE, CLASS: BULK, API: BULK}

CLASS_SHARE = 0.03  # of the day's users: teachers are few, and collect essays every other week
API_SHARE = 0.01  # of the day's users: paying customers whose programs send a job a day
CLASS_TEXTS = (20, 35)  # a school class, at least and at most
API_TEXTS = (100, 1000)  # of a job, evenly in the logarithm: small jobs are the common ones

# Checks of one person -> share of the people; 3.0 on average. A visitor has five a day, more needs an account.
CHECKS = {1: 0.35, 2: 0.22, 3: 0.15, 4: 0.10, 5: 0.08, 8: 0.06, 12: 0.04}
MEAN_CHECKS = 3.0
BETWEEN_SECONDS, BETWEEN_SIGMA = 60.0, 1.0  # median and spread (log-normal) between two checks: somebody rewrites

# Characters at these shares of the texts, in between evenly in the logarithm.
SHARES = (0.0, 0.10, 0.25, 0.50, 0.75, 0.90, 0.99, 1.0)
CHARACTERS = {
    PASTED: (300, 700, 1200, 2000, 3500, 6000, 20_000, 60_000),  # a paragraph, an essay, now and then a thesis chapter
    CLASS: (1200, 2200, 2800, 3600, 4800, 6500, 12_000, 20_000),  # essays of 500 to 1,000 words
    API: (300, 500, 900, 1500, 2800, 5000, 12_000, 40_000),  # reviews, descriptions, articles
}


@dataclass(frozen=True)
class Shape:
    """When people come. zones: offset from UTC in hours -> share of the people.  hours: relative number of people by
    hour of their own day."""

    what: str
    zones: Mapping[int, float]
    hours: tuple[int, ...]

    def by_hour(self) -> tuple[float, ...]:
        """Share of the day's people in each hour of UTC; 24 numbers, together 1."""
        total = sum(self.hours)
        return tuple(
            sum(share * self.hours[(hour + zone) % 24] / total for zone, share in self.zones.items())
            for hour in range(24)
        )


SHAPES = {
    # English and Spanish readers, half of them between Boston and Bogota, half between London and Madrid: asleep until
    # six, a plateau in school and office hours, the highest at night before something is due.
    "office": Shape(
        "school and office hours on both sides of the Atlantic, the highest in the evening",
        {-5: 0.5, 1: 0.5},
        (2, 1, 1, 1, 1, 1, 2, 4, 7, 9, 10, 10, 8, 9, 10, 10, 9, 8, 8, 10, 11, 11, 8, 4),
    ),
    "flat": Shape("the same number in each hour", {0: 1.0}, (1,) * 24),
    "evening": Shape(
        "one time zone, nearly all between 18:00 and midnight",
        {0: 1.0},
        (2, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 10, 14, 18, 18, 14, 8),
    ),
    "burst": Shape(
        "a deadline: half of the day's people within two hours",
        {0: 1.0},
        (1,) * 20 + (11, 11) + (1,) * 2,
    ),
}


@dataclass(frozen=True)
class Demand:
    """What a day asks for. checks: texts that one person pastes, on average, at least 1.  length: factor on the lengths
    of the table above.  Shares: of the users, teachers with a class and programs with a job."""

    users: int
    checks: float = MEAN_CHECKS
    length: float = 1.0
    shape: str = "office"
    class_share: float = CLASS_SHARE
    api_share: float = API_SHARE
    between_seconds: float = BETWEEN_SECONDS

    @property
    def teachers(self) -> int:
        return round(self.users * self.class_share)

    @property
    def programs(self) -> int:
        return round(self.users * self.api_share)

    @property
    def people(self) -> int:
        """Who pastes; rounding may leave none."""
        return max(0, self.users - self.teachers - self.programs)

    @property
    def texts(self) -> float:
        """Of a day, of all kinds, on average."""
        return self.people * self.checks + self.teachers * MEAN_CLASS_TEXTS + self.programs * MEAN_API_TEXTS


@dataclass(frozen=True, slots=True)
class Arrival:
    """One text. at: when it is sent, in seconds since midnight UTC.  kind: one of KINDS.  lane: of that kind."""

    id: int
    at: float
    characters: int
    kind: str
    lane: int = field(default=INTERACTIVE)


def arrival(number: int, at: float, characters: int, kind: str = PASTED) -> Arrival:
    return Arrival(number, at, characters, kind, LANES[kind])


def day(demand: Demand, seed: int) -> list[Arrival]:
    """What they send in one day, in the order of time."""
    rng = random.Random(seed)  # noqa: S311  nothing secret
    shape = SHAPES[demand.shape]
    teachers, programs = demand.teachers, demand.programs
    sent = [(at, PASTED) for _ in range(demand.people) for at in _session(rng, demand, shape)]
    sent += [
        (at, CLASS) for _ in range(teachers) for at in [_moment(rng, shape)] for _ in range(rng.randint(*CLASS_TEXTS))
    ]
    for _ in range(programs):
        at = rng.uniform(0, DAY_SECONDS)  # programs run by their own timetables, day and night
        sent += [(at, API)] * _between(rng.random(), API_TEXTS)
    sent.sort()
    return [
        arrival(number, at, max(1, round(characters(rng.random(), kind) * demand.length)), kind)
        for number, (at, kind) in enumerate(sent)
    ]


def _session(rng: random.Random, demand: Demand, shape: Shape) -> Iterator[float]:
    """When one person checks; what would come after midnight is the same day's early morning."""
    at = _moment(rng, shape)
    for _ in range(_checks(rng, demand.checks)):
        yield at % DAY_SECONDS
        at += rng.lognormvariate(math.log(demand.between_seconds), BETWEEN_SIGMA)


def _checks(rng: random.Random, mean: float) -> int:
    """Of one person: the table's number, with what exceeds one check stretched to the wished mean."""
    exact = (_weighted(rng, CHECKS) - 1) * (mean - 1) / (MEAN_CHECKS - 1)
    whole = math.floor(exact)
    more = exact - whole
    return 1 + whole + (more > 0 and rng.random() < more)


def _moment(rng: random.Random, shape: Shape) -> float:
    """When somebody comes, in seconds since midnight UTC."""
    zone = _weighted(rng, shape.zones)
    hour = _weighted(rng, dict(enumerate(shape.hours)))
    return ((hour - zone) % 24 + rng.random()) * HOUR_SECONDS


def _weighted(rng: random.Random, shares: Mapping[int, float]) -> int:
    (chosen,) = rng.choices(list(shares), list(shares.values()))
    return chosen


# --- Lengths --------------------------------------------------------------------------------------------------------


def characters(share: float, kind: str) -> int:
    """The length that this share (0 to 1) of such texts does not exceed."""
    place = min(bisect_right(SHARES, share), len(SHARES) - 1) - 1
    low, high = SHARES[place], SHARES[place + 1]
    return _between((share - low) / (high - low), CHARACTERS[kind][place : place + 2])


def mean_characters(kind: str) -> float:
    """Of one text, from the table."""
    ends = CHARACTERS[kind]
    return sum(
        (high - low) * _mean_between(ends[place : place + 2]) for place, (low, high) in enumerate(pairwise(SHARES))
    )


def _between(share: float, ends: Sequence[int]) -> int:
    """Evenly in the logarithm between two numbers."""
    low, high = ends
    return round(low * math.pow(high / low, share))


def _mean_between(ends: Sequence[int]) -> float:
    low, high = ends
    return (high - low) / math.log(high / low)


MEAN_CLASS_TEXTS = sum(CLASS_TEXTS) / 2
MEAN_API_TEXTS = _mean_between(API_TEXTS)
