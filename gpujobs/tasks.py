"""Celery's doors: one verb each, and why twice is harmless."""

from celery import shared_task
from django.utils import timezone

from gpujobs import budget_watch, budgets


@shared_task
def watch_budgets() -> None:
    """Lets expired reservations go, tells of limits, sets min workers. Twice is harmless: a reservation ends once, a
    notice is unique, and a floor that is as wanted stays."""
    now = timezone.now()
    budgets.expire(now)
    budget_watch.notice(now)
    budget_watch.keep_floor(now)
