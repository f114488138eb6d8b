"""What the staff's page about the GPU shows, from rows of runs. Read side: nothing here writes or asks RunPod.

    figures()       reads the runs of the last 24 hours, a bounded number of each backend, by an index
    aggregate()     the same from rows in memory; pure

"Today" begins at 00:00 UTC. The other half of the page, what RunPod says of its workers, is in endpoint_health.py.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from django.db.models import F, Func, JSONField

from gpujobs.backends.local import LocalBackend
from gpujobs.backends.runpod import RunpodBackend
from gpujobs.models import GpuRun

BACKENDS = (RunpodBackend.name, LocalBackend.name)
LOOK_BACK = timedelta(hours=24)
MOST_RUNS = 5000  # of one backend, the newest; more would make the page slow, and the page says so
PADDING_RUNS = 200  # the newest: their answers have to be opened, which is slow
SHOWN_IN_FLIGHT = 50  # the oldest
# A warm worker takes a batch within 0.1 s (measured at RunPod by others, 2026-09), and the shortest start, out of
# FlashBoot's memory, takes 1.1 s.
COLD_START_MS = 1000
SLOT = timedelta(minutes=5)
SLOTS = 36  # 3 hours


@dataclass(frozen=True, slots=True)
class Run:
    """A row, as far as it is needed. Times in UTC."""

    backend: str
    status: str
    texts: int
    created_at: datetime
    finished_at: datetime | None = None
    failure_code: str = ""
    worker_id: str = ""
    delay_ms: int | None = None
    execution_ms: int | None = None

    @property
    def succeeded(self) -> bool:
        return self.status == GpuRun.Status.SUCCEEDED

    @property
    def taken_at(self) -> datetime:
        """When a worker took it, by the provider's word."""
        return self.created_at + timedelta(milliseconds=self.delay_ms or 0)


@dataclass(frozen=True, slots=True)
class Spread:
    """In milliseconds; None where nothing was measured."""

    p50: int | None
    p95: int | None


@dataclass(frozen=True, slots=True)
class BackendToday:
    """runs: that ended.  failures: code and count, the most frequent first.  Spreads are of those that succeeded."""

    name: str
    runs: int
    texts: int
    delay: Spread
    execution: Spread
    failures: tuple[tuple[str, int], ...]

    @property
    def failed(self) -> int:
        return sum(count for _, count in self.failures)


@dataclass(frozen=True, slots=True)
class WorkerToday:
    """From its first batch to its last answer. occupancy: share of that time with a batch in it, at most 1."""

    id: str
    runs: int
    texts: int
    texts_per_second: float | None
    occupancy: float | None
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Slot:
    """Runs that were begun in the five minutes from `start`."""

    start: datetime
    runs: int
    delay_p95: int | None


@dataclass(frozen=True, slots=True)
class InFlight:
    """external_id: the provider's.  next_look_seconds: negative = overdue; None = whoever handed it in waits."""

    id: str
    backend: str
    texts: int
    age_seconds: int
    external_id: str
    next_look_seconds: int | None


@dataclass(frozen=True, slots=True)
class Padding:
    """share: of all tokens that were multiplied, those that were padding.  runs: that told it."""

    share: float
    runs: int


@dataclass(frozen=True, slots=True)
class Figures:
    """capped: older runs of today were not looked at."""

    backends: tuple[BackendToday, ...]
    workers: tuple[WorkerToday, ...]
    cold_starts: int
    slots: tuple[Slot, ...]
    capped: bool
    in_flight: tuple[InFlight, ...] = ()
    in_flight_count: int = 0
    padding: Padding | None = None


def figures(now: datetime) -> Figures:
    """All that the rows tell."""
    found = {name: _recent(name, now) for name in BACKENDS}
    flying = GpuRun.objects.filter(status__in=GpuRun.IN_FLIGHT)
    return replace(
        aggregate([run for runs in found.values() for run in runs], now),
        capped=any(len(runs) == MOST_RUNS for runs in found.values()),
        in_flight=tuple(in_flight(run, now) for run in flying.defer("result").order_by("created_at")[:SHOWN_IN_FLIGHT]),
        in_flight_count=flying.count(),
        padding=padding(told_padding(now - LOOK_BACK, now)),
    )


# --- Pure ---------------------------------------------------------------------------------------------------


def aggregate(runs: Iterable[Run], now: datetime) -> Figures:
    """runs: of the last 24 hours, in any order."""
    ordered = sorted(runs, key=lambda run: run.taken_at)
    today = [run for run in ordered if run.created_at >= midnight(now)]
    rented = [run for run in ordered if run.worker_id]
    return Figures(
        backends=tuple(of_backend(name, today) for name in BACKENDS),
        workers=workers([run for run in today if run.worker_id]),
        cold_starts=sum(run.created_at >= midnight(now) for run in cold_starts(rented)),
        slots=slots(ordered, now),
        capped=False,
    )


def midnight(now: datetime) -> datetime:
    """When today began."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def percentile(values: Sequence[int], share: float) -> int | None:
    """The smallest value that at least `share` of them don't exceed (nearest rank); None of none."""
    return sorted(values)[max(ceil(share * len(values)), 1) - 1] if values else None


def spread(values: Iterable[int | None]) -> Spread:
    known = [value for value in values if value is not None]
    return Spread(percentile(known, 0.5), percentile(known, 0.95))


def of_backend(name: str, runs: Sequence[Run]) -> BackendToday:
    ended = [run for run in runs if run.backend == name and run.finished_at is not None]
    good = [run for run in ended if run.succeeded]
    return BackendToday(
        name=name,
        runs=len(ended),
        texts=sum(run.texts for run in good),
        delay=spread(run.delay_ms for run in good),
        execution=spread(run.execution_ms for run in good),
        failures=tuple(Counter(run.failure_code for run in ended if not run.succeeded).most_common()),
    )


def workers(runs: Iterable[Run]) -> tuple[WorkerToday, ...]:
    """Those that ended a run, the latest first."""
    by_id: dict[str, list[Run]] = {}
    for run in runs:
        if run.finished_at is not None:
            by_id.setdefault(run.worker_id, []).append(run)
    found = [_worker(name, own) for name, own in by_id.items()]
    return tuple(sorted(found, key=lambda worker: worker.last_at, reverse=True))


def _worker(name: str, runs: Sequence[Run]) -> WorkerToday:
    last = max(run.finished_at for run in runs if run.finished_at is not None)
    seconds = (last - min(run.taken_at for run in runs)).total_seconds()
    busy = sum(run.execution_ms or 0 for run in runs) / 1000
    texts = sum(run.texts for run in runs if run.succeeded)
    return WorkerToday(
        id=name,
        runs=len(runs),
        texts=texts,
        texts_per_second=texts / seconds if seconds > 0 else None,
        occupancy=min(busy / seconds, 1.0) if seconds > 0 else None,  # it works at several batches at a time
        last_at=last,
    )


def cold_starts(runs: Iterable[Run]) -> list[Run]:
    """The first run of each worker, where it waited longer than a warm worker lets it. runs: as they were taken."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.worker_id, run)
    return [run for run in first.values() if (run.delay_ms or 0) > COLD_START_MS]


def slots(runs: Iterable[Run], now: datetime) -> tuple[Slot, ...]:
    """The last three hours; the last slot is the one under way."""
    minutes = SLOT.seconds // 60
    end = now.astimezone(UTC).replace(minute=now.minute // minutes * minutes, second=0, microsecond=0) + SLOT
    start = end - SLOTS * SLOT
    found: list[list[Run]] = [[] for _ in range(SLOTS)]
    for run in runs:
        if start <= run.created_at < end:
            found[int((run.created_at - start) / SLOT)].append(run)
    return tuple(
        Slot(start + i * SLOT, len(each), spread(run.delay_ms for run in each).p95) for i, each in enumerate(found)
    )


def in_flight(run: GpuRun, now: datetime) -> InFlight:
    look = run.next_look_at
    return InFlight(
        id=str(run.pk),
        backend=run.backend,
        texts=run.texts,
        age_seconds=max(0, int((now - run.created_at).total_seconds())),
        external_id=run.external_id,
        next_look_seconds=None if look is None else round((look - now).total_seconds()),
    )


def padding(told: Iterable[tuple[int, Sequence[Any]]]) -> Padding | None:
    """told: of each run its tokens, and the padding of each of its texts (null where a worker does not say)."""
    known = [(tokens, [each for each in parts if isinstance(each, int) and each >= 0]) for tokens, parts in told]
    known = [(tokens, parts) for tokens, parts in known if parts]
    wasted, useful = sum(sum(parts) for _, parts in known), sum(tokens for tokens, _ in known)
    return Padding(wasted / (wasted + useful), len(known)) if wasted + useful else None


# --- Rows ---------------------------------------------------------------------------------------------------


def _recent(backend: str, now: datetime) -> list[Run]:
    """The newest runs of a backend, by the index run_lately."""
    names = [name for name in Run.__dataclass_fields__ if name != "backend"]
    rows = GpuRun.objects.filter(backend=backend, created_at__gte=now - LOOK_BACK).order_by("-created_at")
    return [Run(backend=backend, **row) for row in rows.values(*names)[:MOST_RUNS]]


def told_padding(start: datetime, end: datetime) -> list[tuple[int, Sequence[Any]]]:
    """Of the newest runs of that time. Only the counts leave the database: an answer has thousands of scores."""
    rows = GpuRun.objects.filter(
        backend=RunpodBackend.name, created_at__gte=start, created_at__lte=end, status=GpuRun.Status.SUCCEEDED
    ).order_by("-created_at")
    counts = Func(
        F("result"),
        function="jsonb_path_query_array",
        template="%(function)s(%(expressions)s, '$.texts[*].padding')",
        output_field=JSONField(),
    )
    return [(tokens, parts or []) for tokens, parts in rows.values_list("tokens", counts)[:PADDING_RUNS]]
