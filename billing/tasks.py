"""Doors for Celery."""

import logging
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from billing.models import IdempotentCall
from billing.models.idempotency import KEPT_HOURS

log = logging.getLogger(__name__)


@shared_task
def forget() -> None:
    """Deletes stored answers whose time is over. Twice is harmless: what is gone is gone."""
    old = IdempotentCall.objects.filter(created_at__lt=timezone.now() - timedelta(hours=KEPT_HOURS))
    deleted, _each = old.delete()
    if deleted:
        log.info("forgot %d stored answers", deleted)
