"""Doors for Celery."""

import logging
import uuid
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from billing import stripe_client, subscriptions, webhooks
from billing.models import IdempotentCall
from billing.models.idempotency import KEPT_HOURS

log = logging.getLogger(__name__)

NIGHT_HOUR = 3  # UTC
CRASHED = "crashed"


@shared_task
def forget() -> None:
    """Deletes stored answers whose time is over. Twice is harmless: what is gone is gone."""
    old = IdempotentCall.objects.filter(created_at__lt=timezone.now() - timedelta(hours=KEPT_HOURS))
    deleted, _each = old.delete()
    if deleted:
        log.info("forgot %d stored answers", deleted)


@shared_task
def process_stripe_event(event_id: str) -> None:
    """Twice is harmless: an event is claimed under a lock, and what it does sets values that Stripe was asked for."""
    _process(uuid.UUID(event_id))


@shared_task
def sweep_stripe_events() -> None:
    """What nobody was woken for, or failed a while ago. Twice is harmless, as above."""
    if stripe_client.is_set_up():
        for event_id in webhooks.due(now=timezone.now()):
            _process(event_id)


def _process(event_id: uuid.UUID) -> None:
    try:
        webhooks.process(event_id, now=timezone.now())
    except Exception as error:  # noqa: BLE001 - a fault of ours in one event must not hold up the others
        log.error("Stripe event %s: %s", event_id, type(error).__name__)  # no message: it may quote a person
        webhooks.failed(event_id, CRASHED, now=timezone.now())


@shared_task
def catch_up_with_stripe() -> None:
    """Events that no webhook brought; each night also how all subscriptions stand. Twice is harmless: events are kept
    once, and subscriptions written as Stripe has them."""
    if not stripe_client.is_set_up():
        return
    now = timezone.now()
    at_night = now.hour == NIGHT_HOUR
    try:
        webhooks.catch_up(now=now, hours=webhooks.WHOLE_LIST_HOURS if at_night else webhooks.LOOK_BACK_HOURS)
        if at_night:
            subscriptions.sync_everybody(now=now)
    except stripe_client.StripeError as error:
        log.warning("not caught up with Stripe: %s", error.code)
