"""Queued texts -> a GpuRun -> (by collect) verdicts; and the sweep that takes back what a dead process held."""

import logging
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from detector import batches, batching, collect, economics, pinning, verdicts, wakeups
from detector.models import Submission
from gpujobs import backends, budget_gate, budgets, registry, routing, runs, scoring
from gpujobs.backends import Backend, BackendError, Order
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.shared import prose
from inkcloak.errors import DomainError
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

CLAIM_ROWS = 128  # looked at per batch; more would lock rows that this batch cannot take
COUNTED_ROWS = 2000  # of the queue, to see how much work waits; so many texts wake a GPU whatever their length
COUNTED_ACCOUNTS = 1000  # of those that wait, whose own budgets are looked at
SWEEP_ROWS = 200
# Beyond RUNS_IN_FLIGHT, for texts that somebody waits for: a bulk job that takes all other places never makes them
# wait until one of its batches comes back.
RUNS_KEPT_FREE = 4
LOCAL = "local"  # the backend of this machine: it has one batch at a time, by itself
LEAST_SECONDS = 5.0  # that a batch gets, however late its texts are
HELD_AFTER = timedelta(minutes=15)  # a batch's last deadline: by then its costs are posted, or nobody will


def warm_up() -> None:
    """Has this machine load the model that it scores with, so that the first check does not wait for it."""
    try:
        version = registry.resolve()
        stand_in = registry.stand_in(routing.CPU)
        backends.get(LOCAL).warm((stand_in[1] if stand_in else version).pk)
    except (BackendError, DomainError) as error:  # the first check will say so again, on its run
        log.error("not warm: %s", error)


def next_batch(*, now: datetime, backend: Backend | None = None) -> bool:
    """Claims one batch for a backend (this machine's unless given), has it scored and stores what came back.

    False when nothing was waiting for it: no rows, or the policy gives them to another tier.
    """
    backend = backend or backends.get(LOCAL)
    route = routing.now_open(now=now, waiting_characters=_waiting_characters)
    stand_in = backend.tier == routing.CPU and route.stand_in and budget_gate.per_account()
    if not route.takes(backend.tier) and not stand_in:
        return False
    busy = 0 if backend.name == LOCAL else runs.in_flight(backend.name)
    full = busy >= settings.RUNS_IN_FLIGHT
    if full and busy >= settings.RUNS_IN_FLIGHT + RUNS_KEPT_FREE:
        return False  # the end of one of them wakes us again
    try:
        claimed = claim(
            backend=backend.name,
            tier=backend.tier,
            now=now,
            degraded=route.degraded or stand_in,
            pasted_only=full,
            stand_in=stand_in,
        )
    except budget_gate.REFUSALS as refusal:  # somebody else has just taken the last of it, for instance
        log.warning("no batch for %s: %s", backend.name, refusal.code)
        return False
    if claimed is None:
        return False
    run, submissions = claimed
    scoring.start(run, request_for(run, submissions), backend, _order(submissions, now))
    run.refresh_from_db()
    if run.status in GpuRun.IN_FLIGHT:
        wakeups.look_after(run.pk, seconds=runs.FIRST_LOOK_SECONDS)
    else:
        _finished(run)
    return True


def look_after(run_id: uuid.UUID, *, now: datetime, backend: Backend | None = None) -> None:
    """Asks after a run that its backend works on by itself, and comes back later until it has ended."""
    run = GpuRun.objects.filter(pk=run_id, status=GpuRun.Status.RUNNING).first()
    pause = runs.take_look(run, now=now) if run is not None else None
    if run is None or pause is None:
        return  # ended, or somebody else looks after it
    scoring.look(run, backend or backends.get(run.backend), now=now)
    run.refresh_from_db()
    if run.status in GpuRun.IN_FLIGHT:
        wakeups.look_after(run.pk, seconds=pause)
    else:
        _finished(run)


def _finished(run: GpuRun) -> None:
    if run.failure_code in backends.NOT_TRIED:
        budgets.release(run.pk)
    collect.collect(run, now=timezone.now())
    if run.external_id:  # its place is free
        _wake_if_waiting()


def _order(submissions: list[Submission], now: datetime) -> Order:
    """Somebody waits for interactive texts; a batch is given up when its most patient text would be."""
    seconds = (max(s.deadline_at for s in submissions) - now).total_seconds()
    interactive = submissions[0].lane == Submission.Lane.INTERACTIVE
    return Order(seconds=max(seconds, LEAST_SECONDS), wait=interactive)


@transaction.atomic
def claim(
    *,
    backend: str,
    now: datetime,
    tier: str = routing.CPU,
    degraded: bool = False,
    pasted_only: bool = False,
    stand_in: bool = False,
) -> tuple[GpuRun, list[Submission]] | None:
    """Takes the next batch of queued rows into a new run; rows that another worker holds are skipped.

    pasted_only: of the interactive lane.  stand_in: of accounts whose own budget has no room for the GPU.
    Raises UsedUp, Unreadable or UnknownPrice where no budget lets a batch of the GPU begin; nothing is taken then.
    """
    queued = _queued().filter(lane=Submission.Lane.INTERACTIVE) if pasted_only else _queued()
    if backend != LOCAL or stand_in:
        queued = _within_budgets(queued, now, full=stand_in)
    rows = _for_tier(list(queued.select_for_update(skip_locked=True, of=("self",))[:CLAIM_ROWS]), tier)
    by_id = {row.pk: row for row in rows}
    waiting = [batching.Waiting(row.pk, row.model_version_id, row.characters, row.attempts, row.lane) for row in rows]
    limits = batching.CPU if backend == LOCAL else batching.GPU
    chosen = [by_id[text.id] for text in batching.pack(waiting, limits)]  # type: ignore[index]
    if not chosen:
        return None
    run = runs.open_run(
        backend=backend,
        model_version=chosen[0].model_version,
        texts=len(chosen),
        now=now,
        degraded=degraded,
        gpu_type="" if backend == LOCAL else next(iter(settings.RUNPOD_GPU_POOLS), ""),  # the first that it prefers
        shares=economics.shares(chosen),
    )
    ids = [row.pk for row in chosen]
    advance(
        Submission.objects.filter(pk__in=ids),
        Submission.Status.SCORING,
        run=run,
        model_version=run.model_version,
        dispatched_at=now,
        attempts=F("attempts") + 1,
    )
    if backend != LOCAL:  # last, since others wait for the budgets until this is committed
        expires = max(row.deadline_at for row in chosen) + HELD_AFTER
        budget_gate.hold(
            run, account_ids={row.account_id for row in chosen if row.account_id}, now=now, expires=expires
        )
    return run, chosen


def _within_budgets(queued: QuerySet[Submission], now: datetime, *, full: bool) -> QuerySet[Submission]:
    """Without the texts of accounts whose own budget has no room for another batch; full: these alone."""
    if not budget_gate.per_account():
        return queued
    waiting = Submission.objects.filter(status=Submission.Status.QUEUED, account_id__isnull=False)
    accounts = set(waiting.order_by().values_list("account_id", flat=True).distinct()[:COUNTED_ACCOUNTS])
    shut = budget_gate.full_accounts(accounts, now)
    return queued.filter(account_id__in=shut) if full else queued.exclude(account_id__in=shut)


def _queued() -> QuerySet[Submission]:
    """What waits, the most urgent first."""
    return Submission.objects.filter(status=Submission.Status.QUEUED).order_by("lane", "accepted_at")


def _waiting_characters(limit: int) -> int:
    """Of all that waits, as far as it matters against `limit`: a long queue is not read through."""
    head = list(_queued().values_list("characters", flat=True)[:COUNTED_ROWS])
    return limit if len(head) == COUNTED_ROWS else sum(head)


def _for_tier(rows: list[Submission], tier: str) -> list[Submission]:
    """The rows with the model that this tier scores with; without those whose language or cap it cannot judge."""
    rows = _without_pinned_elsewhere(rows, tier)
    found = registry.stand_in(tier)
    if found is None:
        return rows
    version, other = found
    mine = [
        row for row in rows if row.pinned or row.model_version_id != version or verdicts.can_judge(other.manifest, row)
    ]
    for row in mine:
        if row.model_version_id == version and not row.pinned:
            row.model_version = other
    return mine


def _without_pinned_elsewhere(rows: list[Submission], tier: str) -> list[Submission]:
    """Whoever named a model version gets it or nothing: without the rows whose version this tier doesn't have."""
    pinned = {row.model_version_id for row in rows if row.pinned}
    if not pinned:
        return rows
    here = pinning.scored_by(tier, pinned)
    return [row for row in rows if not row.pinned or row.model_version_id in here]


def request_for(run: GpuRun, submissions: list[Submission]) -> ScoreRequest:
    """What the backend gets: the prose only, under our ids."""
    texts = tuple(TextIn(str(s.pk), prose.read(s.text).text, s.language) for s in submissions)
    return ScoreRequest(str(run.pk), 1, run.model_version_id, texts)


def sweep(*, now: datetime) -> None:
    """Repairs what killed processes left: dead runs, finished runs nobody collected, texts past their deadline;
    wakes a worker if anything waits. Running it twice, or beside itself, changes nothing more."""
    for run in runs.expired(now):
        if runs.fail(run, "lease_expired", now=now):
            log.warning("run %s: its process is gone", run.pk)
    for run in _uncollected_runs():
        collect.collect(run, now=now)
    for run in runs.unattended(now):
        wakeups.look_after(run.pk, seconds=0)
    _end_overdue(now)
    batches.repair(now=now)
    _wake_if_waiting()


def _wake_if_waiting() -> None:
    if Submission.objects.filter(status=Submission.Status.QUEUED).exists():
        wakeups.queue_has_work()


def _uncollected_runs() -> list[GpuRun]:
    """Ended runs whose texts still wait for what they brought."""
    ended = (GpuRun.Status.SUCCEEDED, GpuRun.Status.FAILED)
    waiting = Submission.objects.filter(status=Submission.Status.SCORING, run__status__in=ended)
    return list(GpuRun.objects.filter(pk__in=waiting.values("run_id"))[:SWEEP_ROWS])


def _end_overdue(now: datetime) -> None:
    pending = (Submission.Status.QUEUED, Submission.Status.SCORING)
    overdue = Submission.objects.filter(status__in=pending, deadline_at__lt=now).select_related("reservation")
    for submission in overdue.order_by("deadline_at")[:SWEEP_ROWS]:
        collect.give_up(submission, "deadline", now=now)
