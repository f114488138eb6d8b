"""How much machines did: texts and tokens by card, how busy the rented ones were, how long runs took. Read side.

Runs are read by the index run_lately; money and rented time come from the ledger's sums (gpujobs/spending.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Aggregate, Count, Expression, ExpressionWrapper, F, FloatField, Q, QuerySet, Sum
from django.db.models.functions import Extract

from gpujobs import dashboard
from gpujobs.models import CostEntry, GpuRun
from gpujobs.spending import USED, Cell

HOUR_MS = 3_600_000
LOCAL = "local"
P50, P95 = 0.5, 0.95


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of card; gpu_type "" is this machine's CPU.

    busy_ms, paid_ms: of rented time (0 on the CPU, which is not rented), by the ledger.  worked_ms: by the runs.
    """

    gpu_type: str
    runs: int
    texts: int
    tokens: int
    worked_ms: int
    busy_ms: int = 0
    paid_ms: int = 0
    nanousd: int = 0

    @property
    def occupancy(self) -> float | None:
        """The share of paid time in which it worked."""
        return self.busy_ms / self.paid_ms if self.paid_ms else None

    @property
    def tokens_per_second(self) -> float | None:
        """While it works."""
        return 1000 * self.tokens / self.worked_ms if self.worked_ms else None

    @property
    def texts_per_hour(self) -> float | None:
        """Of the time that is paid for; of a CPU, of the time in which it works."""
        time = self.paid_ms or self.worked_ms
        return self.texts * HOUR_MS / time if time else None


@dataclass(frozen=True, slots=True)
class Latency:
    """Of runs that succeeded, from their beginning to their end, in milliseconds; None of none."""

    n: int
    p50: int | None
    p95: int | None


class _Percentile(Aggregate):
    """PostgreSQL's percentile_disc: a value that really occurred."""

    function = "percentile_disc"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: Expression, share: float) -> None:
        super().__init__(expression, share=share)


def devices(start: datetime, end: datetime, found: Iterable[Cell]) -> list[Device]:
    """The dearest first, then the busiest. found: the sums of the same time."""
    rented = list(found)
    names = {cell.gpu_type for cell in rented if cell.milliseconds}
    runs = {name: figures for name, *figures in _runs(start, end)}
    known = [_device(name, runs.get(name, [0, 0, 0, 0]), rented) for name in sorted({*names, *runs})]
    return sorted(known, key=lambda each: (-each.nanousd, -each.worked_ms))


def _device(name: str, figures: Sequence[int], rented: Iterable[Cell]) -> Device:
    mine = [cell for cell in rented if cell.gpu_type == name and cell.milliseconds]
    runs, texts, tokens, worked = figures
    return Device(
        name,
        runs,
        texts,
        tokens,
        worked,
        busy_ms=sum(cell.milliseconds for cell in mine if cell.kind in USED),
        paid_ms=sum(cell.milliseconds for cell in mine),
        nanousd=sum(cell.nanousd for cell in mine),
    )


def _runs(start: datetime, end: datetime) -> list[tuple[str, int, int, int, int]]:
    rows = _succeeded(start, end).values_list("gpu_type")
    sums = rows.annotate(Count("pk"), Sum("texts"), Sum("tokens"), Sum("execution_ms")).order_by("gpu_type")
    return [
        (name, int(runs), int(texts or 0), int(tokens or 0), int(time or 0)) for name, runs, texts, tokens, time in sums
    ]


def _succeeded(start: datetime, end: datetime, which: Q | None = None) -> "QuerySet[GpuRun]":
    rows = GpuRun.objects.filter(
        backend__in=dashboard.BACKENDS, created_at__gte=start, created_at__lt=end, status=GpuRun.Status.SUCCEEDED
    )
    return rows.filter(which) if which is not None else rows


def rented_work(start: datetime, end: datetime) -> tuple[int, int]:
    """(texts, tokens) that rented machines scored."""
    sums = _succeeded(start, end, ~Q(backend=LOCAL)).aggregate(texts=Sum("texts"), tokens=Sum("tokens"))
    return int(sums["texts"] or 0), int(sums["tokens"] or 0)


def latency(start: datetime, end: datetime, which: Q | None = None) -> Latency:
    """Whole runs: queue at the provider, cold start, work and the look that found them ended."""
    seconds = ExpressionWrapper(Extract(F("finished_at") - F("created_at"), "epoch"), output_field=FloatField())
    rows = _succeeded(start, end, which).filter(finished_at__isnull=False)
    found = rows.aggregate(n=Count("pk"), p50=_Percentile(seconds, P50), p95=_Percentile(seconds, P95))
    return Latency(int(found["n"]), _ms(found["p50"]), _ms(found["p95"]))


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds)


def experiments(found: Iterable[Cell]) -> tuple[int, int]:
    """(how many, nano-dollars) of trainings and benchmarks: each is one line of the ledger; what else a service costs
    (storage, adjustments) is in the sum."""
    mine = [cell for cell in found if cell.service != "inference"]
    lines = (CostEntry.Kind.TRAINING, CostEntry.Kind.BENCHMARK)
    return sum(cell.entries for cell in mine if cell.kind in lines), sum(cell.nanousd for cell in mine)
