"""Open, follow and end one GpuRun. The only writer of runs; each move leaves a RunEvent.

A run in flight has a lease that its process renews (`keep_alive`). `expired` finds those whose process is gone.
"""

import logging
import random
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import Error, connection, transaction
from django.utils import timezone

from gpujobs.models import GpuRun, ModelVersion, RunEvent
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

Share = tuple[str | None, str | None, int]  # account, its batch, characters

LEASE_SECONDS = 12
HEARTBEAT_SECONDS = 3
FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.5, 5.0  # at a run that a backend works on by itself
UNATTENDED_SECONDS = 15.0
GIVE_UP_GRACE_SECONDS = 120  # for cancelling, before the sweep takes the run for dead


def open_run(
    *,
    backend: str,
    model_version: ModelVersion,
    texts: int,
    now: datetime,
    degraded: bool = False,
    gpu_type: str = "",
    shares: Sequence[Share] = (),
) -> GpuRun:
    """The intent as a row, before anybody is asked to work. Call it inside the claiming transaction.

    gpu_type: as its prices name it, "" on this machine.  shares: whose texts they are; what it costs is split by it.
    """
    run = GpuRun.objects.create(
        backend=backend,
        model_version=model_version,
        texts=texts,
        degraded=degraded,
        gpu_type=gpu_type,
        shares=list(shares),
        lease_expires_at=now + timedelta(seconds=LEASE_SECONDS),
    )
    RunEvent.objects.create(run=run, current=run.status)
    return run


def started(run: GpuRun, *, external_id: str = "") -> bool:
    """The backend has the batch."""
    return _move(run, GpuRun.Status.RUNNING, "", external_id=external_id)


def accepted(run: GpuRun, *, external_id: str, attempt: int, seconds: float, now: datetime) -> bool:
    """The backend works on its own for at most `seconds`. False if the run had ended before.

    The lease outlives that by far: giving up in time is `look`'s work, and it tells the provider.
    """
    give_up_at = now + timedelta(seconds=seconds)
    changed = GpuRun.objects.filter(pk=run.pk, status__in=GpuRun.IN_FLIGHT).update(
        external_id=external_id,
        attempt=attempt,
        give_up_at=give_up_at,
        next_look_at=now + timedelta(seconds=FIRST_LOOK_SECONDS),
        lease_expires_at=give_up_at + timedelta(seconds=GIVE_UP_GRACE_SECONDS),
    )
    run.refresh_from_db()
    return bool(changed)


def take_look(run: GpuRun, *, now: datetime) -> float | None:
    """Claims the look that is due. Seconds until the next one, or None where none is due: somebody else took it.

    Looks become rarer with the run's age and are spread, so that many runs don't ask at once.
    """
    age = (now - run.created_at).total_seconds()
    pause = min(max(age / 4, FIRST_LOOK_SECONDS), LONGEST_LOOK_SECONDS) * random.uniform(0.8, 1.2)  # noqa: S311
    due = GpuRun.objects.filter(pk=run.pk, status=GpuRun.Status.RUNNING, next_look_at__lte=now)
    return pause if due.update(next_look_at=now + timedelta(seconds=pause)) else None


def look_now(run_id: uuid.UUID, *, now: datetime) -> bool:
    """Brings the next look forward, as somebody says that the backend has ended. False where none is ahead: the run
    has ended, is waited for elsewhere, is unknown, or its look is due already."""
    ahead = GpuRun.objects.filter(pk=run_id, status=GpuRun.Status.RUNNING, next_look_at__gt=now)
    return bool(ahead.update(next_look_at=now))


def unattended(now: datetime) -> list[GpuRun]:
    """Runs whose look is long due: whoever was to look is gone."""
    long_due = now - timedelta(seconds=UNATTENDED_SECONDS)
    return list(GpuRun.objects.filter(status=GpuRun.Status.RUNNING, next_look_at__lt=long_due)[:100])


def in_flight(backend: str) -> int:
    """How many runs this backend has now."""
    return GpuRun.objects.filter(backend=backend, status__in=GpuRun.IN_FLIGHT).count()


def succeed(
    run: GpuRun,
    *,
    result: dict[str, Any],
    tokens: int,
    execution_ms: int,
    now: datetime,
    usage: dict[str, Any] | None = None,
) -> bool:
    """Keeps the answer. False if the run had ended before: a late answer changes nothing.

    usage: fields that the provider reported (`delay_ms`, `worker_id`, `handed_in`, its own `execution_ms`).
    """
    changes = {"result": result, "tokens": tokens, "execution_ms": execution_ms, "finished_at": now}
    return _move(run, GpuRun.Status.SUCCEEDED, "", **changes | (usage or {}))


def fail(run: GpuRun, code: str, *, now: datetime, usage: dict[str, Any] | None = None) -> bool:
    """Ends the run without an answer. False if it had ended before."""
    return _move(run, GpuRun.Status.FAILED, code, failure_code=code, finished_at=now, **usage or {})


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
