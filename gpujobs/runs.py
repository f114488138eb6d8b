"""Open, follow and end one GpuRun. The only writer of runs; each move leaves a RunEvent.

A run in flight has a lease that its process renews (`keep_alive`). `expired` finds those whose process is gone.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import Error, connection, transaction
from django.utils import timezone

from gpujobs.models import GpuRun, ModelVersion, RunEvent
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

LEASE_SECONDS = 12
HEARTBEAT_SECONDS = 3


def open_run(*, backend: str, model_version: ModelVersion, texts: int, now: datetime) -> GpuRun:
    """The intent as a row, before anybody is asked to work. Call it inside the claiming transaction."""
    run = GpuRun.objects.create(
        backend=backend,
        model_version=model_version,
        texts=texts,
        lease_expires_at=now + timedelta(seconds=LEASE_SECONDS),
    )
    RunEvent.objects.create(run=run, current=run.status)
    return run


def started(run: GpuRun, *, external_id: str = "") -> bool:
    """The backend has the batch."""
    return _move(run, GpuRun.Status.RUNNING, "", external_id=external_id)


def succeed(run: GpuRun, *, result: dict[str, Any], tokens: int, execution_ms: int, now: datetime) -> bool:
    """Keeps the answer. False if the run had ended before: a late answer changes nothing."""
    changes = {"result": result, "tokens": tokens, "execution_ms": execution_ms, "finished_at": now}
    return _move(run, GpuRun.Status.SUCCEEDED, "", **changes)


def fail(run: GpuRun, code: str, *, now: datetime) -> bool:
    """Ends the run without an answer. False if it had ended before."""
    return _move(run, GpuRun.Status.FAILED, code, failure_code=code, finished_at=now)


def expired(now: datetime) -> list[GpuRun]:
    """Runs in flight whose lease ran out."""
    return list(GpuRun.objects.filter(status__in=GpuRun.IN_FLIGHT, lease_expires_at__lt=now)[:100])


@contextmanager
def keep_alive(run: GpuRun) -> Iterator[None]:
    """Renews the run's lease from a thread for as long as the block works."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew_until, args=(run, ended), daemon=True, name=f"lease-{run.pk}")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _renew_until(run: GpuRun, ended: threading.Event) -> None:
    try:
        while not ended.wait(HEARTBEAT_SECONDS):
            _renew(run)
    finally:
        connection.close()  # this thread's own


def _renew(run: GpuRun) -> None:
    until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    try:
        GpuRun.objects.filter(pk=run.pk, status__in=GpuRun.IN_FLIGHT).update(lease_expires_at=until)
    except Error as error:  # the database restarts (also InterfaceError then): the next beat tries again
        log.warning("run %s: lease not renewed: %s", run.pk, type(error).__name__)
        connection.close()


@transaction.atomic
def _move(run: GpuRun, to: str, reason: str, **changes: Any) -> bool:
    previous = run.status
    if not advance(GpuRun.objects.filter(pk=run.pk), to, **changes):
        return False
    RunEvent.objects.create(run=run, previous=previous, current=to, reason=reason)
    run.refresh_from_db()
    return True
