"""Due deliveries -> receivers. The rows are the queue: claimed for a time, sent without a transaction, written down.

A process that dies in between leaves its claim to expire; the message goes out again, under the same id. So each one
arrives at least once, and receivers tell doubles by `webhook-id`.
"""

import json
import logging
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from detector import webhook_endpoints, webhook_notices, webhook_secrets
from detector.models.webhook import WebhookDelivery, WebhookEndpoint
from detector.webhook_sending import DIRECT, Message, Outcome, Wire, send_all
from inkcloak.client.webhooks import sign
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

# After the first failure, the second, …; nine attempts in 45 hours, then it is given up.
BACK_OFF_SECONDS = (5, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600, 24 * 3600)
MAX_ATTEMPTS = len(BACK_OFF_SECONDS) + 1
JITTER = 0.2  # of a pause, added at random: what failed together need not come again together
LEASE_SECONDS = 60  # well over what an attempt may take
CLAIM_ROWS = 20  # sent at the same time
ROWS_PER_ENDPOINT = 5  # of those: a slow receiver with a thousand messages leaves room for the others
SECRET_UNREADABLE = "secret_unreadable"  # noqa: S105


def deliver_due(
    *, clock: Callable[[], datetime], wire: Wire = DIRECT, chance: Callable[[], float] = random.random
) -> bool:
    """Sends what is due, at most CLAIM_ROWS, and writes down what came of it. True if more may be due."""
    claimed = claim(clock())
    if not claimed:
        return False
    outcomes = _attempt(claimed, clock(), wire)
    for delivery, outcome in zip(claimed, outcomes, strict=True):
        record(delivery, outcome, now=clock(), chance=chance)
    return _due(clock()).exists()


@transaction.atomic
def claim(now: datetime) -> list[WebhookDelivery]:
    """Takes deliveries for LEASE_SECONDS: nobody else sees them as due meanwhile."""
    place = Window(RowNumber(), partition_by=F("endpoint_id"), order_by=[F("next_attempt_at").asc(), F("pk").asc()])
    ranked = _due(now).annotate(place=place).filter(place__lte=ROWS_PER_ENDPOINT).order_by("place", "next_attempt_at")
    ids = list(ranked.values_list("pk", flat=True)[:CLAIM_ROWS])
    if not ids:
        return []
    rows = _due(now).filter(pk__in=ids).select_related("endpoint", "event")
    claimed = list(rows.select_for_update(skip_locked=True, of=("self",)).order_by("next_attempt_at", "pk"))
    lease = now + timedelta(seconds=LEASE_SECONDS)
    WebhookDelivery.objects.filter(pk__in=[delivery.pk for delivery in claimed]).update(
        attempts=F("attempts") + 1, next_attempt_at=lease, last_attempt_at=now
    )
    for delivery in claimed:
        delivery.attempts += 1
    return claimed


def record(delivery: WebhookDelivery, outcome: Outcome, *, now: datetime, chance: Callable[[], float]) -> None:
    """Writes down what came of an attempt, unless another one has begun since: then that one's word counts."""
    mine = WebhookDelivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts)
    said = {"last_status_code": outcome.status_code, "last_error": outcome.error}
    ended = {**said, "next_attempt_at": None, "finished_at": now}
    if not outcome.error:
        advance(mine, WebhookDelivery.Status.DELIVERED, **ended)
        return
    log.info("webhook delivery %s: attempt %d: %s", delivery.pk, delivery.attempts, outcome.error)
    if outcome.error == "gone":
        advance(mine, WebhookDelivery.Status.GIVEN_UP, **ended)
        _disable(delivery, WebhookEndpoint.Reason.GONE, now)
    elif delivery.attempts >= MAX_ATTEMPTS:
        if advance(mine, WebhookDelivery.Status.GIVEN_UP, **ended) and not _anything_arrived(delivery):
            _disable(delivery, WebhookEndpoint.Reason.FAILING, now)
    else:
        wait = pause(delivery.attempts, outcome.wait_seconds, chance())
        advance(mine, WebhookDelivery.Status.FAILED, **said, next_attempt_at=now + wait)


def pause(attempts: int, wish_seconds: int, chance: float) -> timedelta:
    """Until the next attempt, after `attempts` of them. chance: 0 to 1.

    wish_seconds: what the receiver asked for; it makes a pause longer, never shorter.
    """
    seconds = max(BACK_OFF_SECONDS[attempts - 1], wish_seconds)
    return timedelta(seconds=seconds * (1 + JITTER * chance))


def _due(now: datetime) -> "QuerySet[WebhookDelivery]":
    return WebhookDelivery.objects.filter(
        status__in=WebhookDelivery.WAITING, next_attempt_at__lte=now, endpoint__disabled_at__isnull=True
    )


def _attempt(claimed: list[WebhookDelivery], now: datetime, wire: Wire) -> list[Outcome]:
    messages = [_message(delivery, now) for delivery in claimed]
    sent = iter(send_all([message for message in messages if message is not None], wire))
    return [Outcome(error=SECRET_UNREADABLE) if message is None else next(sent) for message in messages]


def _message(delivery: WebhookDelivery, now: datetime) -> Message | None:
    """Signed as of now; None if the secret cannot be read."""
    try:
        secrets = webhook_endpoints.secrets_in_force(delivery.endpoint, now)
    except webhook_secrets.Unreadable:
        log.error("webhook endpoint %s: its secret was sealed under another SECRET_KEY", delivery.endpoint_id)
        return None
    body = json.dumps(delivery.event.payload, separators=(",", ":")).encode()
    headers = sign(secrets, delivery.event.message_id, int(now.timestamp()), body)
    return Message(delivery.endpoint.url, headers, body)


def _disable(delivery: WebhookDelivery, reason: str, now: datetime) -> None:
    if webhook_endpoints.disable(delivery.endpoint, reason, now=now):
        log.warning("webhook endpoint %s is disabled: %s", delivery.endpoint_id, reason)
        transaction.on_commit(partial(webhook_notices.ask, delivery.endpoint_id))


def _anything_arrived(delivery: WebhookDelivery) -> bool:
    """At this endpoint, since the delivery was first tried."""
    arrived = WebhookDelivery.objects.filter(endpoint=delivery.endpoint, status=WebhookDelivery.Status.DELIVERED)
    return arrived.filter(finished_at__gte=delivery.created_at).exists()
