"""Celery's doors: ids at most, one verb, never a text."""

from celery import shared_task
from django.utils import timezone

from detector import dispatch, retention


@shared_task
def dispatch_queued() -> None:
    """Scores until nothing waits. Twice is harmless: each batch is claimed by one worker."""
    while dispatch.next_batch(now=timezone.now()):
        pass


@shared_task
def sweep() -> None:
    """Repairs and wakes. Twice is harmless: every step is guarded by a status."""
    dispatch.sweep(now=timezone.now())


@shared_task
def forget() -> None:
    """Deletes texts whose time is over. Twice is harmless: what is gone is gone."""
    retention.forget_expired(now=timezone.now())
