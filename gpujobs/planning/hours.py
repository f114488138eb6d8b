"""A day as rates: what arrives in each hour of UTC, and how much work one arrival is. Pure.

An event is what wakes a worker: one pasted text, one class, one job of a program. `survival` is how likely it is that
after an event nothing arrives for a while; all that scale-to-zero costs follows from it.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from gpujobs.planning import arrivals
from gpujobs.planning.arrivals import API, CLASS, HOUR_SECONDS, PASTED, Demand
from gpujobs.planning.endpoint import PASS_TEXTS, windows

QUANTILES = 200  # at which lengths are looked at
STEPS = 24  # of an integral


@dataclass(frozen=True, slots=True)
class Kind:
    """Of one text, on average; p95_characters: 95 % are no longer."""

    characters: float
    windows: float
    p95_characters: float


@dataclass(frozen=True, slots=True)
class Hour:
    """Events a second."""

    pasted: float
    classes: float
    programs: float

    @property
    def events(self) -> float:
        return self.pasted + self.bulk

    @property
    def bulk(self) -> float:
        return self.classes + self.programs


def hours(demand: Demand) -> tuple[Hour, ...]:
    """24 of them. Programs come evenly, day and night."""
    return tuple(
        Hour(
            pasted=demand.people * demand.checks * share / HOUR_SECONDS,
            classes=demand.teachers * share / HOUR_SECONDS,
            programs=demand.programs / arrivals.DAY_SECONDS,
        )
        for share in arrivals.SHAPES[demand.shape].by_hour()
    )


@lru_cache(maxsize=64)
def kind(name: str, length: float) -> Kind:
    """Lengths of one kind of text."""
    lengths = [
        max(1, round(arrivals.characters((place + 0.5) / QUANTILES, name) * length)) for place in range(QUANTILES)
    ]
    return Kind(
        characters=arrivals.mean_characters(name) * length,
        windows=sum(map(windows, lengths)) / QUANTILES,
        p95_characters=arrivals.characters(0.95, name) * length,
    )


def windows_a_second(hour: Hour, demand: Demand) -> float:
    """What all workers together must read."""
    return sum(rate * kind(name, demand.length).windows for name, rate in texts_a_second(hour).items())


def characters_a_second(hour: Hour, demand: Demand) -> float:
    return sum(rate * kind(name, demand.length).characters for name, rate in texts_a_second(hour).items())


def texts_a_second(hour: Hour) -> dict[str, float]:
    return {
        PASTED: hour.pasted,
        CLASS: hour.classes * arrivals.MEAN_CLASS_TEXTS,
        API: hour.programs * arrivals.MEAN_API_TEXTS,
    }


def work_seconds(hour: Hour, demand: Demand, alone: float, together: float) -> float:
    """A worker's seconds for one event, on average: a pasted text is a pass of its own, bulk fills its passes."""
    if not hour.events:
        return 0.0
    pasted = alone * max(1.0, kind(PASTED, demand.length).windows / PASS_TEXTS)
    texts = texts_a_second(hour)
    bulk = sum(texts[name] * kind(name, demand.length).windows for name in (CLASS, API)) * together / PASS_TEXTS
    return (hour.pasted * pasted + bulk) / hour.events


@dataclass(frozen=True, slots=True)
class Gaps:
    """How long it stays quiet after an event of this hour. checks: of one person, who comes back after a while."""

    hour: Hour
    checks: float
    between: float

    def survival(self, seconds: float) -> float:
        """The chance that nothing arrives for so long after an event.

        Others' events: a person's checks are a cluster, which is heard in `seconds` if any of them falls into it; so
        their rate is that of clusters, each as long as the gaps within it, cut at `seconds`. The event's own person
        comes back with (checks - 1) / checks.
        """
        again = 1 - 1 / self.checks
        others = self.hour.pasted * (seconds / self.checks + again * self._mean_gap(seconds))
        pasted = self.hour.pasted / self.hour.events if self.hour.events else 0.0
        own = 1 - pasted * again * self._back(seconds)
        return math.exp(-others - self.hour.bulk * seconds) * own

    def quiet(self, seconds: float) -> float:
        """The mean time until the next event, cut at `seconds`: the integral of survival, by Simpson's rule."""
        step = seconds / STEPS
        inner = sum((4 if place % 2 else 2) * self.survival(place * step) for place in range(1, STEPS))
        return (1 + inner + self.survival(seconds)) * step / 3

    def _back(self, seconds: float) -> float:
        """The chance that a gap within a session is no longer."""
        if seconds <= 0:
            return 0.0
        return _normal((math.log(seconds) - math.log(self.between)) / arrivals.BETWEEN_SIGMA)

    def _mean_gap(self, seconds: float) -> float:
        """The mean of a gap within a session, cut at `seconds`."""
        if seconds <= 0:
            return 0.0
        sigma = arrivals.BETWEEN_SIGMA
        middle = math.log(self.between)
        mean = math.exp(middle + sigma**2 / 2) * _normal((math.log(seconds) - middle - sigma**2) / sigma)
        return mean + seconds * (1 - self._back(seconds))


def _normal(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))
