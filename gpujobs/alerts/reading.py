"""Rows -> what alerts look at: the sums by quarter of an hour, and which machines had a run at work. Reads only."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import F, Sum
from django.db.models.functions import TruncHour

from gpujobs import date_ranges
from gpujobs.alerts import series
from gpujobs.alerts.baseline import HISTORY_HOURS
from gpujobs.alerts.series import DAY_HOURS, WEEK_HOURS, Cell, Ledger
from gpujobs.models import CostQuarter, GpuRun, Service

READ_HOURS = HISTORY_HOURS + WEEK_HOURS + 2 * DAY_HOURS
RUNS_BEFORE_HOURS = 12  # of the first hour that is looked at: longer than any rule asks back
LONGEST_RUN = timedelta(days=1)


def zone() -> str:
    """Whose wall clock is the week's: the budgets' one."""

    return settings.BUDGET_ZONE if settings.BUDGET_ZONE in date_ranges.zones() else "UTC"


def ledger(first: int, last: int) -> Ledger:
    """All that is needed to look at the hours first to last, both included."""
    begin, end = first - READ_HOURS, last + 1
    return series.build(
        _cells(series.instant(begin), series.instant(end)),
        first=begin,
        end=end,
        zone=zone(),
        worked=_worked(first - RUNS_BEFORE_HOURS, last),
        warm_on_purpose=settings.RUNPOD_WORKERS_MIN > 0,
    )


def _cells(start: datetime, end: datetime) -> Iterator[Cell]:
    columns = ("kind", "service", "provider", "gpu_type", "model_version")
    rows = CostQuarter.objects.filter(start__gte=start, start__lt=end)
    sums = (
        rows.annotate(hour=TruncHour("start", tzinfo=UTC))
        .values_list("hour", *columns)
        .annotate(Sum("milliseconds"), Sum("amount_nanousd"))
        .order_by("hour", *columns)
    )
    for hour, kind, service, provider, gpu_type, version, milliseconds, amount in sums.iterator():
        at = series.hour_of(hour)
        yield Cell(at, kind, service, provider, gpu_type, version, int(milliseconds), int(amount))


def _worked(first: int, last: int) -> Iterator[tuple[int, str, str, str]]:
    """Runs are of inference: no others have rows of their own."""
    start, end = series.instant(first), series.instant(last + 1)
    runs = GpuRun.objects.filter(created_at__gte=start - LONGEST_RUN, created_at__lt=end).exclude(gpu_type="")
    spans = (
        runs.annotate(begun=TruncHour("created_at", tzinfo=UTC), over=TruncHour("finished_at", tzinfo=UTC))
        .values_list("backend", "gpu_type", F("begun"), F("over"))
        .order_by()
        .distinct()
    )
    for backend, gpu_type, begun, over in spans.iterator():
        until = last if over is None else min(last, series.hour_of(over))
        for hour in range(max(first, series.hour_of(begun)), until + 1):
            yield hour, Service.INFERENCE, backend, gpu_type
