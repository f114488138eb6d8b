"""Ended runs -> lines of the ledger: what a rented worker's time cost, a few seconds after it is known.

        runs that ended ─┐                        ┌─ lines: work by account, cold starts, gaps, tails, disks
                         ├─ lifetimes.lay, priced ┤
        MachineMeter ────┘      (one worker)      └─ costed_at, the meter, budgets settled: in one transaction

A worker's time is laid out up to a horizon before which no run can be unknown. These are estimates from what the
provider told of each run; reconciling.py brings the days to its bill. A run whose price nobody knows stays uncosted, is
named in the log and counted in `Costed`. A run on this machine's own CPU costs nothing by definition, and one of which
the provider told no time (it never arrived, or was lost) has no line: what it cost is in the bill alone.
"""

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet

from gpujobs import budgets, ledger, prices
from gpujobs.backends.local import LocalBackend
from gpujobs.cost_lines import Machine, instant, ms, of_disk, of_done, of_piece
from gpujobs.lifetimes import Laid, Life, Work, lay
from gpujobs.models import CostEntry, GpuRun, MachineMeter, Price
from gpujobs.runs import UNATTENDED_SECONDS

log = logging.getLogger(__name__)

SETTLE_SECONDS = 8.0  # after which a run that was created is seen by everybody, and one that ended was looked at
NOTICE_SECONDS = 30.0  # at most, from a run's end at the provider until a look finds it
LONGEST_RUN = timedelta(hours=1)  # that a look for overlapping runs goes back; it keeps the query in its index
METERS_KEPT = timedelta(days=60)
MOST_RUNS = 5_000  # of a worker at a time; the rest waits for the next
ENDED = (GpuRun.Status.SUCCEEDED, GpuRun.Status.FAILED)


class Unpriced(LookupError):
    """Nobody knows what that costs."""

    def __init__(self, provider: str, gpu_type: str, mode: str) -> None:
        super().__init__(f"no price of {provider} {gpu_type or 'of unknown type'} {mode}")


@dataclass
class Costed:
    """runs: that are costed now.  lines: new in the ledger.  unpriced: what stayed uncosted, and why."""

    runs: int = 0
    lines: int = 0
    unpriced: list[str] = field(default_factory=list)


def cost_ended_runs(now: datetime) -> Costed:
    """Posts what is known by now. Twice, or beside itself, changes nothing more."""
    costed = Costed(runs=_cost_free(now))
    backends = GpuRun.objects.exclude(backend=LocalBackend.name).filter(_UNCOSTED).values_list("backend", flat=True)
    waiting = MachineMeter.objects.filter(closed=False).values_list("provider", flat=True)
    for provider in sorted({*backends.distinct(), *waiting.distinct()}):
        _cost_provider(provider, now, costed)
    return costed


def uncosted(now: datetime) -> QuerySet[GpuRun]:
    """Runs that ought to have been costed long ago: their price is unknown, or costing stands still."""
    return GpuRun.objects.filter(_UNCOSTED, finished_at__lt=now - timedelta(minutes=15)).order_by("finished_at")


def forget_meters(now: datetime) -> int:
    """Of machines that are long gone: a bill of theirs would be too late too."""
    return MachineMeter.objects.filter(closed=True, metered_until__lt=now - METERS_KEPT).delete()[0]


_UNCOSTED = Q(status__in=ENDED, costed_at__isnull=True)


@transaction.atomic
def _cost_free(now: datetime) -> int:
    free = GpuRun.objects.filter(_UNCOSTED, Q(backend=LocalBackend.name) | Q(execution_ms__isnull=True))
    ids = list(free.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)[:MOST_RUNS])
    budgets.settle(*ids)
    return GpuRun.objects.filter(pk__in=ids).update(costed_at=now)


def _cost_provider(provider: str, now: datetime, costed: Costed) -> None:
    horizon = horizon_of(provider, now)  # read before the runs: what it says of them must hold for all that are read
    due = GpuRun.objects.filter(_UNCOSTED, backend=provider)
    spans = due.exclude(worker_id="").values_list("worker_id").annotate(first=Min("created_at"), last=Max("created_at"))
    work = {machine: _near(provider, machine, first, last) for machine, first, last in spans.order_by()}
    # Each by itself, where nobody told on which worker it was.
    work |= {str(run.pk): [run] for run in due.filter(worker_id="").defer("result")[:MOST_RUNS]}
    idle = timedelta(seconds=settings.RUNPOD_IDLE_SECONDS)
    over = MachineMeter.objects.filter(provider=provider, closed=False, metered_until__lte=horizon - idle)
    for machine in sorted({*work, *over.values_list("machine_id", flat=True)}):
        runs = work.get(machine, [])
        # Cut off, the later runs are unknown too.
        until = min(horizon, runs[-1].created_at) if len(runs) == MOST_RUNS else horizon
        try:
            _cost_machine(provider, machine, runs, until, now, costed)
        except Unpriced as unknown:
            log.error("worker %s of %s is not costed: %s", machine, provider, unknown)
            costed.unpriced.append(f"{machine}: {unknown}")


def _near(provider: str, machine: str, first: datetime, last: datetime) -> list[GpuRun]:
    """Runs of that worker, also costed ones, that may share a moment with those made between `first` and `last`."""
    window = Q(created_at__range=(first - LONGEST_RUN, last + LONGEST_RUN), finished_at__gte=first)
    rows = GpuRun.objects.filter(window, backend=provider, worker_id=machine, status__in=ENDED)
    return list(rows.filter(execution_ms__isnull=False).order_by("created_at").defer("result")[:MOST_RUNS])


def horizon_of(provider: str, now: datetime) -> datetime:
    """No run that worked before it is unknown. A run that somebody looks after had not ended at the last look, so that
    it worked, if at all, no longer than a batch may; one that nobody looks after may have worked since it was made."""
    flying = GpuRun.objects.filter(backend=provider, status__in=GpuRun.IN_FLIGHT)
    long_due = Q(next_look_at__lt=now - timedelta(seconds=UNATTENDED_SECONDS))
    left_alone = flying.filter(long_due | Q(next_look_at__isnull=True, lease_expires_at__lt=now))
    bound = now - timedelta(seconds=settings.RUNPOD_EXECUTION_SECONDS + NOTICE_SECONDS)
    first = flying.aggregate(first=Min("created_at"))["first"]
    alone = left_alone.aggregate(first=Min("created_at"))["first"]
    settled = now - timedelta(seconds=SETTLE_SECONDS)
    return min(settled, max(first or settled, bound), alone or settled)


def work_of(run: GpuRun) -> Work:
    """Its time on the worker, by the provider's word; it had ended when we knew of it."""
    taken = ms(run.created_at) + (run.delay_ms or 0)
    ended = taken + (run.execution_ms or 0)
    late = max(0, ended - ms(run.finished_at)) if run.finished_at else 0
    return Work(str(run.pk), taken - late, ended - late, run.delay_ms or 0)


@transaction.atomic
def _cost_machine(
    provider: str, machine_id: str, runs: Sequence[GpuRun], horizon: datetime, now: datetime, costed: Costed
) -> None:
    meter = _locked(provider, machine_id)
    due = set(_lock_uncosted(run.pk for run in runs))
    laid = lay(
        [work_of(run) for run in runs],
        _life_of(meter),
        horizon_ms=ms(horizon),
        idle_ms=settings.RUNPOD_IDLE_SECONDS * 1000,
        known={str(run.pk) for run in runs if run.pk not in due},
    )
    if not laid.done and not laid.pieces:
        return
    by_id = {str(run.pk): run for run in runs}
    done = [by_id[each.work.id] for each in laid.done]
    _learn(meter, done)
    lines = _lines(meter, laid, by_id)
    costed.lines += ledger.post(lines)
    _go_on(meter, laid.life)
    ids = [run.pk for run in done]
    costed.runs += GpuRun.objects.filter(pk__in=ids).update(costed_at=now, gpu_type=meter.gpu_type)
    budgets.settle(*ids)  # last, since others wait for the budgets until this is committed


def _locked(provider: str, machine_id: str) -> MachineMeter:
    MachineMeter.objects.get_or_create(provider=provider, machine_id=machine_id)
    return (
        MachineMeter.objects.select_for_update(of=("self",))
        .select_related("price")
        .get(provider=provider, machine_id=machine_id)
    )


def _lock_uncosted(ids: Iterable[uuid.UUID]) -> list[uuid.UUID]:
    rows = GpuRun.objects.filter(pk__in=list(ids), costed_at__isnull=True).order_by("pk")
    return list(rows.select_for_update().values_list("pk", flat=True))


def _life_of(meter: MachineMeter) -> Life | None:
    if meter.opened_at is None or meter.metered_until is None:
        return None
    return Life(ms(meter.opened_at), ms(meter.metered_until), meter.closed)


def _learn(meter: MachineMeter, done: Sequence[GpuRun]) -> None:
    """What machine it is, from the last of its runs."""
    for run in done:
        meter.gpu_type = run.gpu_type or meter.gpu_type
        meter.model_version = run.model_version_id


def _lines(meter: MachineMeter, laid: Laid, runs: Mapping[str, GpuRun]) -> list[CostEntry]:
    """Raises Unpriced. Sets the meter's price to that of the life it is at in the end."""
    machine = Machine(meter.provider, meter.machine_id, meter.gpu_type, meter.model_version)
    price_of: dict[int, Price] = {}
    if meter.price is not None and meter.opened_at is not None:
        price_of[ms(meter.opened_at)] = meter.price  # a life goes on at the price at which it began
    lives = {piece.opened_ms for piece in laid.pieces} | {done.opened_ms for done in laid.done}
    for opened in lives - price_of.keys():
        price_of[opened] = _price(machine.provider, machine.gpu_type, Price.Mode.FLEX, opened)
    lines = [
        line for done in laid.done for line in of_done(machine, price_of[done.opened_ms], done, runs[done.work.id])
    ]
    for piece in laid.pieces:
        lines.append(of_piece(machine, price_of[piece.opened_ms], piece, runs))
        if piece.ends:
            disk_price = _price(machine.provider, "", Price.Mode.STORAGE, piece.opened_ms)
            paid = _paid_disk_ms(meter, piece.opened_ms)
            lines.append(of_disk(machine, disk_price, settings.RUNPOD_DISK_GB, piece, paid))
    if laid.life is not None:
        meter.price = price_of.get(laid.life.opened_ms, meter.price)
    return lines


def _price(provider: str, gpu_type: str, mode: str, at_ms: int) -> Price:
    found = prices.price_at(provider, gpu_type, mode, instant(at_ms))
    if found is None:
        raise Unpriced(provider, gpu_type, mode)
    return found


def _paid_disk_ms(meter: MachineMeter, opened_ms: int) -> int:
    """Of this life, where it had seemed to be over before."""
    if meter.opened_at is None or meter.disk_until is None or ms(meter.opened_at) != opened_ms:
        return 0
    return max(0, ms(meter.disk_until) - opened_ms)


def _go_on(meter: MachineMeter, life: Life | None) -> None:
    if life is None:
        return
    meter.opened_at, meter.metered_until = instant(life.opened_ms), instant(life.until_ms)
    meter.closed = life.closed
    if life.closed:
        meter.disk_until = meter.metered_until
    meter.save()
