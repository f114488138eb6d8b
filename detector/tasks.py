"""Celery's doors: ids at most, one verb, never a text."""

import uuid
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.utils import timezone

from detector import (
    activity,
    dispatch,
    retention,
    sharing,
    webhook_delivery,
    webhook_notices,
    webhooks,
    weekly_mail,
)
from gpujobs import backends

SCORE_QUEUE = "score"
RUNPOD = "runpod"
MAIL_RETRY_SECONDS = 60  # doubled each time
MAIL_RETRIES = 6


@worker_ready.connect
def _warm_up(sender: Any, **_kwargs: Any) -> None:
    """A worker of the `score` queue loads the model when it starts; the others never load it."""
    if settings.WARM_UP and SCORE_QUEUE in sender.app.amqp.queues.consume_from:
        dispatch.warm_up()


@shared_task
def dispatch_queued() -> None:
    """Scores on this machine until nothing waits for it. Twice is harmless: each batch is claimed by one worker."""
    while dispatch.next_batch(now=timezone.now()):
        pass


@shared_task
def dispatch_gpu() -> None:
    """Hands batches to the rented GPU while the policy gives it any. Twice is harmless, as above."""
    backend = backends.get(RUNPOD)
    while dispatch.next_batch(now=timezone.now(), backend=backend):
        pass


@shared_task
def look_after(run_id: str) -> None:
    """Asks after one run. Twice is harmless: a look is claimed, and an ended run has none."""
    dispatch.look_after(uuid.UUID(run_id), now=timezone.now())


@shared_task
def deliver_webhooks() -> None:
    """Sends what is due, a handful, and asks for another turn while there is more: other work of the queue gets its
    turn too. Twice is harmless: each delivery is claimed by one worker."""
    if webhook_delivery.deliver_due(clock=timezone.now):
        webhooks.wake()


@shared_task(autoretry_for=(OSError,), retry_backoff=MAIL_RETRY_SECONDS, max_retries=MAIL_RETRIES)
def tell_webhook_disabled(endpoint_id: str) -> None:
    """Mails to the owners of an account. Twice is a mail too many at worst: it runs again where one was not taken."""
    webhook_notices.tell_owners(uuid.UUID(endpoint_id))


@shared_task
def sweep() -> None:
    """Repairs and wakes. Twice is harmless: every step is guarded by a status."""
    dispatch.sweep(now=timezone.now())


@shared_task
def forget() -> None:
    """Deletes texts, links, webhook events and old activity whose time is over. Twice is harmless: gone is gone."""
    retention.forget_expired(now=timezone.now())
    sharing.forget_expired(now=timezone.now())
    webhooks.forget_old(now=timezone.now())
    activity.forget(timezone.now())


@shared_task
def fold_activity() -> None:
    """Counts who was active. Twice is harmless: a line is folded by whoever deletes it."""
    activity.fold()


@shared_task
def weekly_report() -> None:
    """Mails the week's report to the staff, from Monday on. Twice is harmless: a row a week says that it went out."""
    weekly_mail.send(timezone.now())
