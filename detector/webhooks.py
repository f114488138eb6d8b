"""What accounts hear of: events are written in the transaction of what happened, sent by detector.webhook_delivery.

Rows first, then a wake-up: what is committed is told, however many processes die, and what is rolled back is not. An
account without an endpoint for an event costs one query and no row. Call these last in a transaction, after
submissions, reservations and meters are locked.
"""

import logging
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import redis
from django.db import connection, transaction
from django.db.models import QuerySet
from kombu.exceptions import OperationalError

from billing import quota
from billing.accounts import Owner, allowance_of
from billing.models import Account
from detector import presenting
from detector.models import Batch, Submission
from detector.models.webhook import EventType, WebhookDelivery, WebhookEndpoint, WebhookEvent
from inkcloak.celery import app

log = logging.getLogger(__name__)

TASK = "detector.tasks.deliver_webhooks"
WARNING_PERCENTS = (80, 95)  # of the month's words, used or held
EVENT_DAYS = 30  # that events and the log of their deliveries are kept
FORGET_ROWS = 1_000  # a transaction

TYPE_OF_STATUS: dict[str, str] = {
    Submission.Status.DONE: EventType.DETECTION_COMPLETED,
    Submission.Status.FAILED: EventType.DETECTION_FAILED,
}
# Neither the text nor what is long: whoever needs more asks for the detection by its id.
NOT_READ = (
    "text",
    "model_version__manifest",
    "verdict__segments",
    "verdict__cleaned",
    "verdict__left_out",
    "verdict__rate_card",
)


def detections_finished(ids: Collection[uuid.UUID], *, now: datetime) -> None:
    """Tells of submissions that are done or failed. Call it in the transaction that ended them."""
    owners = Submission.objects.filter(pk__in=ids, account__isnull=False).values("account")
    endpoints = list(_listening(*TYPE_OF_STATUS.values()).filter(account__in=owners))
    if not endpoints:
        return
    rows = Submission.objects.filter(pk__in=ids, account__in={endpoint.account_id for endpoint in endpoints})
    finished = rows.filter(status__in=TYPE_OF_STATUS).order_by("accepted_at", "pk")
    details = finished.select_related("verdict", "model_version", "reservation").defer(*NOT_READ)
    _emit(
        [
            _event(row.account_id, TYPE_OF_STATUS[row.status], presenting.summary(row), now=now, submission=row)
            for row in details
            if row.account_id is not None  # always, by the query
        ],
        endpoints,
        now=now,
    )


def accepted(account: Account | None, taken: Collection[Submission], *, now: datetime) -> None:
    """Tells what is known already when texts are taken: those that have their verdict, and words that run short.

    Call it in the transaction that took them. account: None for a visitor, who has no endpoints.
    """
    if account is None:
        return
    if finished := [submission.pk for submission in taken if submission.is_finished]:
        detections_finished(finished, now=now)
    if words := sum(submission.reservation.amount for submission in taken if submission.reservation is not None):
        words_reserved(account, words, now=now)


def batches_finished(ids: Collection[uuid.UUID], *, now: datetime) -> None:
    """Tells of batches of which nothing is in flight any more. Call it in the transaction that ended them."""
    owners = Batch.objects.filter(pk__in=ids).values("account")
    endpoints = list(_listening(EventType.BATCH_COMPLETED).filter(account__in=owners))
    if not endpoints:
        return
    batches = Batch.objects.filter(pk__in=ids, finished_at__isnull=False)
    _emit(
        [_event(batch.account_id, EventType.BATCH_COMPLETED, _batch(batch), now=now) for batch in batches],
        endpoints,
        now=now,
    )


def words_reserved(account: Account, amount: int, *, now: datetime) -> None:
    """Warns once a month at each of WARNING_PERCENTS. Call it in the transaction that reserved `amount` words."""
    endpoints = list(_listening(EventType.QUOTA_WARNING).filter(account=account))
    if not endpoints:
        return
    allowance = allowance_of(Owner(account=account), now)
    balance = quota.balance(allowance)
    taken = balance.limit - balance.left
    passed = [
        percent for percent in WARNING_PERCENTS if (taken - amount) * 100 < percent * balance.limit <= taken * 100
    ]
    if not passed:
        return
    data = {
        "percent": passed[-1],
        "unit": balance.unit,
        "limit": balance.limit,
        "left": balance.left,
        "resets_at": balance.resets_at,
    }
    event = _event(account.pk, EventType.QUOTA_WARNING, data, now=now)
    # Words given back and reserved again pass the same mark again; that is no news.
    event.once = f"quota.warning:{account.pk}:{allowance.period_start:%Y-%m}:{passed[-1]}"
    _emit([event], endpoints, now=now)


def forget_old(*, now: datetime) -> int:
    """Deletes events past EVENT_DAYS with their deliveries. Returns how many."""
    forgotten = 0
    old = WebhookEvent.objects.filter(created_at__lt=now - timedelta(days=EVENT_DAYS)).order_by("created_at")
    while ids := list(old.values_list("pk", flat=True)[:FORGET_ROWS]):
        WebhookEvent.objects.filter(pk__in=ids).delete()
        forgotten += len(ids)
    return forgotten


def wake() -> None:
    """Tells a worker that something is due. While the broker is away the rows wait for the next tick."""
    try:
        app.send_task(TASK)
    except (OperationalError, redis.RedisError) as error:
        log.warning("no wake-up sent: %s", type(error).__name__)


def send_to(endpoint: WebhookEndpoint, type_: str, data: Mapping[str, Any], *, now: datetime) -> WebhookDelivery:
    """An event for one endpoint alone, whatever it subscribes to."""
    event = _event(endpoint.account_id, type_, data, now=now)
    event.save()
    return send_event(endpoint, event, now=now)


def send_event(
    endpoint: WebhookEndpoint, event: WebhookEvent, *, now: datetime, resend_of: WebhookDelivery | None = None
) -> WebhookDelivery:
    """One more delivery of an event that is stored."""
    delivery = _delivery(endpoint, event, now)
    delivery.resend_of = resend_of
    delivery.save()
    transaction.on_commit(wake)
    return delivery


def _listening(*types: str) -> "QuerySet[WebhookEndpoint]":
    return WebhookEndpoint.objects.filter(disabled_at__isnull=True, events__overlap=list(types))


def _event(
    account_id: uuid.UUID,
    type_: str,
    data: Mapping[str, Any],
    *,
    now: datetime,
    submission: Submission | None = None,
) -> WebhookEvent:
    payload = {"type": str(type_), "timestamp": now, "data": dict(data)}
    return WebhookEvent(account_id=account_id, submission=submission, type=type_, payload=payload, created_at=now)


def _delivery(endpoint: WebhookEndpoint, event: WebhookEvent, now: datetime) -> WebhookDelivery:
    return WebhookDelivery(endpoint=endpoint, event=event, next_attempt_at=now, created_at=now)


def _emit(events: Sequence[WebhookEvent], endpoints: Sequence[WebhookEndpoint], *, now: datetime) -> None:
    held = _hold([endpoint.pk for endpoint in endpoints])
    pairs = [
        (endpoint, event)
        for event in events
        for endpoint in endpoints
        if endpoint.pk in held and endpoint.account_id == event.account_id and event.type in endpoint.events
    ]
    wanted = {event.pk: event for _endpoint, event in pairs}
    WebhookEvent.objects.bulk_create(wanted.values(), ignore_conflicts=True)
    stored = set(wanted)
    if any(event.once for event in wanted.values()):
        stored = set(WebhookEvent.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    made = [_delivery(endpoint, event, now) for endpoint, event in pairs if event.pk in stored]
    WebhookDelivery.objects.bulk_create(made)
    if made:
        transaction.on_commit(wake)


def _hold(ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Those endpoints that are still there, and stay until the transaction ends: one deleted at this moment would make
    the verdict itself fail, at commit. KEY SHARE, which Django cannot say: nobody but who deletes waits for it."""
    table = WebhookEndpoint._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {table} WHERE id = ANY(%s) FOR KEY SHARE", [list(ids)])  # noqa: S608
        return {row[0] for row in cursor.fetchall()}


def _batch(batch: Batch) -> dict[str, Any]:
    return {
        "id": str(batch.pk),
        "object": "batch",
        "texts": batch.texts,
        "refused": batch.refused,
        "done": batch.done,
        "failed": batch.failed,
        "created_at": batch.created_at,
        "finished_at": batch.finished_at,
    }
