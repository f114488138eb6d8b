"""Idle seconds, scaler, workers and wake seconds for the least cost within the wish.

All settings of the grid are judged by fluid.py at first, which takes milliseconds. Where a day has few enough texts,
the best ones are then played (site.py), with other scalers and numbers of workers, and the cheapest played one that
keeps the wish is recommended; above that, fluid's best is, and the plan says so.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gpujobs import routing
from gpujobs.planning import arrivals, endpoint, fluid, hours, site
from gpujobs.planning.arrivals import PASTED, Arrival, Demand
from gpujobs.planning.assumptions import Assumptions
from gpujobs.planning.endpoint import Limits
from gpujobs.planning.question import Question, limits

IDLES = (1, 2, 5, 10, 30, 60, 120, 300, 900)  # RUNPOD_IDLE_SECONDS; RunPod takes 1 to 3600
WAKES = (10, 30, 60, 120)  # GPU_WAKE_SECONDS
DELAYS = (4, 8, 20)  # RUNPOD_SCALER_VALUE
MOST_WORKERS = (1, 3, 5)  # RUNPOD_WORKERS_MAX that are played; an account may have 5
FEW_IDLES, FEW_WAKES = (1, 5, 30, 300), (30, 60)  # for the curve, which asks for many numbers of users
PLAYED_PASSES = 12_000  # forward passes of a day, at most: more take longer to play than somebody waits for a page
PLAYED_DAYS = 3
SEED = 1
CANDIDATES = 2
# Where nothing is played: of settings that cost hardly more than the cheapest the longest idle time, as it spares cold
# starts in the middle of traffic, which fluid.py doesn't see.
HARDLY_MORE = 1.02
LONGEST_SPARE_SECONDS = 30
LEAST_RUNS = 6  # RUNS_IN_FLIGHT


@dataclass(frozen=True, slots=True)
class Setting:
    """What the founder sets. wake_seconds: None where no CPU helps."""

    idle_seconds: int
    scaler_seconds: int
    workers_max: int
    wake_seconds: int | None = None
    workers_min: int = 0

    @property
    def runs_in_flight(self) -> int:
        """A worker takes eight batches at once; more than that must wait for the scaler to start another."""
        return LEAST_RUNS if self.workers_max <= 1 else endpoint.JOBS_AT_ONCE * self.workers_max

    def to_json(self) -> dict[str, Any]:
        names = {
            "RUNPOD_IDLE_SECONDS": self.idle_seconds,
            "RUNPOD_SCALER_VALUE": self.scaler_seconds,
            "RUNPOD_WORKERS_MIN": self.workers_min,
            "RUNPOD_WORKERS_MAX": self.workers_max,
            "RUNS_IN_FLIGHT": self.runs_in_flight,
        }
        return names if self.wake_seconds is None else names | {"GPU_WAKE_SECONDS": self.wake_seconds}


@dataclass(frozen=True, slots=True)
class Found:
    """Of `days` days: what one setting costs and how long people wait. played: simulated; else fluid.

    billed_milliseconds: of all workers, rounded up.  peak: workers at once, at most.
    """

    setting: Setting
    days: int
    billed_milliseconds: int
    cold_starts: float
    pasted_p95: float
    bulk_p95: float
    peak: int
    played: bool

    def keeps(self, question: Question) -> bool:
        return self.pasted_p95 <= question.p95 and self.bulk_p95 <= question.bulk_p95


def tune(policy: str, question: Question, wanted: Demand, book: Assumptions, *, quick: bool = False) -> Found:
    """The cheapest setting within the wish; the cheapest of all where none is. quick: by fluid and few settings."""
    idles, wakes = (FEW_IDLES, FEW_WAKES) if quick else (IDLES, WAKES)
    grid = [
        estimate(policy, Setting(idle, _patient(book), 1, wake), wanted, book)
        for idle in idles
        for wake in (wakes if policy == routing.HYBRID else (None,))
    ]
    ordered = sorted(grid, key=lambda each: (not each.keeps(question), each.billed_milliseconds))
    if quick or not playable(wanted):
        return _steadiest(ordered, question)
    return _best(list(_played(policy, ordered[:CANDIDATES], question, wanted, book)), question)


def _played(
    policy: str, firsts: Sequence[Found], question: Question, wanted: Demand, book: Assumptions
) -> Iterator[Found]:
    """The best by fluid; then the winner with other scalers; then with more workers."""
    days = sample(wanted)
    tried = [play(policy, each.setting, days, book) for each in firsts]
    for name, values in (("scaler_seconds", DELAYS), ("workers_max", MOST_WORKERS)):
        best = _best(tried, question).setting
        others = [replace(best, **{name: value}) for value in values if value != getattr(best, name)]
        tried += [play(policy, each, days, book) for each in others]
    yield from tried


def _best(tried: Sequence[Found], question: Question) -> Found:
    """The first of equals."""
    return min(tried, key=lambda each: (not each.keeps(question), each.billed_milliseconds))


def _steadiest(ordered: Sequence[Found], question: Question) -> Found:
    first = ordered[0]
    most = first.billed_milliseconds * HARDLY_MORE
    alike = [
        each
        for each in ordered
        if each.billed_milliseconds <= most
        and each.keeps(question) == first.keeps(question)
        and each.setting.wake_seconds == first.setting.wake_seconds
        and each.setting.idle_seconds <= LONGEST_SPARE_SECONDS
    ]
    return max(alike, key=lambda each: each.setting.idle_seconds, default=first)


def _patient(book: Assumptions) -> int:
    """A scaler that waits out a cold start: a quicker one starts workers for batches which the first will take."""
    return next((delay for delay in DELAYS if delay > book.number("gpu.cold_start")), DELAYS[-1])


# --- One setting ----------------------------------------------------------------------------------------------------


def endpoint_limits(setting: Setting, book: Assumptions) -> Limits:
    return limits(
        book,
        workers_min=setting.workers_min,
        workers_max=setting.workers_max,
        idle_seconds=float(setting.idle_seconds),
        queue_delay_seconds=float(setting.scaler_seconds),
    )


def estimate(policy: str, setting: Setting, wanted: Demand, book: Assumptions) -> Found:
    """By fluid.py, with as many workers as it asks for."""
    open_ended = replace(endpoint_limits(setting, book), workers_max=1_000_000)
    if policy == routing.HYBRID:
        found = fluid.hybrid(
            wanted,
            open_ended,
            wake_seconds=float(setting.wake_seconds or 0),
            cpu_rate=book.number("cpu.characters_per_second"),
            busy=book.number("cpu.busy"),
        )
    else:
        found = fluid.scale_to_zero(wanted, open_ended)
    peak = math.ceil(found.peak)
    return Found(
        replace(setting, workers_max=max(1, peak)),
        days=1,
        billed_milliseconds=math.ceil(found.billed_seconds * 1000),
        cold_starts=found.cold_starts,
        pasted_p95=found.pasted_p95,
        bulk_p95=found.bulk_p95,
        peak=peak,
        played=False,
    )


def play(policy: str, setting: Setting, days: Sequence[Sequence[Arrival]], book: Assumptions) -> Found:
    """By simulation."""
    setup = site.Setup(
        policy=policy,
        wake_seconds=float(setting.wake_seconds or 0),
        characters_per_second=book.number("cpu.characters_per_second"),
        runs_in_flight=setting.runs_in_flight,
        endpoint=endpoint_limits(setting, book),
    )
    outcome = site.together([site.play(texts, setup, site.plain()) for texts in days])
    bulk = [wait for kind, waits in outcome.waits.items() if kind != PASTED for wait in waits]
    return Found(
        setting,
        days=len(days),
        billed_milliseconds=outcome.billed_seconds * 1000,
        cold_starts=outcome.cold_starts / len(days),
        pasted_p95=p95(outcome.waits.get(PASTED, [])),
        bulk_p95=p95(bulk),
        peak=setting.workers_max if outcome.billed_seconds else 0,
        played=True,
    )


def playable(wanted: Demand) -> bool:
    return passes(wanted) <= PLAYED_PASSES


def passes(wanted: Demand) -> float:
    """Forward passes of a day, at most."""
    return wanted.texts * max(1.0, hours.kind(PASTED, wanted.length).windows / endpoint.PASS_TEXTS)


@lru_cache(maxsize=4)
def sample(wanted: Demand) -> tuple[tuple[Arrival, ...], ...]:
    """Days of this demand; fewer of large ones. The same for every setting, so that settings differ and not days."""
    days = max(1, min(PLAYED_DAYS, int(PLAYED_PASSES // max(1.0, passes(wanted)))))
    return tuple(tuple(arrivals.day(wanted, SEED + number)) for number in range(days))


def p95(waits: Sequence[float]) -> float:
    """Nearest rank; 0 where nobody waited."""
    return sorted(waits)[math.ceil(0.95 * len(waits)) - 1] if waits else 0.0
