"""What Stripe tells us, from the signature to the effect.

receive(…)    verify, keep, wake a worker: answers within milliseconds, whatever becomes of it
process(…)    effects and "done" in one transaction; a failure leaves the row to be tried again, later and later
process_due, catch_up    what was not woken for, and what never came: Stripe is asked for its list of events
replay(…)     a person wants it done again
"""

import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import redis
from django.db import transaction
from django.db.models import Max
from kombu.exceptions import OperationalError

from billing import catalogue, effects, stripe_client
from billing.models import StripeEvent
from billing.stripe_client import StripeError
from billing.stripe_shapes import Event
from inkcloak.celery import app

log = logging.getLogger(__name__)

TASK = "billing.tasks.process_stripe_event"
WAKE_SECONDS = 60  # a row is the sweep's after that
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 30, 6 * 3600
MOST_ATTEMPTS = 30  # about a week
DUE_ROWS = 500  # of one sweep
LOOK_BACK_HOURS = 48  # how far the list of events is read, before the newest one that is known
WHOLE_LIST_HOURS = 29 * 24  # likewise each night: one event that came by may hide days without any; Stripe keeps 30
WRONG_MODE = "wrong mode"
# Of people and their cards: no effect needs it, so it isn't kept.
PERSONAL = {
    *("email", "name", "phone", "address", "individual_name", "business_name", "collected_information", "evidence"),
    *("customer_email", "customer_name", "customer_phone", "customer_address", "customer_details", "customer_tax_ids"),
    *("customer_shipping", "shipping", "shipping_details", "billing_details", "receipt_email", "tax_ids"),
    *("payment_method_details", "card", "source", "client_secret"),
    "value",  # a tax id's own number
}


def receive(body: bytes, header: str, *, now: datetime) -> StripeEvent | None:
    """The new row; None for one that was here before. Raises BadWebhook."""
    return keep(stripe_client.verified(body, header), source=StripeEvent.Source.WEBHOOK, now=now)


def keep(event: Event, *, source: str, now: datetime) -> StripeEvent | None:
    """Stored before anything is done about it. What the other mode says is kept too, and changes nothing."""
    ours = event.livemode == stripe_client.livemode()
    row, made = StripeEvent.objects.get_or_create(
        event_id=event.id,
        livemode=event.livemode,
        defaults={
            "type": event.type[:100],
            "api_version": event.api_version[:50],
            "object_id": event.object_id[:255],
            "payload": without_people(event.payload),
            "source": source,
            "created_at": event.created_at,
            "received_at": now,
            "done_at": None if ours else now,
            "outcome": "" if ours else WRONG_MODE,
            "next_try_at": now + timedelta(seconds=WAKE_SECONDS) if ours else None,
        },
    )
    if not made:
        return None
    if ours:
        transaction.on_commit(lambda: wake(row.pk))
    return row


def without_people(value: Any) -> Any:
    """The same JSON, with what is about a person left out."""
    if isinstance(value, Mapping):
        return {name: without_people(each) for name, each in value.items() if name not in PERSONAL}
    return [without_people(each) for each in value] if isinstance(value, list) else value


def wake(event_pk: uuid.UUID) -> None:
    """A lost message costs a minute: the sweep finds the row."""
    try:
        app.send_task(TASK, [str(event_pk)])
    except (OperationalError, redis.RedisError, OSError) as error:
        log.warning("no wake-up for a Stripe event: %s", type(error).__name__)


def process(event_pk: uuid.UUID, *, now: datetime) -> bool:
    """Whether it is done now. Twice is harmless, and two workers at once do it once."""
    try:
        with transaction.atomic():
            rows = StripeEvent.objects.select_for_update(skip_locked=True)
            row = rows.filter(pk=event_pk, done_at=None).first()
            if row is None:
                return False
            outcome = effects.apply(row, now=now)
            StripeEvent.objects.filter(pk=row.pk).update(
                done_at=now, outcome=outcome, attempts=row.attempts + 1, next_try_at=None, error_code=""
            )
            return True
    except StripeError as error:
        failed(event_pk, error.code, now=now)
        return False


def failed(event_pk: uuid.UUID, code: str, *, now: datetime) -> None:
    """Again after a pause that doubles; after a week only by hand."""
    row = StripeEvent.objects.filter(pk=event_pk, done_at=None).first()
    if row is None:
        return
    attempts = row.attempts + 1
    pause = min(FIRST_PAUSE_SECONDS * 2 ** min(attempts - 1, 20), LONGEST_PAUSE_SECONDS)
    again = None if attempts >= MOST_ATTEMPTS else now + timedelta(seconds=pause)
    StripeEvent.objects.filter(pk=row.pk, done_at=None).update(
        attempts=attempts, error_code=code[:60], next_try_at=again
    )
    log.warning("Stripe event %s (%s) is not done: %s", row.event_id, row.type, code)


def due(*, now: datetime) -> list[uuid.UUID]:
    """Rows whose wake-up was lost, or whose pause is over; the oldest first."""
    rows = StripeEvent.objects.filter(done_at=None, next_try_at__lte=now, livemode=stripe_client.livemode())
    return list(rows.order_by("next_try_at").values_list("pk", flat=True)[:DUE_ROWS])


def catch_up(*, now: datetime, hours: int = LOOK_BACK_HOURS) -> int:
    """Keeps each event of Stripe's list that a webhook should have brought; how many. Raises StripeError."""
    newest = StripeEvent.objects.filter(livemode=stripe_client.livemode()).aggregate(at=Max("created_at"))["at"]
    # By Stripe's own clock, which a test clock moves; the overlap is for what got lost between others.
    since = (newest or now) - timedelta(hours=hours)
    missed = 0
    for event in stripe_client.events(int(since.timestamp())):
        if event.type in catalogue.EVENTS:  # the list has those too that our endpoint isn't told of
            missed += keep(event, source=StripeEvent.Source.SWEEP, now=now) is not None
    if missed:
        log.warning("%d Stripe events came by no webhook", missed)
    return missed


def replay(row: StripeEvent, *, now: datetime) -> None:
    """Its effects anew, by what Stripe says now."""
    StripeEvent.objects.filter(pk=row.pk, livemode=stripe_client.livemode()).update(
        done_at=None, outcome="", error_code="", attempts=0, received_at=now, next_try_at=now
    )
    transaction.on_commit(lambda: wake(row.pk))
