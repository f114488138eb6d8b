"""Celery's doors: one verb each, and why twice is harmless."""

import logging

from celery import shared_task
from django.utils import timezone

from gpujobs import budget_watch, budgets, costing, reconciling, routing, standing
from gpujobs.alerts import sending, watching
from gpujobs.providers.runpod_rest import RunpodError, RunpodRest

log = logging.getLogger(__name__)


@shared_task
def watch_budgets() -> None:
    """Lets expired reservations go, tells of limits, sets min workers. Twice is harmless: a reservation ends once, a
    notice is unique, and a floor that is as wanted stays."""
    now = timezone.now()
    budgets.expire(now)
    budget_watch.notice(now)
    budget_watch.keep_floor(now)


@shared_task
def cost() -> None:
    """Posts what ended runs and workers that are always on have cost. Twice is harmless: a machine's meter is locked
    meanwhile, and a line is posted once."""
    now = timezone.now()
    costing.cost_ended_runs(now)
    try:
        standing.cost_standing(now)
    except costing.Unpriced as unknown:
        log.error("workers that are always on are not costed: %s", unknown)


@shared_task
def reconcile() -> None:
    """Brings the ledger to the provider's bill. Twice is harmless: a day changes only by a difference that is there."""
    if not routing.configured():
        return
    rest = RunpodRest.from_settings()
    try:
        days = reconciling.reconcile(timezone.now(), rest)
    except RunpodError as error:
        log.error("not reconciled: %s", error)
    else:
        log.info("reconciled: %d days changed", len(days))
    finally:
        rest.close()
    costing.forget_meters(timezone.now())


@shared_task
def alert() -> None:
    """Looks at the hours that are over, and sends what is due. Twice is harmless: each hour is looked at once, behind
    a lock, and each delivery is claimed by one worker."""
    try:
        watching.tick(timezone.now())
    finally:
        sending.deliver_due(clock=timezone.now)
