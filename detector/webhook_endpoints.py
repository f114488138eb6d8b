"""Endpoints of an account: made, changed, given a new secret, switched off; and messages sent by hand.

Every look-up starts from the account, so a stranger finds nothing. Addresses are looked at here and again at each
delivery.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from billing.models import Account
from detector import webhook_addresses, webhook_secrets, webhooks
from detector.models import Submission
from detector.models.webhook import TEST_EVENT, WebhookDelivery, WebhookEndpoint
from detector.webhook_addresses import Resolver
from inkcloak.errors import Invalid
from inkcloak.lifecycle import advance

MAX_ENDPOINTS = 10  # an account
OVERLAP_HOURS = 24  # that an old secret signs beside the new one, unless the owner says otherwise
DISABLED = "endpoint_disabled"


@dataclass(frozen=True, slots=True)
class Secret:
    """An endpoint and its new secret, to be shown this once."""

    endpoint: WebhookEndpoint
    secret: str


def of(account: Account) -> "QuerySet[WebhookEndpoint]":
    return WebhookEndpoint.objects.filter(account=account)


def deliveries_of(endpoint: WebhookEndpoint) -> "QuerySet[WebhookDelivery]":
    return endpoint.deliveries.select_related("event")


def create(
    account: Account,
    *,
    url: str,
    events: Sequence[str],
    description: str = "",
    now: datetime,
    ask: Resolver | None = None,
) -> Secret:
    """Raises Invalid for an address that we don't send to, and when the account has MAX_ENDPOINTS."""
    webhook_addresses.check(url, ask=ask)
    secret = webhook_secrets.new()
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)  # two at once count one after the other
        if of(account).count() >= MAX_ENDPOINTS:
            message = _("An account can have %(limit)d webhooks. Delete one that is no longer needed.")
            raise Invalid("too_many_webhooks", message % {"limit": MAX_ENDPOINTS})
        endpoint = WebhookEndpoint.objects.create(
            account=account,
            url=url,
            events=_in_order(events),
            description=description,
            sealed_secret=webhook_secrets.seal(secret),
            created_at=now,
        )
    return Secret(endpoint, secret)


def update(
    endpoint: WebhookEndpoint,
    *,
    now: datetime,
    url: str | None = None,
    events: Sequence[str] | None = None,
    description: str | None = None,
    disabled: bool | None = None,
    ask: Resolver | None = None,
) -> None:
    """Changes what is given. Raises Invalid for an address that we don't send to; nothing is changed then."""
    changes: dict[str, object] = {}
    if url is not None and url != endpoint.url:
        webhook_addresses.check(url, ask=ask)
        changes["url"] = url
    if events is not None:
        changes["events"] = _in_order(events)
    if description is not None:
        changes["description"] = description
    with transaction.atomic():
        if changes:
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**changes)
        if disabled is True:
            disable(endpoint, WebhookEndpoint.Reason.BY_OWNER, now=now)
        elif disabled is False:
            _enable(endpoint, now=now)
    endpoint.refresh_from_db()


@transaction.atomic
def disable(endpoint: WebhookEndpoint, reason: str, *, now: datetime) -> bool:
    """Nothing is sent there any more, nor kept for it. False if it was disabled before, deleted, or moved elsewhere."""
    mine = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=True)
    if reason != WebhookEndpoint.Reason.BY_OWNER:
        mine = mine.filter(url=endpoint.url)  # what an old address said does not hold for the new one
    if not mine.update(disabled_at=now, disabled_reason=reason):
        return False
    _give_up_waiting(endpoint, now=now)
    return True


@transaction.atomic
def rotate(endpoint: WebhookEndpoint, *, now: datetime, overlap_hours: int = OVERLAP_HOURS) -> Secret:
    """A new secret; the old one signs too for `overlap_hours`, so that receivers can be moved over one by one."""
    secret = webhook_secrets.new()
    locked = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    locked.previous_sealed_secret = locked.sealed_secret if overlap_hours else ""
    locked.previous_valid_until = now + timedelta(hours=overlap_hours) if overlap_hours else None
    locked.sealed_secret = webhook_secrets.seal(secret)
    locked.save(update_fields=["sealed_secret", "previous_sealed_secret", "previous_valid_until"])
    return Secret(locked, secret)


@transaction.atomic
def delete(endpoint: WebhookEndpoint) -> None:
    """With its log. Locked first: what is written for it at this moment is there before, or not at all."""
    for locked in WebhookEndpoint.objects.select_for_update().filter(pk=endpoint.pk):
        locked.delete()


@transaction.atomic
def send_test(endpoint: WebhookEndpoint, *, now: datetime) -> WebhookDelivery:
    """Raises Invalid for a disabled endpoint."""
    _check_enabled(endpoint)
    return webhooks.send_to(endpoint, TEST_EVENT, {"webhook": str(endpoint.pk)}, now=now)


@transaction.atomic
def resend(delivery: WebhookDelivery, *, now: datetime) -> WebhookDelivery:
    """The same event under the same id, as a delivery of its own.

    Raises Invalid for a disabled endpoint, WebhookDelivery.DoesNotExist if what it tells of is being deleted.
    """
    _check_enabled(delivery.endpoint)
    if delivery.event.submission_id is not None:
        # Whoever deletes a submission locks it first: its event stays until we are done, or is gone.
        list(Submission.objects.select_for_update(of=("self",)).filter(pk=delivery.event.submission_id).only("pk"))
    known = WebhookDelivery.objects.select_related("event", "endpoint").get(pk=delivery.pk)
    return webhooks.send_event(known.endpoint, known.event, now=now, resend_of=known)


def secrets_in_force(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    """The newest first. Raises webhook_secrets.Unreadable."""
    sealed = [endpoint.sealed_secret]
    if endpoint.previous_valid_until is not None and now < endpoint.previous_valid_until:
        sealed.append(endpoint.previous_sealed_secret)
    return [webhook_secrets.unseal(one) for one in sealed]


def _enable(endpoint: WebhookEndpoint, *, now: datetime) -> None:
    """What was written at the moment it was disabled is old by now."""
    mine = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False)
    if mine.update(disabled_at=None, disabled_reason=WebhookEndpoint.Reason.NONE):
        _give_up_waiting(endpoint, now=now)


def _give_up_waiting(endpoint: WebhookEndpoint, *, now: datetime) -> None:
    advance(
        WebhookDelivery.objects.filter(endpoint=endpoint),
        WebhookDelivery.Status.GIVEN_UP,
        next_attempt_at=None,
        finished_at=now,
        last_error=DISABLED,
    )


def _check_enabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.disabled_at is not None:
        message = _("This webhook is disabled: enable it first (PATCH with disabled: false).")
        raise Invalid("webhook_disabled", message)


def _in_order(events: Sequence[str]) -> list[str]:
    return sorted(set(events))


def get(account: Account, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    """Raises WebhookEndpoint.DoesNotExist for everything that is not the account's, alike."""
    return of(account).get(pk=endpoint_id)
