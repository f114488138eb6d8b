"""What tests of costs build with: runs as a provider tells them, and the ledger at a glance."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Sum

from gpujobs.models import CostEntry, GpuRun, ModelVersion

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
A4000_PER_MS = 160  # nano-dollars
SECOND = timedelta(seconds=1)


def ended(
    version: ModelVersion, *, at: float, long: float, delay: float = 0.0, worker: str = "w1", **fields: Any
) -> GpuRun:
    """A run made `at` seconds after START, taken by a worker `delay` later and scored for `long` seconds."""
    values: dict[str, Any] = {
        "backend": "runpod",
        "model_version": version,
        "status": GpuRun.Status.SUCCEEDED,
        "texts": 1,
        "gpu_type": "AMPERE_16",
        "worker_id": worker,
        "delay_ms": round(delay * 1000),
        "execution_ms": round(long * 1000),
        "finished_at": START + (at + delay + long + 1) * SECOND,
        "lease_expires_at": START,
    }
    run = GpuRun.objects.create(**values | fields)
    GpuRun.objects.filter(pk=run.pk).update(created_at=START + at * SECOND)
    run.refresh_from_db()
    return run


def after(seconds: float) -> datetime:
    return START + seconds * SECOND


def lines(**which: Any) -> list[CostEntry]:
    return list(CostEntry.objects.filter(**which).order_by("at", "kind", "source_ref"))


def by_kind() -> dict[str, int]:
    """Milliseconds, but of storage nano-dollars."""
    rows = CostEntry.objects.values("kind").annotate(ms=Sum("milliseconds"), nanousd=Sum("amount_nanousd"))
    return {row["kind"]: row["nanousd"] if row["kind"] == "storage" else row["ms"] for row in rows.order_by()}


def total() -> int:
    return CostEntry.objects.aggregate(total=Sum("amount_nanousd"))["total"] or 0
